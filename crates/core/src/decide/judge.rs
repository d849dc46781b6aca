//! Something ended: what it means for the step.

use indexmap::IndexMap;
use serde_json::Map;

use super::start::manner;
use super::{Decision, Planner, gate};
use crate::Json;
use crate::eval::{self, Problem};
use crate::event::{Answer, End, Ended, Event, Failure, QuestionKind};
use crate::id::StepId;
use crate::path::StepPath;
use crate::plan::{ErrorClass, Form, OnError, OnExhausted, Retry, Step, Text};
use crate::state::{Scope, State, StepInst, StepNo};

/// How often work that was lost with its worker is begun again before a person is asked.
const LOST_MAX: u32 = 3;

pub(super) fn judge(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if let (Some(answer), Some(question)) = (&inst.answer, &inst.question) {
        return match question.kind {
            QuestionKind::Approval | QuestionKind::Question => gate::answered(planner, state, at, answer),
            QuestionKind::Review => reviewed(planner, state, at, answer),
            QuestionKind::Operator => operated(planner, state, at, answer),
        };
    }
    match (&inst.error, &step.form) {
        (Some(error), Form::Work(_) | Form::ForEach { .. }) => failed_attempt(planner, state, at, error),
        (Some(error), _) => failed(planner, state, at, error.clone()),
        (None, Form::ForEach { .. }) => {
            Decision::of([Event::ItemsFound { path: inst.path.clone(), items: found(inst) }])
        }
        (None, Form::Work(_)) if step.review.is_some() => review(planner, state, at, step.review.as_ref()),
        (None, _) => succeeded(planner, state, at, End::plain(Ended::Succeeded)),
    }
}

fn found(inst: &StepInst) -> Vec<Json> {
    inst.result.output.as_array().cloned().unwrap_or_default()
}

fn failed_attempt(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if error.class == ErrorClass::Lost {
        return match inst.lost > LOST_MAX {
            true => ask_operator(inst, format!("{} was lost {} times; try again?", inst.path, inst.lost)),
            false => again(inst, state.now),
        };
    }
    match step
        .retry
        .as_ref()
        .filter(|retry| inst.attempts - inst.lost.min(inst.attempts) <= retry.max && retries(retry, error.class))
    {
        Some(retry) => again(inst, state.now + pause(retry, inst.attempts, error)),
        None => failed(planner, state, at, error.clone()),
    }
}

fn again(inst: &StepInst, due: i64) -> Decision {
    Decision::of([Event::RetryScheduled { path: inst.path.clone(), attempt: inst.attempts + 1, due }])
}

/// Without a list, what will probably work later is tried again.
fn retries(retry: &Retry, class: ErrorClass) -> bool {
    match retry.on.as_slice() {
        [] => matches!(class, ErrorClass::Transient | ErrorClass::RateLimit),
        classes => classes.contains(&class) || classes.contains(&ErrorClass::Any),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the longest pause before")]
fn pause(retry: &Retry, attempts: u32, error: &Failure) -> i64 {
    let factor = retry.backoff.factor.max(1.0).powi(i32::try_from(attempts.saturating_sub(1)).unwrap_or(i32::MAX));
    let ms = (retry.backoff.first_ms as f64 * factor).min(retry.backoff.max_ms as f64) as u64;
    i64::try_from(ms.max(error.retry_after_ms.unwrap_or(0))).unwrap_or(i64::MAX)
}

/// A final failure: the declared default, or what `on_error` says.
pub(super) fn failed(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if let Some(default) = &step.output.default {
        let end =
            End { output: Some(default.clone()), defaulted: true, error: Some(error), ..End::plain(Ended::Succeeded) };
        return succeeded(planner, state, at, end);
    }
    match step.on_error {
        OnError::Fail if step.optional => tolerated(planner, state, at, error),
        OnError::Fail => end(inst, End::failed(error)),
        OnError::Continue => tolerated(planner, state, at, error),
        OnError::Skip => end(inst, End { error: Some(error), ..End::plain(Ended::Skipped) }),
        OnError::Ask => ask_operator(inst, format!("{} failed: {}. Try again?", inst.path, error.message)),
        OnError::Goto(target) => {
            let to = planner.plan.step(target).id.clone();
            let ended = End { tolerated: true, ..End::failed(error) };
            Decision::of([
                Event::Routed { path: inst.path.clone(), to },
                Event::StepEnded { path: inst.path.clone(), end: ended },
            ])
        }
    }
}

/// Failed, and the run goes on; a state machine needs to know where.
fn tolerated(planner: Planner<'_>, state: &State, at: StepNo, error: Failure) -> Decision {
    succeeded(planner, state, at, End { tolerated: true, ..End::failed(error) })
}

fn end(inst: &StepInst, end: End) -> Decision {
    Decision::of([Event::StepEnded { path: inst.path.clone(), end }])
}

pub(super) fn ask_operator(inst: &StepInst, text: String) -> Decision {
    Decision::of([Event::QuestionAsked {
        path: inst.path.clone(),
        kind: QuestionKind::Operator,
        text,
        choices: vec!["retry".to_owned(), "skip".to_owned(), "fail".to_owned()],
        schema: None,
        due: None,
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
    let is_work = matches!(planner.plan.step(inst.step).form, Form::Work(_));
    match word {
        "retry" if is_work => again(inst, state.now),
        "retry" | "skip" => end(inst, End { error: inst.error.clone(), ..End::plain(Ended::Skipped) }),
        _ => end(
            inst,
            End::failed(inst.error.clone().unwrap_or_else(|| Failure::new(ErrorClass::Failed, "given up by a person"))),
        ),
    }
}

fn review(planner: Planner<'_>, state: &State, at: StepNo, text: Option<&Text>) -> Decision {
    let inst = state.step(at);
    let own = own_names(planner, inst, None);
    let scope = Scope::at(planner.plan, planner.index, state, at).with(&own);
    let source = text.map(|text| text.0.as_str()).unwrap_or_default();
    match eval::text(source, manner(planner, state, at), &scope, &IndexMap::new()) {
        Ok(text) => Decision::of([Event::QuestionAsked {
            path: inst.path.clone(),
            kind: QuestionKind::Review,
            text,
            choices: Vec::new(),
            schema: None,
            due: None,
        }]),
        Err(problem) => super::start::broken(inst.path.clone(), "`review` can not be rendered", &problem),
    }
}

fn reviewed(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    let inst = state.step(at);
    match answer {
        Answer::Edit { value } | Answer::Value { value } => {
            succeeded(planner, state, at, End { output: Some(value.clone()), ..End::plain(Ended::Succeeded) })
        }
        Answer::Approve => succeeded(planner, state, at, End::plain(Ended::Succeeded)),
        Answer::Skip => end(inst, End::plain(Ended::Skipped)),
        Answer::Deny { reason } => {
            let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            end(inst, End::failed(Failure::new(ErrorClass::Failed, format!("denied by a person{why}"))))
        }
        Answer::TimedOut => end(inst, End::failed(Failure::new(ErrorClass::Timeout, "nobody reviewed it in time"))),
    }
}

/// A step that is done: back, on, or simply over.
pub(super) fn succeeded(planner: Planner<'_>, state: &State, at: StepNo, mut ended: End) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let own = own_names(planner, inst, Some(&ended));
    let texts = After { planner, state, at, own: &own };
    if step.rewind.is_some() {
        match texts.rewind(step, &ended) {
            Ok(Some(decision)) => return decision,
            Ok(None) => {}
            Err(problem) => return super::start::broken(inst.path.clone(), "`rewind` can not be evaluated", &problem),
        }
    }
    if let Some(progress) = &step.progress {
        ended.progress = texts.value(&progress.0).ok();
    }
    let over = |ended| Event::StepEnded { path: inst.path.clone(), end: ended };
    if step.next.is_empty() {
        return Decision::of([over(ended)]);
    }
    match texts.route(step) {
        Ok(Some(to)) => Decision::of([Event::Routed { path: inst.path.clone(), to }, over(ended)]),
        Ok(None) => {
            let error = Failure::new(ErrorClass::Invalid, "no entry of `next` holds");
            Decision::of([over(End { names: ended.names, ..End::failed(error) })])
        }
        Err(problem) => super::start::broken(inst.path.clone(), "`next` can not be evaluated", &problem),
    }
}

/// What the step itself is about to set.
fn own_names(planner: Planner<'_>, inst: &StepInst, ended: Option<&End>) -> Map<String, Json> {
    let output = &planner.plan.step(inst.step).output;
    let value = ended.and_then(|ended| ended.output.as_ref()).unwrap_or(&inst.result.output);
    let mut own = Map::new();
    if output.spread
        && let Json::Object(fields) = value
    {
        own.extend(fields.clone());
    }
    if let Some(alias) = &output.alias {
        own.insert(alias.as_str().to_owned(), value.clone());
    }
    own.extend(ended.into_iter().flat_map(|ended| ended.names.clone()));
    own
}

/// Texts that see the step's own result.
struct After<'a> {
    planner: Planner<'a>,
    state: &'a State,
    at: StepNo,
    own: &'a Map<String, Json>,
}

impl After<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope::at(self.planner.plan, self.planner.index, self.state, self.at).with(self.own)
    }

    fn value(&self, text: &str) -> Result<Json, Problem> {
        eval::value(text, manner(self.planner, self.state, self.at), &self.scope())
    }

    fn holds(&self, text: &str) -> Result<bool, Problem> {
        eval::holds(text, manner(self.planner, self.state, self.at), &self.scope())
    }

    /// The first way on that holds.
    fn route(&self, step: &Step) -> Result<Option<StepId>, Problem> {
        for route in &step.next {
            if route.when.as_ref().map_or(Ok(true), |when| self.holds(&when.0))? {
                return Ok(Some(self.planner.plan.step(route.to).id.clone()));
            }
        }
        Ok(None)
    }

    /// Back to an earlier step, or the end of the rounds; `None` means that it holds and the step is over.
    fn rewind(&self, step: &Step, ended: &End) -> Result<Option<Decision>, Problem> {
        let Some(rewind) = &step.rewind else { return Ok(None) };
        if self.holds(&rewind.until.0)? {
            return Ok(None);
        }
        let inst = self.state.step(self.at);
        let rounds = inst.path.segments().last().map_or(1, |segment| segment.visit);
        if rounds < rewind.max {
            let to = self.planner.plan.step(rewind.to).id.clone();
            return Ok(Some(Decision::of([Event::Rewound { path: inst.path.clone(), to }])));
        }
        let text = format!("`{}` is not satisfied after {rounds} rounds", inst.path);
        Ok(match rewind.on_exhausted {
            OnExhausted::Continue => None,
            OnExhausted::Ask if ended.output.is_none() => Some(ask_operator(inst, text)),
            OnExhausted::Ask | OnExhausted::Fail => {
                Some(Decision::of([over(inst.path.clone(), End::failed(Failure::new(ErrorClass::Failed, text)))]))
            }
        })
    }
}

fn over(path: StepPath, end: End) -> Event {
    Event::StepEnded { path, end }
}
