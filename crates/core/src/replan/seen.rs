//! What steps were given when they made their results, from the history of a run.

use indexmap::IndexMap;

use crate::decide::{Planner, given_at};
use crate::event::{Event, QuestionKind};
use crate::path::StepPath;
use crate::state::State;

/// What steps were given: a hash by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(pub(super) IndexMap<String, String>);

impl Seen {
    /// Looks at an event that is about to be applied to a state.
    pub fn look(&mut self, planner: Planner<'_>, state: &State, event: &Event) {
        if let Some(path) = begun(event)
            && let Some(given) = given_at(planner, state, path)
        {
            self.0.insert(path.to_string(), given);
        }
    }
}

/// The step that begins with an event, or keeps its result.
fn begun(event: &Event) -> Option<&StepPath> {
    match event {
        Event::AttemptStarted { path, .. } | Event::WaitStarted { path, .. } | Event::ResultKept { path, .. } => {
            Some(path)
        }
        Event::QuestionAsked { path, kind: QuestionKind::Approval | QuestionKind::Question, .. } => Some(path),
        _ => None,
    }
}
