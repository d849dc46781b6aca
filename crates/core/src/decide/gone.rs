//! What follows when nothing is heard of the machine that has the files of a run.
//!
//! **Invariant:** nothing is done elsewhere unless a person says so, or the settings do and there is a record of all the files.
//! One question is open at a time, however many steps wait for the machine.

use super::Decision;
use crate::event::{Event, Gone, QuestionKind};
use crate::explain::moment;
use crate::state::{Missed, State, StepInst};

/// To wait for longer.
pub(crate) const WAIT: &str = "wait";
/// To continue elsewhere without the files.
const LEAVE: &str = "leave";
/// To continue elsewhere with the files as they were last recorded.
const REBUILD: &str = "rebuild";
/// To stop.
const CANCEL: &str = "cancel";

/// What is to be recorded about a machine that is missed; `None` if nobody has to do anything.
pub(super) fn decide(state: &State) -> Option<Decision> {
    let missed = state.missed.as_ref().filter(|missed| missed.then != Gone::Pause)?;
    if missed.is_back {
        return Some(Decision::of([Event::HostSeen { host: missed.host.clone() }]));
    }
    match &missed.chosen {
        Some((word, by)) => Some(chosen(state, missed, word, by.as_deref())),
        None if missed.then == Gone::Rebuild && is_whole(state) => Some(left(state, missed, true, None)),
        None => ask(state, missed),
    }
}

/// Whether all that the run has left on its machine is recorded.
fn is_whole(state: &State) -> bool {
    state.carried.is_some() && state.uncarried.is_none()
}

/// Why a run has no use for the news that its machine is missed.
pub(super) fn misfit(state: &State, host: &str, then: Gone) -> Option<String> {
    match then {
        Gone::Pause => None,
        _ if state.missed.is_some() => Some(format!("that `{host}` is missed is known")),
        _ if state.waiting_for(host).is_empty() => Some(format!("nothing waits for `{host}`")),
        Gone::Ask | Gone::Rebuild => None,
    }
}

fn chosen(state: &State, missed: &Missed, word: &str, by: Option<&str>) -> Decision {
    match word {
        LEAVE => left(state, missed, false, by),
        REBUILD => left(state, missed, true, by),
        _ => Decision::of([Event::CancelRequested {
            by: by.map(str::to_owned),
            reason: Some(format!("the machine `{}` is gone", missed.host)),
        }]),
    }
}

fn left(state: &State, missed: &Missed, with_files: bool, by: Option<&str>) -> Decision {
    Decision::of([Event::HostLeft {
        host: missed.host.clone(),
        by: by.map(str::to_owned),
        carried: state.carried.clone().filter(|_| with_files),
    }])
}

/// The step that has waited for the longest asks for all of them.
fn ask(state: &State, missed: &Missed) -> Option<Decision> {
    let waiting: Vec<&StepInst> = state.waiting_for(&missed.host).into_iter().map(|at| state.step(at)).collect();
    let is_asked = waiting.iter().any(|step| step.question.is_some());
    let first = waiting.first().filter(|_| !is_asked)?;
    Some(Decision::of([Event::QuestionAsked {
        path: first.path.clone(),
        kind: QuestionKind::Machine,
        text: text(state, missed),
        choices: choices(state),
        schema: None,
        due: None,
        error: None,
        key: None,
    }]))
}

fn text(state: &State, missed: &Missed) -> String {
    let rebuild = state.carried.as_ref().map_or_else(String::new, |carried| {
        let commit: String = carried.commit.chars().take(10).collect();
        let without =
            state.uncarried.as_ref().map_or_else(String::new, |(path, _)| format!(", without what `{path}` left"));
        format!(", `{REBUILD}` continues elsewhere with the files as of commit {commit}{without}")
    });
    format!(
        "Nothing was heard of the machine `{}` since {}, and the files of the run are there. Start a worker on it, and this is \
         withdrawn. `{WAIT}` waits for longer, `{LEAVE}` continues elsewhere without the files{rebuild}, `{CANCEL}` stops the run.{}",
        missed.host,
        moment(missed.since),
        unrecorded(state)
    )
}

/// Why the files cannot be made again elsewhere, where they cannot.
fn unrecorded(state: &State) -> String {
    let why = match &state.uncarried {
        _ if state.carried.is_some() => return String::new(),
        None => "no step has left any that were recorded".to_owned(),
        // Nobody tried to send them.
        Some((path, 0)) => format!("`fleet.carry` was not set when `{path}` left them"),
        Some((path, _)) => format!("what `{path}` left could not be sent to where other machines find it"),
    };
    format!(" `{REBUILD}`, with the files, is not possible: {why}.")
}

fn choices(state: &State) -> Vec<String> {
    let words = [Some(WAIT), Some(LEAVE), state.carried.as_ref().map(|_| REBUILD), Some(CANCEL)];
    words.into_iter().flatten().map(str::to_owned).collect()
}
