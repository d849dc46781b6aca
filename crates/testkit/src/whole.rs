//! Makes all decisions that are possible, like a run that is not stopped between two commits.

use longhaul_core::decide::{self, Advance, Planner};
use longhaul_core::event::Event;
use longhaul_core::state::{self, State};

/// What comes of some news, however many commits that takes.
pub(crate) fn advance(
    planner: Planner<'_>,
    state: &mut State,
    news: Vec<Event>,
    at: i64,
) -> Result<Advance, state::Error> {
    let mut whole = decide::advance(planner, state, news, at)?;
    while std::mem::take(&mut whole.is_cut) {
        let more = decide::advance(planner, state, Vec::new(), at)?;
        whole.events.extend(more.events);
        whole.starts.extend(more.starts);
        whole.stops.extend(more.stops);
        whole.is_cut = more.is_cut;
    }
    whole.starts.retain(|start| {
        let is_open = |step: &longhaul_core::state::StepInst| step.is_making(start.attempt);
        !state.is_finished() && state.find(&start.path).is_some_and(is_open)
    });
    Ok(whole)
}
