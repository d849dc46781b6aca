//! Hosted runs: which turns are handed out, and what their clients may say about them.
//!
//! **Invariant:** a submission that does not fit changes nothing: the step stays open, and whoever sent it is told why.

use super::told::against;
use super::{Planner, ladder};
use crate::Json;
use crate::event::Event;
use crate::id::StepId;
use crate::path::StepPath;
use crate::state::{Phase, State, StepInst, StepNo};

/// How long a step is kept for a client from which nothing is heard.
const CLAIM_MS: i64 = 2 * 60 * 60 * 1000;
/// A claim that was renewed so recently is not renewed again: asking often must not fill the journal.
const RENEWED_MS: i64 = 60 * 1000;

/// When a claim runs out that is made or renewed at a moment.
pub fn held_until(now: i64) -> i64 {
    now.saturating_add(CLAIM_MS)
}

/// What a client that asks for work takes: everything that is free, and what it has for longer. Whoever pauses a run wants
/// nothing new to start.
pub fn claims(state: &State, client: &str, now: i64) -> Vec<Event> {
    let until = held_until(now);
    let stands = state.paused || state.cancelling;
    let wanted = |step: &&StepInst| match &step.hand {
        None => !stands,
        Some(hand) => hand.by == client && until - hand.until >= RENEWED_MS,
    };
    let claimed = |step: &StepInst| Event::Claimed {
        path: step.path.clone(),
        attempt: step.attempts,
        by: client.to_owned(),
        until,
    };
    state.handed().filter(|_| !state.is_finished()).filter(wanted).map(claimed).collect()
}

/// Whether a client makes this turn: in a hosted run each that its step does not keep for the engine.
pub(super) fn is_handed_out(planner: Planner<'_>, state: &State, at: StepNo) -> bool {
    let step = planner.plan.step(state.step(at).step);
    let kept = || ladder::agent_key(step, "driver").and_then(Json::as_str) == Some("engine");
    state.is_hosted() && step.is_agent() && !kept()
}

/// Why something that a client says about an attempt does not fit; `None` if it does, or if it is about something else.
pub(super) fn misfit(planner: Planner<'_>, state: &State, event: &Event) -> Option<String> {
    match event {
        Event::AttemptSucceeded { path, attempt, result } if result.by.is_some() => {
            closed(planner, state, path, *attempt).or_else(|| unfit(planner, state, path, &result.output))
        }
        Event::AttemptFailed { path, attempt, result, .. } if result.by.is_some() => {
            closed(planner, state, path, *attempt)
        }
        Event::Claimed { path, attempt, by, .. } => {
            let other = |hand: &&crate::state::Hand| hand.by != *by;
            let holder = || state.find(path)?.hand.as_deref().filter(other);
            closed(planner, state, path, *attempt)
                .or_else(|| holder().map(|hand| format!("`{path}` is handed out to {}", hand.by)))
        }
        Event::HeartbeatSeen { path, attempt, .. } => closed(planner, state, path, *attempt).or_else(|| {
            let taken = state.find(path).is_some_and(|step| step.hand.is_some());
            (!taken).then(|| format!("nobody has taken `{path}`; ask for the next steps first"))
        }),
        _ => None,
    }
}

/// Why nothing can be said about an attempt.
fn closed(planner: Planner<'_>, state: &State, path: &StepPath, attempt: u32) -> Option<String> {
    let Some(inst) = state.find(path) else { return Some(unreached(planner, path)) };
    match &inst.phase {
        Phase::Handed if inst.attempts == attempt => None,
        Phase::Handed if attempt < inst.attempts => Some(format!(
            "attempt {attempt} of `{path}` was given up; it is handed out again, as attempt {}",
            inst.attempts
        )),
        Phase::Handed => Some(format!("`{path}` has no attempt {attempt}; attempt {} is handed out", inst.attempts)),
        Phase::Attempt => Some(format!("`{path}` is done by the engine")),
        Phase::Done | Phase::Judge | Phase::Question if inst.attempts > 0 => {
            Some(format!("`{path}` has been submitted already"))
        }
        Phase::Done => Some(format!("`{path}` is over")),
        _ => Some(format!("`{path}` is not handed out; ask for the next steps first")),
    }
}

fn unreached(planner: Planner<'_>, path: &StepPath) -> String {
    let id = path.segments().last().map(|segment| &segment.id);
    match planner.plan.steps.iter().any(|step| Some(&step.id) == id) {
        true => format!("`{path}` is not ready yet: what it depends on is not done"),
        false => format!("there is no step `{path}`"),
    }
}

fn unfit(planner: Planner<'_>, state: &State, path: &StepPath, output: &Json) -> Option<String> {
    let schema = planner.plan.step(state.find(path)?.step).output.schema.as_ref();
    against(schema, output).map(|why| format!("this cannot be the result of `{path}`: {why}"))
}

/// The attempt that a client means by an address or the id of a step.
///
/// With a number, address and number are taken by the word. Without one it must be a step that the client holds: what it
/// sends could else be the late result of an attempt that somebody else was given meanwhile.
pub fn named(state: &State, text: &str, attempt: Option<u32>, client: &str) -> Result<(StepPath, u32), String> {
    let path = text.parse::<StepPath>().map_err(|why| format!("`{text}` is not the address of a step: {why}"))?;
    if let Some(attempt) = attempt {
        let open = meant(state, text).filter(|step| step.attempts == attempt && state.find(&path).is_none());
        return Ok((open.map_or(path, |step| step.path.clone()), attempt));
    }
    match meant(state, text) {
        Some(step) => match &step.hand {
            Some(hand) if hand.by == client => Ok((step.path.clone(), step.attempts)),
            Some(hand) => Err(format!(
                "`{}` is handed out to {}; who works for them names the attempt, which is {}",
                step.path, hand.by, step.attempts
            )),
            None => Err(format!("`{}` is not handed out to you any more; ask for the next steps first", step.path)),
        },
        // The number does not matter: what is said about it is why.
        None => Ok((path.clone(), state.find(&path).map_or(1, |step| step.attempts))),
    }
}

/// The step that is handed out and has this address, or alone has this id.
fn meant<'s>(state: &'s State, text: &str) -> Option<&'s StepInst> {
    let exact = state.handed().find(|step| step.path.to_string() == text);
    exact.or_else(|| {
        let is_it = |id: Option<&StepId>| id.is_some_and(|id| id.as_str() == text);
        let mut same = state.handed().filter(|step| is_it(step.path.segments().last().map(|segment| &segment.id)));
        same.next().filter(|_| same.next().is_none())
    })
}
