//! Hosted runs: which turns are handed out, and what their clients may say about them.
//!
//! **Invariant:** a submission that does not fit changes nothing: the step stays open, and the client learns why.

use super::inbound::against;
use super::{Planner, recovery};
use crate::Json;
use crate::event::Event;
use crate::id::StepId;
use crate::path::StepPath;
use crate::rejection::Rejection;
use crate::state::{HostedLease, Phase, State, StepInst, StepNo};

/// How long a step is kept for a client from which nothing is heard.
const CLAIM_MS: i64 = 2 * 60 * 60 * 1000;
/// What a client does that has no step.
const ASK_FIRST: &str = "ask for the next steps first";
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
    let stands = state.paused || state.stopped.is_some() || state.cancelling;
    let wanted = |step: &&StepInst| match step.lease() {
        None => !stands,
        Some(lease) => lease.by == client && until - lease.until >= RENEWED_MS,
    };
    let claimed = |step: &StepInst| Event::HostedClaimed {
        path: step.path.clone(),
        attempt: step.attempts,
        by: client.to_owned(),
        until,
    };
    state.hosted().filter(|_| !state.is_finished()).filter(wanted).map(claimed).collect()
}

/// Whether a client makes this turn: in a hosted run each that its step does not keep for the engine.
pub(super) fn is_handed_out(planner: Planner<'_>, state: &State, at: StepNo) -> bool {
    let step = planner.plan.step(state.step(at).step);
    let kept = || recovery::agent_key(step, "driver").and_then(Json::as_str) == Some("engine");
    state.is_hosted() && step.is_agent() && !kept()
}

/// Why something that a client says about an attempt does not fit; `None` if it does, or if it is about something else.
pub(super) fn rejection(planner: Planner<'_>, state: &State, event: &Event) -> Option<Rejection> {
    match event {
        Event::AttemptSucceeded { path, attempt, result } if result.by.is_some() => {
            closed(planner, state, path, *attempt).or_else(|| unfit(planner, state, path, &result.output))
        }
        Event::AttemptFailed { path, attempt, result, .. } if result.by.is_some() => {
            closed(planner, state, path, *attempt)
        }
        Event::HostedClaimed { path, attempt, by, .. } => {
            let other = |lease: &&HostedLease| lease.by != *by;
            let holder = || state.find(path)?.lease().filter(other);
            closed(planner, state, path, *attempt).or_else(|| {
                holder().map(|lease| Rejection::conflict(format!("`{path}` is handed out to {}", lease.by)))
            })
        }
        Event::HeartbeatSeen { path, attempt, .. } => closed(planner, state, path, *attempt).or_else(|| {
            let taken = state.find(path).is_some_and(|step| step.lease().is_some());
            (!taken).then(|| Rejection::untimely(format!("no client has taken `{path}`")).say(ASK_FIRST))
        }),
        _ => None,
    }
}

/// Why nothing can be said about an attempt.
fn closed(planner: Planner<'_>, state: &State, path: &StepPath, attempt: u32) -> Option<Rejection> {
    let Some(inst) = state.find(path) else { return Some(unreached(planner, path)) };
    match &inst.phase {
        Phase::Hosted(_) if inst.attempts == attempt => None,
        Phase::Hosted(_) if attempt < inst.attempts => Some(Rejection::conflict(format!(
            "attempt {attempt} of `{path}` was given up; it is handed out again, as attempt {}",
            inst.attempts
        ))),
        Phase::Hosted(_) => Some(Rejection::not_found(format!(
            "`{path}` has no attempt {attempt}; attempt {} is handed out",
            inst.attempts
        ))),
        Phase::Attempt(_) => Some(Rejection::untimely(format!("`{path}` is done by the engine"))),
        Phase::Done | Phase::Judge | Phase::Question(_) if inst.attempts > 0 => {
            Some(Rejection::conflict(format!("`{path}` has been submitted already")))
        }
        Phase::Done => Some(Rejection::untimely(format!("`{path}` is over"))),
        _ => Some(Rejection::untimely(format!("`{path}` is not handed out")).say(ASK_FIRST)),
    }
}

fn unreached(planner: Planner<'_>, path: &StepPath) -> Rejection {
    let id = path.segments().last().map(|segment| &segment.id);
    match planner.plan.steps.iter().any(|step| Some(&step.id) == id) {
        true => Rejection::untimely(format!("`{path}` is not ready yet: what it depends on is not done")),
        false => Rejection::not_found(format!("there is no step `{path}`")),
    }
}

fn unfit(planner: Planner<'_>, state: &State, path: &StepPath, output: &Json) -> Option<Rejection> {
    let schema = planner.plan.step(state.find(path)?.step).output.schema.as_ref();
    against(schema, output).map(|why| Rejection::invalid(format!("this cannot be the result of `{path}`: {why}")))
}

/// The attempt that a client means by an address or the id of a step.
///
/// With a number, address and number are taken by the word. Without one it must be a step that the client holds: what it
/// sends could else be the late result of an attempt that somebody else was given meanwhile.
pub fn named(state: &State, text: &str, attempt: Option<u32>, client: &str) -> Result<(StepPath, u32), Rejection> {
    let path = text
        .parse::<StepPath>()
        .map_err(|why| Rejection::invalid(format!("`{text}` is not the address of a step: {why}")))?;
    if let Some(attempt) = attempt {
        let open = meant(state, text).filter(|step| step.attempts == attempt && state.find(&path).is_none());
        return Ok((open.map_or(path, |step| step.path.clone()), attempt));
    }
    match meant(state, text) {
        Some(step) => match step.lease() {
            Some(lease) if lease.by == client => Ok((step.path.clone(), step.attempts)),
            Some(lease) => {
                let how = format!("who works for them names the attempt, which is {}", step.attempts);
                Err(Rejection::conflict(format!("`{}` is handed out to {}", step.path, lease.by)).say(how))
            }
            None => {
                let why = format!("`{}` is not handed out to you any more", step.path);
                Err(Rejection::conflict(why).say(ASK_FIRST))
            }
        },
        // The number does not matter: what is said about it is why.
        None => Ok((path.clone(), state.find(&path).map_or(1, |step| step.attempts))),
    }
}

/// The step that is handed out and has this address, or alone has this id.
fn meant<'s>(state: &'s State, text: &str) -> Option<&'s StepInst> {
    let exact = state.hosted().find(|step| step.path.to_string() == text);
    exact.or_else(|| {
        let is_it = |id: Option<&StepId>| id.is_some_and(|id| id.as_str() == text);
        let mut same = state.hosted().filter(|step| is_it(step.path.segments().last().map(|segment| &segment.id)));
        same.next().filter(|_| same.next().is_none())
    })
}
