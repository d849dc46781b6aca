//! The end of a run: by itself, by a limit, by a person, or by an `end` step.

use super::inside::{first_failure, outputs};
use super::{Decision, Planner};
use crate::event::{End, Ended, Event};
use crate::plan::{OnExceed, Outcome, UnitIx};
use crate::state::{BodyNo, IDLE_ROUNDS_MAX, PAUSED_AT, Payer, State, StepNo};

/// A cancelled run is over when nothing is under way any more.
pub(super) fn cancelled(state: &State) -> Option<Decision> {
    state.agenda.open.is_empty().then(|| Decision::of([over(Outcome::Cancelled, None)]))
}

pub(super) fn finished(planner: Planner<'_>, state: &State) -> Decision {
    let root = BodyNo(0);
    if state.body(root).failed {
        let why = first_failure(state, root).map_or_else(|| "a step failed".to_owned(), |error| error.message);
        return Decision::of([over(Outcome::Failure, Some(why))]);
    }
    Decision::of([well(planner, state, None)])
}

/// Success, unless what the run returns cannot be computed.
fn well(planner: Planner<'_>, state: &State, message: Option<String>) -> Event {
    match outputs(planner, state, BodyNo(0), UnitIx(0)) {
        Ok(outputs) => Event::RunFinished { outcome: Outcome::Success, message, outputs },
        Err(problem) => over(Outcome::Failure, Some(format!("`outputs` cannot be evaluated: {}", problem.0))),
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

/// A loop in which nothing is done would continue for ever.
pub(super) fn spinning(state: &State) -> Option<Decision> {
    let path = state.spinning.as_ref()?;
    let why = format!(
        "`{path}` is part of a loop in which nothing is done: after {IDLE_ROUNDS_MAX} rounds without any work the run was ended. \
         Give the loop a way out, or a step that works or waits."
    );
    Some(Decision::of([over(Outcome::Failure, Some(why))]))
}

/// A limit that is reached whatever comes next: time, and the visits of a node.
pub(super) fn over_limit(planner: Planner<'_>, state: &State) -> Option<Decision> {
    let inner = state.limited().map(|(body, _)| body);
    inner.chain([BodyNo(0)]).find_map(|body| {
        let payer = state.payer(planner.plan, body);
        let visits = payer.limits.visits.is_some_and(|limit| u64::from(payer.account.visits_most) > limit);
        reached(state, &payer, &[("duration", payer.account.deadline_passed), ("visits", visits)])
    })
}

/// A limit that does not let another attempt begin, from the inside out. Whoever has used up what it may and has nothing
/// left to do ends as if there was no limit; another attempt of a step is not another step.
pub(super) fn over_budget(planner: Planner<'_>, state: &State, at: StepNo, attempt: u32) -> Option<Decision> {
    state.payers(planner.plan, at).into_iter().find_map(|payer| {
        let (limits, degrades) = (payer.limits, super::degrade::goes_on(&payer));
        let full = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        let checks = [
            ("steps", attempt == 1 && full(limits.steps, payer.account.steps)),
            ("idle_steps", attempt == 1 && full(limits.idle_steps, payer.account.idle)),
            ("tokens", !degrades && full(limits.tokens, payer.spent().tokens())),
            ("usd", !degrades && limits.usd.is_some_and(|limit| payer.spent().usd >= limit)),
        ];
        reached(state, &payer, &checks)
    })
}

/// What the first limit means that has been reached and that nobody has dealt with.
fn reached(state: &State, payer: &Payer<'_>, checks: &[(&str, bool)]) -> Option<Decision> {
    let (limit, _) = checks.iter().find(|(limit, reached)| *reached && !payer.has_passed(limit))?;
    let path = state.body(payer.body).owner.map(|owner| state.step(owner).path.clone());
    let noted = Event::LimitReached { limit: (*limit).to_owned(), path: path.clone() };
    let why = format!("the limit on {limit} was reached");
    Some(match (payer.limits.on_exceed, path) {
        (OnExceed::Warn, _) => Decision::of([noted]),
        (OnExceed::Ask, path) => {
            let whose = path.map_or_else(String::new, |path| format!(" of `{path}`"));
            Decision::of([noted, Event::Paused { by: Some(format!("{PAUSED_AT}{limit}{whose}")) }])
        }
        (OnExceed::Fail | OnExceed::Degrade, None) => Decision::of([noted, over(Outcome::Failure, Some(why))]),
        (OnExceed::Fail | OnExceed::Degrade, Some(path)) => Decision::of([noted, Event::UnitStopped { path, why }]),
    })
}
