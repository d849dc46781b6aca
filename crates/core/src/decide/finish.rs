//! The end of a run: by itself, by a limit, by a person, or by an `end` step.

use super::inside::{first_failure, outputs};
use super::{Decision, Planner};
use crate::event::{End, Ended, Event};
use crate::plan::{Limits, OnExceed, Outcome, UnitIx};
use crate::state::{BodyNo, State, StepNo};

/// A cancelled run is over when nothing is under way any more.
pub(super) fn cancelled(state: &State) -> Option<Decision> {
    state.open.is_empty().then(|| Decision::of([over(Outcome::Cancelled, None)]))
}

pub(super) fn finished(planner: Planner<'_>, state: &State) -> Decision {
    let root = BodyNo(0);
    if state.body(root).failed {
        let why = first_failure(state, root).map_or_else(|| "a step failed".to_owned(), |error| error.message);
        return Decision::of([over(Outcome::Failure, Some(why))]);
    }
    Decision::of([well(planner, state, None)])
}

/// Success, unless what the run returns can not be computed.
fn well(planner: Planner<'_>, state: &State, message: Option<String>) -> Event {
    match outputs(planner, state, BodyNo(0), UnitIx(0)) {
        Ok(outputs) => Event::RunFinished { outcome: Outcome::Success, message, outputs },
        Err(problem) => over(Outcome::Failure, Some(format!("`outputs` can not be evaluated: {}", problem.0))),
    }
}

fn over(outcome: Outcome, message: Option<String>) -> Event {
    Event::RunFinished { outcome, message, outputs: Default::default() }
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
    let tolerated = outcome != Outcome::Success;
    let ended = End { verdict: Some((outcome, message.clone())), tolerated, ..End::plain(status) };
    let step = Event::StepEnded { path: inst.path.clone(), end: ended };
    if state.body(inst.body).unit != UnitIx(0) {
        return Decision::of([step]);
    }
    let finished = match outcome {
        Outcome::Success => well(planner, state, message),
        Outcome::Failure | Outcome::Cancelled => over(outcome, message),
    };
    Decision::of([step, finished])
}

/// A limit that is reached whatever comes next: time, and the visits of a node.
pub(super) fn over_limit(planner: Planner<'_>, state: &State) -> Option<Decision> {
    let limits = &planner.plan.main().limits;
    let visits = limits.visits.is_some_and(|limit| u64::from(state.visits_most) > limit);
    reached(limits, state, &[("duration", state.deadline_passed), ("visits", visits)])
}

/// A limit that does not let another attempt begin. A run that has used up what it may and has nothing left to
/// do ends as if there was no limit; another attempt of a step is not another step.
pub(super) fn over_budget(planner: Planner<'_>, state: &State, attempt: u32) -> Option<Decision> {
    let limits = &planner.plan.main().limits;
    let (spent, degrades) = (state.spent(), super::degrade::goes_on(limits, state));
    let full = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
    let checks = [
        ("steps", attempt == 1 && full(limits.steps, state.steps_executed)),
        ("idle_steps", attempt == 1 && full(limits.idle_steps, state.steps_idle)),
        ("tokens", !degrades && full(limits.tokens, spent.tokens())),
        ("usd", !degrades && limits.usd.is_some_and(|limit| spent.usd >= limit)),
    ];
    reached(limits, state, &checks)
}

/// What the first limit means that has been reached and that nobody has dealt with.
fn reached(limits: &Limits, state: &State, checks: &[(&str, bool)]) -> Option<Decision> {
    let known = |limit: &str| state.limits_reached.iter().any(|known| known == limit);
    let (limit, _) = checks.iter().find(|(limit, reached)| *reached && !known(limit))?;
    let noted = Event::LimitReached { limit: (*limit).to_owned() };
    Some(match limits.on_exceed {
        OnExceed::Warn => Decision::of([noted]),
        OnExceed::Ask => Decision::of([noted, Event::Paused { by: Some(format!("limit: {limit}")) }]),
        OnExceed::Fail | OnExceed::Degrade => {
            Decision::of([noted, over(Outcome::Failure, Some(format!("the limit on {limit} was reached")))])
        }
    })
}
