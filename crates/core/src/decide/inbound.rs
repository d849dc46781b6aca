//! What people and programs tell a run, held to what was asked.
//!
//! **Invariant:** what does not fit is recorded as refused, with the reason, and changes nothing else: the question and the
//! wait stay open.

use super::{Planner, hints, host_lost, hosted, limits};
use crate::Json;
use crate::approval;
use crate::event::{Answer, Envelope, Event, QuestionKind, VERSION};
use crate::origin::{Auth, Caller};
use crate::path::StepPath;
use crate::plan::{Form, Outcome, Step, Wait};
use crate::rejection::{Rejection, Remedy};
use crate::schema::{mismatch, violations};
use crate::state::{Phase, Question, State, StepInst};
use crate::view;

/// The longest schema that a rejection shows.
const SCHEMA_CHARS_MAX: usize = 300;

/// The event that is recorded in the place of one that somebody tells the run.
pub(super) fn checked(planner: Planner<'_>, state: &State, event: Event) -> Event {
    let Some(what) = word(&event) else { return event };
    match (rejection(planner, state, &event), event) {
        (Some(why), _) => Event::Refused { what: what.to_owned(), why: why.to_string() },
        (None, Event::Answered { path, answer, by, caller, comment, key, .. }) => {
            let asking = asking(state, &path);
            let shown = asking.map(|(step, question)| view::shown(planner.plan, step, question));
            let answer = match asking {
                Some((_, question)) => meant(question, answer),
                None => answer,
            };
            match asking.and_then(|(step, question)| missing(planner, state, step, question, &answer)) {
                Some((given, needed)) => Event::Approved { path, given, needed, by, caller, comment, shown },
                None => Event::Answered { path, answer, by, caller, comment, shown, key },
            }
        }
        (None, Event::BudgetChanged { change, by }) => {
            Event::BudgetChanged { change: limits::resolved(planner, state, change), by }
        }
        (None, event) => event,
    }
}

/// What people call an event that they cause; `None` for one that nobody tells.
fn word(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::Answered { .. } => "answer",
        Event::Signalled { .. } => "signal",
        Event::HintGiven { .. } => "hint",
        Event::BudgetChanged { .. } => "budget",
        Event::CancelRequested { .. } => "cancel",
        Event::Paused { .. } => "pause",
        Event::Unpaused { .. } => "unpause",
        Event::RunStopped { .. } => "stop",
        Event::RunResumed { .. } => "resume",
        Event::ConsentRevoked { .. } => "revoke",
        Event::HostSettled { .. } => "machine of the files",
        Event::HostMissed { .. } => "missing machine",
        Event::HostLeft { .. } => "leave",
        Event::Reopened { .. } => "retry",
        Event::PlanReplaced(_) => "replan",
        Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } if result.by.is_some() => {
            "submission"
        }
        Event::HostedClaimed { .. } => "claim",
        Event::HeartbeatSeen { .. } => "heartbeat",
        _ => return None,
    })
}

/// Why something that a run is told does not fit, and what would; `None` if it does.
pub fn rejection(planner: Planner<'_>, state: &State, event: &Event) -> Option<Rejection> {
    match event {
        Event::Reopened { .. } => stays_shut(planner, state, event),
        Event::BudgetChanged { change, .. } => limits::rejection(planner, state, change),
        Event::HintGiven { path, .. } if state.is_finished() => Some(over(state).say(hints::after_the_end(path))),
        Event::PlanReplaced(_) => crate::replan::rejection(state),
        _ if state.is_finished() => Some(over(state)),
        Event::HintGiven { path, text, .. } => hints::rejection(planner, state, path, text),
        Event::Answered { path, answer, caller, shown, key, .. } => {
            let asking = asking(state, path);
            let caller = caller.as_deref().map(|caller| by_secret(caller, key.as_deref()));
            wrong_key(asking, key.as_deref(), caller.as_ref())
                .or_else(|| approval::refusal(planner.plan, state, path, caller.as_ref(), Some(&said(asking, answer))))
                .or_else(|| unanswerable(planner, state, path, answer))
                .or_else(|| not_seen(planner, asking?, shown.as_deref()?))
        }
        Event::Signalled { name, data, .. } => unwanted(planner, state, name, data),
        Event::Paused { .. } if state.paused => Some(Rejection::conflict("it is paused already")),
        Event::RunStopped { .. } if state.stopped.is_some() => Some(Rejection::conflict("it is stopped already")),
        Event::RunResumed { .. } if state.stopped.is_none() => Some(Rejection::untimely("it is not stopped")),
        Event::ConsentRevoked { .. } if state.consent_revoked => {
            Some(Rejection::conflict("its consent is revoked already"))
        }
        Event::HostSettled { .. } => {
            state.placement.host.as_ref().map(|host| Rejection::conflict(format!("its files are on `{host}`")))
        }
        Event::HostMissed { host, .. } | Event::HostLeft { host, .. }
            if state.placement.host.as_ref() != Some(host) =>
        {
            Some(Rejection::untimely(format!("its files are not on `{host}`")))
        }
        Event::HostMissed { host, then, .. } => host_lost::rejection(state, host, *then),
        Event::Unpaused { .. } if !state.paused && state.stopped.is_some() => {
            Some(Rejection::untimely("it is stopped, not paused").say(how_to_continue(state)))
        }
        Event::Unpaused { .. } if !state.paused => Some(Rejection::untimely("it is not paused")),
        _ => hosted::rejection(planner, state, event),
    }
}

/// The run is over, and how.
fn over(state: &State) -> Rejection {
    let how = state.finished.as_ref().map(|finished| match finished.outcome {
        Outcome::Success => ": it succeeded",
        Outcome::Failure => ": it failed",
        Outcome::Cancelled => ": it was cancelled",
    });
    Rejection::untimely(format!("the run is over{}", how.unwrap_or_default()))
}

fn unreached(path: &StepPath) -> Rejection {
    Rejection::not_found(format!("no step `{path}` was reached"))
}

/// The step asks nothing: because it has been answered, or at all.
fn unasked(inst: &StepInst) -> Rejection {
    match inst.answered {
        Some(_) => Rejection::conflict(format!("`{}` has been answered", inst.path)),
        None => Rejection::untimely(format!("`{}` asks nothing", inst.path)),
    }
}

/// The command that continues a run that is not over.
fn how_to_continue(state: &State) -> &'static str {
    match state.paused_at_limit() {
        _ if state.stopped.is_some() => "`longhaul resume RUN` continues it",
        Some("usd" | "tokens" | "steps" | "duration") => "`longhaul budget RUN` raises the limit at which it is paused",
        _ if state.paused => "`longhaul unpause RUN` continues it",
        _ => "if no engine is running it, `longhaul resume RUN` continues it",
    }
}

/// Whether a run can start again is found out by trying.
fn stays_shut(planner: Planner<'_>, state: &State, event: &Event) -> Option<Rejection> {
    if !state.is_finished() {
        return Some(Rejection::untimely("the run is not over").say(how_to_continue(state)));
    }
    let envelope = Envelope { v: VERSION, seq: state.seq + 1, at: state.now, event: event.clone() };
    state.clone().apply(planner.plan, planner.index, &envelope).err().map(|illegal| Rejection::untimely(illegal.0))
}

/// The step and its question, while it is open.
fn asking<'s>(state: &'s State, path: &StepPath) -> Option<(&'s StepInst, &'s Question)> {
    let step = state.find(path)?;
    Some((step, step.asks()?))
}

/// Who answers by a secret must have the one of this very question. It is looked at before all else.
fn wrong_key(asking: Option<(&StepInst, &Question)>, key: Option<&str>, caller: Option<&Caller>) -> Option<Rejection> {
    let expected = asking.and_then(|(_, question)| question.key.as_deref());
    let is_needed = caller.is_some_and(|caller| caller.auth == Auth::Secret);
    match key {
        Some(key) if expected != Some(key) => {
            Some(Rejection::forbidden("the secret is not the one of an open question of this step"))
        }
        None if is_needed => Some(Rejection::forbidden("the secret of the question is missing")),
        _ => None,
    }
}

/// Somebody who shows a secret answers by that, whatever an earlier version called it.
fn by_secret(caller: &Caller, key: Option<&str>) -> Caller {
    let auth = if key.is_some() { Auth::Secret } else { caller.auth };
    Caller { auth, ..caller.clone() }
}

/// An answer as the question understands it.
fn said(asking: Option<(&StepInst, &Question)>, answer: &Answer) -> Answer {
    asking.map_or_else(|| answer.clone(), |(_, question)| meant(question, answer.clone()))
}

/// How many people have to approve what a step asks.
fn needed(planner: Planner<'_>, state: &State, step: &StepInst, question: &Question) -> usize {
    let rule = planner.plan.step(step.step).approvals.as_ref();
    state.started.as_ref().map_or(1, |started| approval::needed(started, rule, question.kind))
}

/// With this approval: how many there are, and how many there have to be; `None` if those are enough, or it is none.
fn missing(
    planner: Planner<'_>,
    state: &State,
    step: &StepInst,
    question: &Question,
    answer: &Answer,
) -> Option<(usize, usize)> {
    let (given, needed) = (question.approved.len() + 1, needed(planner, state, step, question));
    (*answer == Answer::Approve && given < needed).then_some((given, needed))
}

/// Who was shown something else than is asked now has not answered that.
fn not_seen(planner: Planner<'_>, (step, question): (&StepInst, &Question), shown: &str) -> Option<Rejection> {
    let path = &step.path;
    (view::shown(planner.plan, step, question) != shown)
        .then(|| Rejection::conflict(format!("`{path}` asks something else by now")).with(Remedy::LookAgain))
}

fn unanswerable(planner: Planner<'_>, state: &State, path: &StepPath, answer: &Answer) -> Option<Rejection> {
    let Some(inst) = state.find(path) else { return Some(unreached(path)) };
    let Some(question) = inst.asks() else {
        return Some(unasked(inst));
    };
    let output = planner.plan.step(inst.step).output.schema.as_ref();
    let answer = meant(question, answer.clone());
    let alone = approval::not_a_vote(needed(planner, state, inst, question), &answer);
    let fits = |schema: Option<&Json>, value: &Json| misfit(path, schema?, value);
    let refused = match (question.kind, answer) {
        _ if alone.is_some() => alone,
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
            return fits(question.schema.as_ref(), &value);
        }
        (QuestionKind::Question, Answer::Approve) => return fits(question.schema.as_ref(), &Json::Null),
        (QuestionKind::Review, Answer::Value { value } | Answer::Edit { value })
        | (QuestionKind::Operator, Answer::Edit { value }) => return fits(output, &value),
        (QuestionKind::Approval | QuestionKind::Consent | QuestionKind::Review, Answer::Skip) => {
            Some(format!("only a step that cannot continue can be skipped; {}", takes(question)))
        }
        (QuestionKind::Question, Answer::Skip) if !planner.plan.step(inst.step).is_agent() => {
            Some("only a step that cannot continue can be skipped; it takes a value".to_owned())
        }
        (_, Answer::Approve | Answer::Deny { .. } | Answer::Skip) => None,
    };
    refused.map(|why| cannot_answer(path, &why))
}

fn cannot_answer(path: &StepPath, why: &str) -> Rejection {
    Rejection::invalid(format!("this cannot be the answer to `{path}`: {why}"))
}

/// A value that does not follow the schema of the question, with each place that does not fit.
fn misfit(path: &StepPath, schema: &Json, value: &Json) -> Option<Rejection> {
    let why = mismatch(schema, value)?;
    Some(cannot_answer(path, &why).with(Remedy::Follow(excerpt(schema))).at(violations(schema, value)))
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
    let is_one = |word: &str| question.choices.iter().any(|choice| choice == word);
    value.as_str().is_some_and(|word| is_one(word) || is_one(host_lost::current(word, question.kind)))
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
    Some(format!("{why}; it must follow {}", excerpt(schema)))
}

/// The beginning of a schema.
fn excerpt(schema: &Json) -> String {
    schema.to_string().chars().take(SCHEMA_CHARS_MAX).collect()
}

/// A signal goes to who has waited the longest. One that comes early must fit somebody who may wait for it later.
fn unwanted(planner: Planner<'_>, state: &State, name: &str, data: &Json) -> Option<Rejection> {
    let waits = |phase: &Phase| matches!(phase, Phase::Waiting { signal: Some(signal), .. } if signal == name);
    if let Some(inst) = state.waiting().find(|inst| waits(&inst.phase)) {
        let why = signal_misfit(planner.plan.step(inst.step), data);
        return why.map(|why| Rejection::invalid(format!("`{}` waits for another `{name}`: {why}", inst.path)));
    }
    let mut refusals = Vec::new();
    for step in &planner.plan.steps {
        match &step.form {
            Form::Wait(Wait::Event { name: text, .. }) if text.0.contains('{') => return None,
            Form::Wait(Wait::Event { name: text, .. }) if text.0.trim() == name => {
                refusals.push(signal_misfit(step, data)?);
            }
            _ => {}
        }
    }
    match refusals.into_iter().next() {
        Some(why) => Some(Rejection::invalid(format!("no step waits for such a `{name}`: {why}"))),
        None => Some(unknown_signal(planner, name)),
    }
}

/// No step of the workflow ever waits for this signal.
fn unknown_signal(planner: Planner<'_>, name: &str) -> Rejection {
    let mut known: Vec<String> = Vec::new();
    for step in &planner.plan.steps {
        if let Form::Wait(Wait::Event { name, .. }) = &step.form {
            known.push(format!("`{}`", name.0.trim()));
        }
    }
    known.sort();
    known.dedup();
    Rejection::not_found(format!("no step of this run waits for the signal `{name}`")).say(match known.as_slice() {
        [] => "it waits for no signal".to_owned(),
        known => format!("it can receive: {}", known.join(", ")),
    })
}

/// Why a `wait` does not take what a signal carries; `None` if it does.
pub(super) fn signal_misfit(step: &Step, data: &Json) -> Option<String> {
    match &step.form {
        Form::Wait(Wait::Event { schema, .. }) => against(schema.as_ref(), data),
        _ => None,
    }
}
