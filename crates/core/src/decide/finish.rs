//! The end of a run: by itself, by a limit, by a person, or by an `end` step.

use super::inside::{first_failure, outputs};
use super::{Decision, Planner};
use crate::event::{End, Ended, Event};
use crate::plan::{Limits, OnExceed, Outcome, UnitIx};
use crate::state::{BodyNo, State, StepNo};

/// A cancelled run is over when nothing is under way any more.
pub(super) fn cancelled(state: &State) -> Option<Decision> {
    (state.running == 0).then(|| over(Outcome::Cancelled, None))
}

pub(super) fn finished(planner: Planner<'_>, state: &State) -> Decision {
    let root = BodyNo(0);
    if state.body(root).failed {
        let why = first_failure(state, root).map_or_else(|| "a step failed".to_owned(), |error| error.message);
        return over(Outcome::Failure, Some(why));
    }
    match outputs(planner, state, root, UnitIx(0)) {
        Ok(outputs) => Decision::of([Event::RunFinished { outcome: Outcome::Success, message: None, outputs }]),
        Err(problem) => over(Outcome::Failure, Some(format!("`outputs` can not be evaluated: {}", problem.0))),
    }
}

fn over(outcome: Outcome, message: Option<String>) -> Decision {
    Decision::of([Event::RunFinished { outcome, message, outputs: Default::default() }])
}

/// An `end` step: of the run, or of the sub-workflow it stands in.
pub(super) fn end(
    planner: Planner<'_>,
    state: &State,
    at: StepNo,
    outcome: Outcome,
    message: Option<String>,
) -> Decision {
    let inst = state.step(at);
    let status = match outcome {
        Outcome::Success => Ended::Succeeded,
        Outcome::Failure => Ended::Failed,
        Outcome::Cancelled => Ended::Cancelled,
    };
    let ended = End { verdict: Some((outcome, message.clone())), tolerated: true, ..End::plain(status) };
    let step = Event::StepEnded { path: inst.path.clone(), end: ended };
    if state.body(inst.body).unit != UnitIx(0) {
        return Decision::of([step]);
    }
    let outputs = match outcome {
        Outcome::Success => outputs(planner, state, BodyNo(0), UnitIx(0)).unwrap_or_default(),
        Outcome::Failure | Outcome::Cancelled => Default::default(),
    };
    Decision::of([step, Event::RunFinished { outcome, message, outputs }])
}

/// The first limit that has been reached and that nobody has dealt with.
pub(super) fn over_limit(planner: Planner<'_>, state: &State) -> Option<Decision> {
    let limits = &planner.plan.main().limits;
    let limit =
        reached(limits, state).into_iter().find(|limit| !state.limits_reached.iter().any(|known| known == limit))?;
    let noted = Event::LimitReached { limit: limit.to_owned() };
    Some(match limits.on_exceed {
        OnExceed::Warn => Decision::of([noted]),
        OnExceed::Ask => Decision::of([noted, Event::Paused { by: Some(format!("limit: {limit}")) }]),
        OnExceed::Fail | OnExceed::Degrade => {
            let message = Some(format!("the limit on {limit} was reached"));
            Decision::of([
                noted,
                Event::RunFinished { outcome: Outcome::Failure, message, outputs: Default::default() },
            ])
        }
    })
}

fn reached(limits: &Limits, state: &State) -> Vec<&'static str> {
    let waiting = state.queue.front().is_some();
    let full = |limit: Option<u64>, used: u64| waiting && limit.is_some_and(|limit| used >= limit);
    let tokens = state.usage.input_tokens + state.usage.output_tokens;
    let checks = [
        ("duration", state.deadline_passed),
        ("steps", full(limits.steps, state.steps_executed)),
        ("idle_steps", full(limits.idle_steps, state.steps_idle)),
        ("tokens", limits.tokens.is_some_and(|limit| tokens >= limit)),
        ("usd", limits.usd.is_some_and(|limit| state.usage.usd >= limit)),
        ("visits", limits.visits.is_some_and(|limit| u64::from(state.visits_most) > limit)),
    ];
    checks.into_iter().filter(|(_, reached)| *reached).map(|(name, _)| name).collect()
}
