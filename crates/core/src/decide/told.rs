//! What people and programs tell a run, held to what was asked.
//!
//! **Invariant:** what does not fit is recorded as refused, with the reason, and changes nothing else: the question and the
//! wait stay open.

use super::{Planner, gone, hosted};
use crate::Json;
use crate::approval;
use crate::event::{Answer, Envelope, Event, QuestionKind, VERSION};
use crate::origin::{Auth, Caller};
use crate::path::StepPath;
use crate::plan::{Form, Step, Wait};
use crate::schema::mismatch;
use crate::state::{Phase, Question, State, StepInst};
use crate::view;

/// The longest schema that is shown to whoever did not follow it.
const SCHEMA_CHARS_MAX: usize = 300;

/// The event that is recorded in the place of one that somebody tells the run.
pub(super) fn held(planner: Planner<'_>, state: &State, event: Event) -> Event {
    let Some(what) = word(&event) else { return event };
    match (misfit(planner, state, &event), event) {
        (Some(why), _) => Event::Refused { what: what.to_owned(), why },
        (None, Event::Answered { path, answer, by, caller, comment, key, .. }) => {
            let asking = asking(state, &path);
            let shown = asking.map(|(step, question)| view::shown(planner.plan, step, question));
            let answer = match asking {
                Some((_, question)) => meant(question, answer),
                None => answer,
            };
            Event::Answered { path, answer, by, caller, comment, shown, key }
        }
        (None, event) => event,
    }
}

/// What people call an event that they cause; `None` for one that nobody tells.
fn word(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::Answered { .. } => "answer",
        Event::Signalled { .. } => "signal",
        Event::CancelRequested { .. } => "cancel",
        Event::Paused { .. } => "pause",
        Event::Unpaused { .. } => "unpause",
        Event::ConsentRevoked { .. } => "revoke",
        Event::HostSettled { .. } => "machine of the files",
        Event::HostMissed { .. } => "missing machine",
        Event::HostLeft { .. } => "leave",
        Event::Reopened { .. } => "retry",
        Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } if result.by.is_some() => {
            "submission"
        }
        Event::Claimed { .. } => "claim",
        Event::HeartbeatSeen { .. } => "heartbeat",
        _ => return None,
    })
}

/// Why something that a run is told does not fit, and what would; `None` if it does.
pub fn misfit(planner: Planner<'_>, state: &State, event: &Event) -> Option<String> {
    match event {
        Event::Reopened { .. } => stays_shut(planner, state, event),
        _ if state.is_finished() => Some("the run is over".to_owned()),
        Event::Answered { path, answer, caller, shown, key, .. } => {
            let asking = asking(state, path);
            wrong_key(asking, key.as_deref(), caller.as_deref())
                .or_else(|| not_theirs(planner, state, path, caller.as_deref()))
                .or_else(|| unanswerable(planner, state, path, answer))
                .or_else(|| not_seen(planner, asking?, shown.as_deref()?))
        }
        Event::Signalled { name, data, .. } => unwanted(planner, state, name, data),
        Event::Paused { .. } if state.paused => Some("it is paused already".to_owned()),
        Event::ConsentRevoked { .. } if state.consent_revoked => Some("its consent is revoked already".to_owned()),
        Event::HostSettled { .. } => state.host.as_ref().map(|host| format!("its files are on `{host}`")),
        Event::HostMissed { host, .. } | Event::HostLeft { host, .. } if state.host.as_ref() != Some(host) => {
            Some(format!("its files are not on `{host}`"))
        }
        Event::HostMissed { host, then, .. } => gone::misfit(state, host, *then),
        Event::Unpaused { .. } if !state.paused => Some("it is not paused".to_owned()),
        _ => hosted::misfit(planner, state, event),
    }
}

/// Whether a run can start again is found out by trying.
fn stays_shut(planner: Planner<'_>, state: &State, event: &Event) -> Option<String> {
    if !state.is_finished() {
        return Some("the run is not over".to_owned());
    }
    let envelope = Envelope { v: VERSION, seq: state.seq + 1, at: state.now, event: event.clone() };
    state.clone().apply(planner.plan, planner.index, &envelope).err().map(|illegal| illegal.0)
}

/// The step and its question, while it is open.
fn asking<'s>(state: &'s State, path: &StepPath) -> Option<(&'s StepInst, &'s Question)> {
    let step = state.find(path)?;
    Some((step, step.asks()?))
}

/// Who answers by a secret must have the one of this very question. It is looked at before all else.
fn wrong_key(asking: Option<(&StepInst, &Question)>, key: Option<&str>, caller: Option<&Caller>) -> Option<String> {
    let expected = asking.and_then(|(_, question)| question.key.as_deref());
    let is_needed = caller.is_some_and(|caller| caller.auth == Auth::Token);
    match key {
        Some(key) if expected != Some(key) => {
            Some("the secret is not the one of an open question of this step".to_owned())
        }
        None if is_needed => Some("the secret of the question is missing".to_owned()),
        _ => None,
    }
}

/// Why the question of a step is not for somebody to answer.
fn not_theirs(planner: Planner<'_>, state: &State, path: &StepPath, caller: Option<&Caller>) -> Option<String> {
    let gate = state.find(path).and_then(|inst| planner.plan.step(inst.step).approvals.as_ref());
    approval::refusal(state.started.as_ref()?, gate, caller)
}

/// Who was shown something else than is asked now has not answered that.
fn not_seen(planner: Planner<'_>, (step, question): (&StepInst, &Question), shown: &str) -> Option<String> {
    let path = &step.path;
    (view::shown(planner.plan, step, question) != shown)
        .then(|| format!("`{path}` asks something else by now; look at it again, then answer"))
}

fn unanswerable(planner: Planner<'_>, state: &State, path: &StepPath, answer: &Answer) -> Option<String> {
    let Some(inst) = state.find(path) else { return Some(format!("no step `{path}` was reached")) };
    let Some(question) = inst.asks() else {
        return Some(format!("`{path}` asks nothing, or has been answered"));
    };
    let output = planner.plan.step(inst.step).output.schema.as_ref();
    let refused = match (question.kind, meant(question, answer.clone())) {
        (_, Answer::TimedOut) => Some("only time can say that nobody answered".to_owned()),
        (QuestionKind::Machine, Answer::Value { value }) => no_choice(question, &value),
        (QuestionKind::Machine, _) => Some(takes(question)),
        (QuestionKind::Approval | QuestionKind::Operator | QuestionKind::Consent, Answer::Value { value }) => {
            no_choice(question, &value)
        }
        (QuestionKind::Approval | QuestionKind::Consent, Answer::Edit { .. }) => {
            Some(format!("there is nothing to edit; {}", takes(question)))
        }
        (QuestionKind::Question, Answer::Value { value } | Answer::Edit { value }) => {
            against(question.schema.as_ref(), &value)
        }
        (QuestionKind::Question, Answer::Approve) => against(question.schema.as_ref(), &Json::Null),
        (QuestionKind::Review, Answer::Value { value } | Answer::Edit { value })
        | (QuestionKind::Operator, Answer::Edit { value }) => against(output, &value),
        (_, Answer::Approve | Answer::Deny { .. } | Answer::Skip) => None,
    };
    refused.map(|why| format!("this cannot be the answer to `{path}`: {why}"))
}

/// A yes or no in words, where that is a choice: `yes`, `true`, `no`, `false`.
fn meant(question: &Question, answer: Answer) -> Answer {
    let Answer::Value { value } = &answer else { return answer };
    let gate = matches!(question.kind, QuestionKind::Approval | QuestionKind::Operator | QuestionKind::Consent);
    if !gate || chosen(question, value) {
        return answer;
    }
    match (value, value.as_str()) {
        (Json::Bool(true), _) | (_, Some("yes" | "true")) => Answer::Approve,
        (Json::Bool(false), _) | (_, Some("no" | "false")) => Answer::Deny { reason: None },
        _ => answer,
    }
}

fn chosen(question: &Question, value: &Json) -> bool {
    value.as_str().is_some_and(|word| question.choices.iter().any(|choice| choice == word))
}

fn no_choice(question: &Question, value: &Json) -> Option<String> {
    (!chosen(question, value)).then(|| format!("{value} is not a choice; {}", takes(question)))
}

fn takes(question: &Question) -> String {
    let mut words = if question.kind == QuestionKind::Machine { Vec::new() } else { vec!["yes", "no"] };
    words.extend(question.choices.iter().map(String::as_str));
    format!("it takes: {}", words.join(", "))
}

pub(super) fn against(schema: Option<&Json>, value: &Json) -> Option<String> {
    let schema = schema?;
    let why = mismatch(schema, value)?;
    let text: String = schema.to_string().chars().take(SCHEMA_CHARS_MAX).collect();
    Some(format!("{why}; it must follow {text}"))
}

/// A signal goes to who has waited the longest. One that comes early must fit somebody who may wait for it later.
fn unwanted(planner: Planner<'_>, state: &State, name: &str, data: &Json) -> Option<String> {
    let waits = |phase: &Phase| matches!(phase, Phase::Waiting { signal: Some(signal), .. } if signal == name);
    if let Some(inst) = state.waiting().find(|inst| waits(&inst.phase)) {
        let why = signal_misfit(planner.plan.step(inst.step), data);
        return why.map(|why| format!("`{}` waits for another `{name}`: {why}", inst.path));
    }
    let mut refusals = Vec::new();
    for step in &planner.plan.steps {
        match &step.form {
            Form::Wait(Wait::Event { name: text, .. }) if text.0.contains('{') => return None,
            Form::Wait(Wait::Event { name: text, .. }) if text.0 == name => refusals.push(signal_misfit(step, data)?),
            _ => {}
        }
    }
    refusals.into_iter().next().map(|why| format!("nobody waits for such a `{name}`: {why}"))
}

/// Why a `wait` does not take what a signal carries; `None` if it does.
pub(super) fn signal_misfit(step: &Step, data: &Json) -> Option<String> {
    match &step.form {
        Form::Wait(Wait::Event { schema, .. }) => against(schema.as_ref(), data),
        _ => None,
    }
}
