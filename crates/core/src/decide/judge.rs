//! Something ended: what it means for the step.

use indexmap::IndexMap;
use serde_json::Map;

use super::start::{broken, mode};
use super::{Decision, Planner, budget, degrade, gate, hints, recovery};
use crate::Json;
use crate::eval::{self, EvalProblem};
use crate::event::{Answer, End, Ended, Event, Failure, QuestionKind, Skip};
use crate::id::StepId;
use crate::path::StepPath;
use crate::plan::{ErrorClass, Form, OnError, OnExhausted, Order, Retry, Rewind, Step, Text};
use crate::state::{Answered, State, StateScope, StepInst, StepNo};

/// How often work that was lost with its worker is begun again before a person is asked.
const LOST_MAX: u32 = 3;

pub(super) fn judge(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if let Some(kept) = super::kept::end(planner, state, at) {
        return kept;
    }
    if let Some(Answered { kind, answer }) = inst.answered.as_deref() {
        return match kind {
            QuestionKind::Question if matches!(step.form, Form::Work(_)) => replied(planner, state, at, answer),
            QuestionKind::Approval | QuestionKind::Question => gate::answered(planner, state, at, answer),
            QuestionKind::Review => reviewed(planner, state, at, answer),
            // Nobody judges a step that waits for its machine; what is chosen there is decided in `host_lost`.
            QuestionKind::Operator | QuestionKind::Machine => operated(planner, state, at, answer),
            QuestionKind::Consent => super::consent::answered(planner, state, at, answer),
        };
    }
    match (&inst.outcome.error, &step.form) {
        (Some(error), Form::Work(_) | Form::ForEach { .. }) => failed_attempt(planner, state, at, error),
        (Some(error), _) => failed(planner, state, at, error.clone()),
        (None, Form::ForEach { .. }) => {
            Decision::of([Event::ItemsFound { path: inst.path.clone(), items: found(inst) }])
        }
        (None, _) => {
            let ended = || degrade::ended(planner, state, at);
            match recovery::compacted(state, at) {
                Some(resent) => exhausted(planner, state, at, &too_long()).unwrap_or(resent),
                None => {
                    hints::another_turn(planner, state, inst).unwrap_or_else(|| succeeded(planner, state, at, ended()))
                }
            }
        }
    }
}

fn found(inst: &StepInst) -> Vec<Json> {
    inst.outcome.result.output.as_array().cloned().unwrap_or_default()
}

fn failed_attempt(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if let Some(over) = exhausted(planner, state, at, error) {
        return over;
    }
    if error.class == ErrorClass::Lost {
        return match inst.lost > LOST_MAX {
            true => ask_operator(
                inst,
                format!("`{}` was lost {} times. Try again?", inst.path, inst.lost),
                Some(error.clone()),
            ),
            false => recovery::recover(planner, state, at, error)
                .filter(|_| step.is_agent())
                .unwrap_or_else(|| again(inst, state.now)),
        };
    }
    // A client that says it cannot do a step has tried by itself what an engine would.
    if step.is_agent() && inst.outcome.result.by.is_none() {
        return recovery::recover(planner, state, at, error)
            .or_else(|| hints::instead_of_failing(planner, state, inst, error.class))
            .unwrap_or_else(|| failed(planner, state, at, error.clone()));
    }
    let may_retry = |retry: &&Retry| inst.tries() <= retry.max && recovery::covers(retry, error.class);
    match step.retry.as_ref().filter(may_retry).filter(|_| !error.needs_person) {
        Some(retry) => again(inst, state.now.saturating_add(pause(retry, inst.tries(), error))),
        None => failed(planner, state, at, error.clone()),
    }
}

/// The end of a step that may not be tried again. A question is answered all the same: that is a person's word.
fn exhausted(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> Option<Decision> {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let why = budget::used_up(step, inst).filter(|_| error.class != ErrorClass::Question)?;
    let message = format!("{why}; the last attempt: {}", error.message);
    Some(failed(planner, state, at, Failure { message, ..error.clone() }))
}

/// Why a conversation was shortened.
fn too_long() -> Failure {
    Failure::new(ErrorClass::Overflow, "its conversation was shortened")
}

fn again(inst: &StepInst, due: i64) -> Decision {
    Decision::of([Event::RetryScheduled { path: inst.path.clone(), attempt: inst.attempts + 1, due, recovery: None }])
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the longest pause before")]
fn pause(retry: &Retry, attempts: u32, error: &Failure) -> i64 {
    let factor = retry.backoff.factor.max(1.0).powi(i32::try_from(attempts.saturating_sub(1)).unwrap_or(i32::MAX));
    let ms = (retry.backoff.first_ms as f64 * factor).min(retry.backoff.max_ms as f64) as u64;
    i64::try_from(ms.max(error.retry_after_ms.unwrap_or(0))).unwrap_or(i64::MAX)
}

/// A final failure: the declared default, or what `on_error` says. No default stands in for a step that is wrong itself: a person is
/// asked, unless the author has said that the step may fail.
pub(super) fn failed(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if error.needs_person && step.on_error == OnError::Kind && !recovery::is_tolerated(planner, state, at) {
        return ask_to_fix(inst, error);
    }
    if let Some(default) = step.output.default.as_ref().filter(|_| may_default(planner, state, at, &error)) {
        let end =
            End { output: Some(default.clone()), defaulted: true, error: Some(error), ..End::plain(Ended::Succeeded) };
        return succeeded(planner, state, at, end);
    }
    refused(planner, state, at, error)
}

/// Whether the declared default may stand in: not for what a person has to fix.
fn may_default(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> bool {
    if !planner.plan.step(state.step(at).step).is_agent() {
        return !error.needs_person;
    }
    let rules = recovery::rules(planner, state, at);
    let mendable = matches!(error.class, ErrorClass::Auth | ErrorClass::Billing | ErrorClass::UnknownModel);
    rules.defaults && !mendable && !error.needs_person
}

/// A failure for which no default stands in: what `on_error` says.
pub(super) fn refused(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    match step.on_error {
        OnError::Kind if is_for_a_person(planner, state, at, &error) => ask_to_fix(inst, error),
        OnError::Kind | OnError::Fail => given_up(planner, state, at, error),
        OnError::Continue => tolerated(planner, state, at, error),
        OnError::Skip => left_out_for(planner, state, at, Some(error)),
        OnError::Ask => {
            let text = format!("`{}` failed: {}. Try again?", inst.path, error.message);
            ask_operator(inst, text, Some(error))
        }
        OnError::Goto(target) => {
            let to = planner.plan.step(target).id.clone();
            let ended = End { tolerated: true, ..End::failed(error) };
            Decision::of([Event::Routed { path: inst.path.clone(), to }, over(inst.path.clone(), ended)])
        }
    }
}

/// Whether the work of an agent is kept for a person to look at instead of failing: everything was tried, the agent did
/// not say no by itself, and nothing around it deals with failures.
fn is_for_a_person(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> bool {
    let step = planner.plan.step(state.step(at).step);
    let attempted = state.step(at).attempts > 0;
    let said_no = error.class == ErrorClass::Failed;
    let is_wrong = error.class == ErrorClass::Invalid && state.step(at).outcome.result.output.is_null();
    step.is_agent() && attempted && !said_no && !is_wrong && !recovery::is_tolerated(planner, state, at)
}

/// The failure stands.
fn given_up(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    let inst = state.step(at);
    if planner.plan.step(inst.step).optional {
        return tolerated(planner, state, at, error);
    }
    Decision::of([over(inst.path.clone(), End::failed(error))])
}

/// A step is left out; a state machine continues to its next node all the same.
pub(super) fn left_out(planner: Planner<'_>, state: &State, at: StepNo, why: Skip) -> Decision {
    let path = state.step(at).path.clone();
    on_from(planner, state, at, Event::StepSkipped { path, why })
}

pub(super) fn left_out_for(planner: Planner<'_>, state: &State, at: StepNo, error: Option<Failure>) -> Decision {
    let path = state.step(at).path.clone();
    on_from(planner, state, at, over(path, End { error, ..End::plain(Ended::Skipped) }))
}

fn on_from(planner: Planner<'_>, state: &State, at: StepNo, leaving: Event) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if planner.plan.body(step.body).order == Order::Graph {
        return Decision::of([leaving]);
    }
    let (own, end) = (Map::new(), End::plain(Ended::Skipped));
    match (After { planner, state, at, own: &own, end: &end }).route(step) {
        Ok(Some(to)) => Decision::of([Event::Routed { path: inst.path.clone(), to }, leaving]),
        Ok(None) => lost_way(inst, "no entry of `next` holds"),
        Err(problem) => lost_way(inst, &format!("`next` cannot be evaluated: {}", problem.0)),
    }
}

/// Nobody can say where to go: a failure that nothing tolerates, since continuing is what fails.
fn lost_way(inst: &StepInst, message: &str) -> Decision {
    Decision::of([over(inst.path.clone(), End::failed(Failure::new(ErrorClass::Invalid, message)))])
}

/// Failed, and the run continues; a state machine needs to know where.
fn tolerated(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    succeeded(planner, state, at, End { tolerated: true, ..End::failed(error) })
}

/// Nothing but a person can help.
fn ask_to_fix(inst: &StepInst, error: Failure) -> Decision {
    let why = &error.message;
    let text = format!("`{}` cannot continue: {why}. Fix it, then try again; or skip it, or give up.", inst.path);
    ask_operator(inst, text, Some(error))
}

pub(super) fn ask_operator(inst: &StepInst, text: String, error: Option<Failure>) -> Decision {
    Decision::of([Event::QuestionAsked {
        path: inst.path.clone(),
        kind: QuestionKind::Operator,
        text,
        choices: vec!["retry".to_owned(), "skip".to_owned(), "fail".to_owned()],
        schema: None,
        due: None,
        error,
        key: None,
    }])
}

fn operated(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    let inst = state.step(at);
    let word = match answer {
        Answer::Value { value } => value.as_str().unwrap_or_default(),
        Answer::Approve => "retry",
        Answer::Skip => "skip",
        Answer::Deny { .. } | Answer::TimedOut => "fail",
        Answer::Edit { value } => {
            return succeeded(planner, state, at, End { output: Some(value.clone()), ..End::plain(Ended::Succeeded) });
        }
    };
    match word {
        "retry" => once_more(planner, state, at),
        "skip" => left_out_for(planner, state, at, inst.outcome.error.clone()),
        _ => {
            let given = || Failure::new(ErrorClass::Failed, "given up by a person");
            given_up(planner, state, at, inst.outcome.error.clone().unwrap_or_else(given))
        }
    }
}

/// What "again" means: another round where rounds were used up, another attempt after a failure.
fn once_more(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    match (&inst.outcome.error, &step.rewind, &step.form) {
        (Some(_), ..) if step.is_agent() => recovery::resumed(step, inst, state.now, None),
        (Some(_), ..) => again(inst, state.now),
        (None, Some(rewind), _) => back(planner, inst, rewind),
        (None, None, Form::Repeat { .. }) => super::inside::another_round(inst),
        (None, None, _) => again(inst, state.now),
    }
}

/// What a person said to an agent that asked.
fn replied(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    match answer {
        Answer::Value { value } | Answer::Edit { value } => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            recovery::resumed(step, inst, state.now, Some(&text))
        }
        Answer::Approve => recovery::resumed(step, inst, state.now, Some("yes")),
        Answer::Skip => left_out_for(planner, state, at, inst.outcome.error.clone()),
        Answer::Deny { reason } => {
            recovery::resumed(step, inst, state.now, Some(&reason.clone().unwrap_or_else(|| "no".to_owned())))
        }
        Answer::TimedOut => {
            failed(planner, state, at, Failure::new(ErrorClass::Timeout, "nobody answered the agent in time"))
        }
    }
}

fn back(planner: Planner<'_>, inst: &StepInst, rewind: &Rewind) -> Decision {
    let to = planner.plan.step(rewind.to).id.clone();
    Decision::of([Event::Rewound { path: inst.path.clone(), to }])
}

fn review(planner: Planner<'_>, state: &State, at: StepNo, (text, ended): (&Text, &End)) -> Decision {
    let inst = state.step(at);
    let own = own_names(planner, inst, ended);
    let scope = StateScope::at(planner.plan, planner.index, state, at).with(&own).after(at, ended);
    match eval::text(&text.0, mode(planner, state, at), &scope, &IndexMap::new()) {
        Ok(text) => Decision::of([Event::QuestionAsked {
            path: inst.path.clone(),
            kind: QuestionKind::Review,
            text,
            choices: Vec::new(),
            schema: None,
            due: None,
            error: None,
            key: None,
        }]),
        Err(problem) => broken(planner, state, at, "`review` cannot be rendered", &problem),
    }
}

fn reviewed(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    let denied = |class, message: String| refused(planner, state, at, Failure::new(class, message));
    match answer {
        Answer::Edit { value } | Answer::Value { value } => {
            succeeded(planner, state, at, End { output: Some(value.clone()), ..End::plain(Ended::Succeeded) })
        }
        Answer::Approve => concluded(planner, state, at),
        Answer::Skip => left_out_for(planner, state, at, None),
        Answer::Deny { reason } => {
            let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            denied(ErrorClass::Failed, format!("denied by a person{why}"))
        }
        Answer::TimedOut => denied(ErrorClass::Timeout, "nobody reviewed it in time".to_owned()),
    }
}

/// What a step had come to before a person looked at it.
fn concluded(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let step = planner.plan.step(state.step(at).step);
    match &step.form {
        Form::If { .. }
        | Form::Switch { .. }
        | Form::ForEach { .. }
        | Form::Repeat { .. }
        | Form::Parallel { .. }
        | Form::Workflow { .. }
            if !state.step(at).container.children.is_empty() =>
        {
            super::inside::inside(planner, state, at)
        }
        Form::Set { .. } => super::start::begin(planner, state, at, step),
        Form::Work(_)
        | Form::Decide
        | Form::If { .. }
        | Form::Switch { .. }
        | Form::ForEach { .. }
        | Form::Repeat { .. }
        | Form::Parallel { .. }
        | Form::Workflow { .. }
        | Form::Approve(_)
        | Form::Ask { .. }
        | Form::Wait(_)
        | Form::End { .. } => succeeded(planner, state, at, degrade::ended(planner, state, at)),
    }
}

/// Whether a person has to look at what the step left. A gate is a person's word already.
fn to_review<'p>(step: &'p Step, inst: &StepInst, ended: &End) -> Option<&'p Text> {
    let gate = matches!(step.form, Form::Approve(_) | Form::Ask { .. });
    let asked = inst.answered.is_some();
    step.review.as_ref().filter(|_| !gate && !asked && ended.status == Ended::Succeeded && !ended.defaulted)
}

/// A step that is done: shown to a person, back, on, or simply over.
pub(super) fn succeeded(planner: Planner<'_>, state: &State, at: StepNo, mut ended: End) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if let Some(text) = to_review(step, inst, &ended) {
        return review(planner, state, at, (text, &ended));
    }
    let own = own_names(planner, inst, &ended);
    let texts = After { planner, state, at, own: &own, end: &ended };
    match texts.rewind(step) {
        Ok(Some(decision)) => return decision,
        Ok(None) => {}
        Err(problem) => return lost_way(inst, &format!("`rewind` cannot be evaluated: {}", problem.0)),
    }
    let progress = step.progress.as_ref().and_then(|progress| texts.value(&progress.0).ok());
    let route = texts.route(step);
    ended.progress = progress;
    let graph = planner.plan.body(step.body).order == Order::Graph;
    match route {
        Ok(Some(to)) => Decision::of([Event::Routed { path: inst.path.clone(), to }, over(inst.path.clone(), ended)]),
        // In a graph a choice of nothing skips all that could have been chosen.
        Ok(None) if step.next.is_empty() || graph => Decision::of([over(inst.path.clone(), ended)]),
        Ok(None) => lost_way(inst, "no entry of `next` holds"),
        Err(problem) => lost_way(inst, &format!("`next` cannot be evaluated: {}", problem.0)),
    }
}

/// What the step itself is about to set.
fn own_names(planner: Planner<'_>, inst: &StepInst, ended: &End) -> Map<String, Json> {
    let output = &planner.plan.step(inst.step).output;
    let value = ended.output.as_ref().unwrap_or(&inst.outcome.result.output);
    let mut own = Map::new();
    if output.spread
        && let Json::Object(fields) = value
    {
        own.extend(fields.clone());
    }
    if let Some(alias) = &output.alias {
        own.insert(alias.as_str().to_owned(), value.clone());
    }
    own.extend(ended.names.clone());
    own
}

/// Texts that see the step's own result.
struct After<'a> {
    planner: Planner<'a>,
    state: &'a State,
    at: StepNo,
    own: &'a Map<String, Json>,
    end: &'a End,
}

impl After<'_> {
    fn scope(&self) -> StateScope<'_> {
        StateScope::at(self.planner.plan, self.planner.index, self.state, self.at)
            .with(self.own)
            .after(self.at, self.end)
    }

    fn value(&self, text: &str) -> Result<Json, EvalProblem> {
        eval::value(text, mode(self.planner, self.state, self.at), &self.scope())
    }

    fn holds(&self, text: &str) -> Result<bool, EvalProblem> {
        eval::holds(text, mode(self.planner, self.state, self.at), &self.scope())
    }

    /// The first way on that holds.
    fn route(&self, step: &Step) -> Result<Option<StepId>, EvalProblem> {
        for route in &step.next {
            if route.when.as_ref().map_or(Ok(true), |when| self.holds(&when.0))? {
                return Ok(Some(self.planner.plan.step(route.to).id.clone()));
            }
        }
        Ok(None)
    }

    /// Back to an earlier step, or the end of the rounds; `None` means that it holds and the step is over.
    fn rewind(&self, step: &Step) -> Result<Option<Decision>, EvalProblem> {
        let inst = self.state.step(self.at);
        let operated = inst.answered.as_ref().is_some_and(|answered| answered.kind == QuestionKind::Operator);
        let Some(rewind) = step.rewind.as_ref().filter(|_| !operated) else {
            return Ok(None);
        };
        if self.holds(&rewind.until.0)? {
            return Ok(None);
        }
        let rounds = self.state.body(inst.body).slots[self.planner.index.position(inst.step)].rounds + 1;
        if rounds < rewind.max {
            return Ok(Some(back(self.planner, inst, rewind)));
        }
        let text = not_satisfied(inst, rounds);
        Ok(match rewind.on_exhausted {
            OnExhausted::Continue => None,
            OnExhausted::Ask => Some(ask_operator(inst, text, None)),
            // Not by way of `on_error`: that would ask for the same rewind again.
            OnExhausted::Fail => {
                let failed = End::failed(Failure::new(ErrorClass::Failed, text));
                Some(Decision::of([over(inst.path.clone(), End { tolerated: step.optional, ..failed })]))
            }
        })
    }
}

/// What is said when rounds are used up.
pub(super) fn not_satisfied(inst: &StepInst, rounds: u32) -> String {
    format!("`{}` is not satisfied after {rounds} round{}", inst.path, if rounds == 1 { "" } else { "s" })
}

fn over(path: StepPath, end: End) -> Event {
    Event::StepEnded { path, end }
}
