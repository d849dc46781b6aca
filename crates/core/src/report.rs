//! What a worker reports that may not write history itself, and whether it is recorded.
//!
//! **Invariant:** a report is about the attempt that its worker holds, and says nothing that only people, or the plan, can say. What
//! is accepted can be applied, and a result is what its step promises.

use crate::event::{Carried, Event, Failure};
use crate::path::StepPath;
use crate::plan::{ErrorClass, Plan};
use crate::schema::mismatch;
use crate::state::{Phase, State};

/// The event that is recorded because of a report on the attempt with this key, or why none is.
pub fn accept(plan: &Plan, state: &State, key: &str, event: Event) -> Result<Event, String> {
    let (path, attempt) = about(&event).ok_or_else(|| "a worker with a login cannot say that".to_owned())?;
    if format!("{path}@{attempt}") != key {
        return Err(format!("it is about `{path}@{attempt}`, and its worker holds `{key}`"));
    }
    let phase = state.find(path).filter(|step| step.attempts == attempt).map(|step| &step.phase);
    let waits = matches!(event, Event::AttemptClaimed { .. } | Event::AttemptReleased { .. });
    let fits = match phase {
        Some(Phase::Queued) => waits && !state.cancelling,
        Some(Phase::Attempt) => !waits,
        _ => false,
    };
    if state.is_finished() || !fits {
        return Err(format!("`{key}` is not open any more"));
    }
    Ok(as_promised(plan, state, plain(event)?))
}

/// A result that is not what its step promises is none, whoever has looked at it before.
fn as_promised(plan: &Plan, state: &State, event: Event) -> Event {
    let Event::AttemptSucceeded { path, attempt, result } = event else { return event };
    let schema = state.find(&path).and_then(|step| plan.step(step.step).output.schema.as_ref());
    match schema.and_then(|schema| mismatch(schema, &result.output)) {
        None => Event::AttemptSucceeded { path, attempt, result },
        Some(why) => {
            let error = Failure::new(ErrorClass::Invalid, format!("the answer does not follow its schema: {why}"));
            Event::AttemptFailed { path, attempt, error, result }
        }
    }
}

/// The attempt that an event is about, if it is one that whoever makes the attempt can tell of.
fn about(event: &Event) -> Option<(&StepPath, u32)> {
    match event {
        Event::AttemptClaimed { path, attempt, .. }
        | Event::AttemptReleased { path, attempt }
        | Event::AttemptAdopted { path, attempt }
        | Event::AttemptDelayed { path, attempt, .. }
        | Event::SessionSeen { path, attempt, .. }
        | Event::FilesKept { path, attempt, .. }
        | Event::FilesRestored { path, attempt, .. }
        | Event::FilesRebuilt { path, attempt, .. }
        | Event::CarryFailed { path, attempt, .. }
        | Event::AttemptSucceeded { path, attempt, .. }
        | Event::AttemptFailed { path, attempt, .. }
        | Event::AttemptStopped { path, attempt, .. } => Some((path, *attempt)),
        _ => None,
    }
}

/// The event without what would mean something else than it says.
fn plain(mut event: Event) -> Result<Event, String> {
    let odd = |what: &str| Err(format!("{what} could be taken for something else"));
    match &mut event {
        // Only what was handed out to a client is submitted by somebody.
        Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } => {
            result.by = None;
            if result.carried.as_ref().is_some_and(|carried| !is_reference(carried)) {
                return odd("the reference of its files");
            }
        }
        Event::SessionSeen { session, .. } if !is_word(&session.id) => return odd("the name of its conversation"),
        _ => {}
    }
    Ok(event)
}

/// Whether others can fetch it and get nothing else.
fn is_reference(carried: &Carried) -> bool {
    let is_commit = carried.commit.len() >= 40 && carried.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_name = carried.name.starts_with("refs/longhaul/") && is_word(&carried.name);
    is_commit && is_name && !carried.name.contains(':') && !carried.name.contains("..")
}

/// Whether a text can stand on a command line of whoever continues with it.
fn is_word(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@".contains(&byte);
    text.bytes().all(good) && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}
