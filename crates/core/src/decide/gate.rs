//! Gates and questions: asking a person, and what the answer means.

use indexmap::IndexMap;
use serde_json::json;

use super::judge::{left_out, refused, succeeded};
use super::start::{broken, manner};
use super::{Decision, Planner};
use crate::Json;
use crate::eval;
use crate::event::{Answer, End, Ended, Event, Failure, QuestionKind, Skip};
use crate::plan::{Approve, ErrorClass, Form, OnDeny, OnTimeout};
use crate::state::{Scope, State, StepNo};

pub(super) fn ask(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let (kind, text, choices, schema, timeout_ms) = match &step.form {
        Form::Approve(approve) => {
            (QuestionKind::Approval, &approve.question, approve.choices.clone(), None, approve.timeout_ms)
        }
        Form::Ask { question, answer, timeout_ms } => {
            (QuestionKind::Question, question, Vec::new(), Some(answer.clone()), *timeout_ms)
        }
        _ => return succeeded(planner, state, at, End::plain(Ended::Succeeded)),
    };
    let scope = Scope::at(planner.plan, planner.index, state, at);
    match eval::text(&text.0, manner(planner, state, at), &scope, &IndexMap::new()) {
        Ok(text) => {
            let due = timeout_ms.and_then(|ms| state.now.checked_add(i64::try_from(ms).ok()?));
            Decision::of([Event::QuestionAsked {
                path: inst.path.clone(),
                kind,
                text,
                choices,
                schema,
                due,
                error: None,
                key: None,
            }])
        }
        Err(problem) => broken(planner, state, at, "the question cannot be rendered", &problem),
    }
}

pub(super) fn answered(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    match &planner.plan.step(state.step(at).step).form {
        Form::Approve(approve) => approved(planner, state, at, approve, answer),
        _ => replied(planner, state, at, answer),
    }
}

fn replied(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    match answer {
        Answer::Value { value } | Answer::Edit { value } => {
            succeeded(planner, state, at, End { output: Some(value.clone()), ..End::plain(Ended::Succeeded) })
        }
        Answer::Approve => {
            succeeded(planner, state, at, End { output: Some(Json::Null), ..End::plain(Ended::Succeeded) })
        }
        Answer::Skip => left_out(planner, state, at, Skip::When),
        Answer::Deny { reason } => refused(planner, state, at, denied(reason.as_deref())),
        Answer::TimedOut => refused(planner, state, at, silence()),
    }
}

fn approved(planner: Planner<'_>, state: &State, at: StepNo, approve: &Approve, answer: &Answer) -> Decision {
    let yes = |choice: Option<String>| {
        let output = Some(json!({"approved": true, "choice": choice}));
        succeeded(planner, state, at, End { output, choice, ..End::plain(Ended::Succeeded) })
    };
    match answer {
        Answer::Approve | Answer::Edit { .. } => yes(None),
        Answer::Value { value } => yes(value.as_str().map(str::to_owned)),
        Answer::Skip => left_out(planner, state, at, Skip::Denied),
        Answer::Deny { reason } => deny(planner, state, at, approve, reason.as_deref()),
        Answer::TimedOut => match approve.on_timeout {
            OnTimeout::Approve => yes(None),
            OnTimeout::Deny => deny(planner, state, at, approve, Some("nobody answered in time")),
            OnTimeout::Cancel => cancel(state, at, "nobody answered in time"),
            OnTimeout::Fail => refused(planner, state, at, silence()),
        },
    }
}

fn deny(planner: Planner<'_>, state: &State, at: StepNo, approve: &Approve, reason: Option<&str>) -> Decision {
    let path = state.step(at).path.clone();
    match approve.on_deny {
        OnDeny::Fail => refused(planner, state, at, denied(reason)),
        OnDeny::Cancel => cancel(state, at, &denied(reason).message),
        OnDeny::Skip => left_out(planner, state, at, Skip::Denied),
        OnDeny::Goto(target) => {
            let to = planner.plan.step(target).id.clone();
            let end = End { tolerated: true, ..End::failed(denied(reason)) };
            Decision::of([Event::Routed { path: path.clone(), to }, Event::StepEnded { path, end }])
        }
    }
}

fn denied(reason: Option<&str>) -> Failure {
    Failure::new(ErrorClass::Failed, reason.map_or("denied".to_owned(), |reason| format!("denied: {reason}")))
}

fn silence() -> Failure {
    Failure::new(ErrorClass::Timeout, "nobody answered in time")
}

fn cancel(state: &State, at: StepNo, reason: &str) -> Decision {
    let end = End { error: Some(Failure::new(ErrorClass::Failed, reason)), ..End::plain(Ended::Cancelled) };
    Decision::of([
        Event::StepEnded { path: state.step(at).path.clone(), end },
        Event::CancelRequested { by: None, reason: Some(reason.to_owned()) },
    ])
}
