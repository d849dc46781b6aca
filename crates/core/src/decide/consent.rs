//! Whether a step may do what it does: by the policy, by the consent that the run has, or by asking.
//!
//! **Invariant:** nothing that the policy denies is begun, and nothing that it wants asked for is begun without consent. What
//! was consented to is done once, with whatever attempts that takes.

use super::judge::{left_out, refused};
use super::start::rendered;
use super::{Decision, Planner};
use crate::Json;
use crate::consent::{RunGrant, Terms};
use crate::event::{Answer, Event, Failure, QuestionKind, Skip};
use crate::plan::{Consent, ErrorClass, Form, Risk, Step};
use crate::policy::{Action, REFUSAL, Ruling, Verdict};
use crate::state::{Answered, State, StepInst, StepNo};

/// The most of its work that a question for consent shows.
const WORK_CHARS_MAX: usize = 2000;

/// What stands before a step.
pub(super) enum Held {
    /// Nothing; the event says by what, where anybody would want to know.
    Free(Option<Event>),
    /// This has to happen first, or instead.
    Until(Decision),
}

/// Holds a step that is about to begin to the terms of its run.
pub(super) fn held(planner: Planner<'_>, state: &State, at: StepNo) -> Held {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let terms = state.started.as_ref().and_then(|started| started.consent.as_ref());
    let Some(terms) = terms.filter(|_| matches!(step.form, Form::Work(_)) && inst.is_untried() && !is_given(inst))
    else {
        return Held::Free(None);
    };
    let Ruling { verdict, rule, is_default } = terms.policy.judge_all(&actions(step));
    match verdict {
        Verdict::Deny => {
            let message = format!("{REFUSAL} {} ({rule})", what(step));
            Held::Until(refused(planner, state, at, Failure::new(ErrorClass::Refused, message)))
        }
        _ if step.consent == Consent::Individual => Held::Until(ask(planner, state, at)),
        Verdict::Allow => Held::Free((!is_default || step.risk.is_some()).then(|| by(inst, rule))),
        Verdict::Ask if covered(planner, state, step, terms) => {
            Held::Free(Some(by(inst, "the run was started for it".to_owned())))
        }
        Verdict::Ask => Held::Until(ask(planner, state, at)),
    }
}

fn by(inst: &StepInst, rule: String) -> Event {
    Event::Consented { path: inst.path.clone(), rule }
}

/// What a step does, as far as the policy cares: what it says it uses, else its kind.
pub fn actions(step: &Step) -> Vec<Action> {
    let risk = step.risk.unwrap_or_default();
    let kind = match &step.form {
        Form::Work(work) => Some(work.kind.as_str()),
        _ => None,
    };
    let named = step.uses.iter().map(String::as_str).chain(kind.filter(|_| step.uses.is_empty()));
    named.map(|name| Action::new(name, risk)).collect()
}

fn what(step: &Step) -> String {
    let names: Vec<String> = actions(step).into_iter().map(|action| action.name).collect();
    format!("do `{}`", names.join("`, `"))
}

fn is_given(inst: &StepInst) -> bool {
    let is_yes = |answered: &Answered| answered.kind == QuestionKind::Consent && answered.answer == Answer::Approve;
    inst.answered.as_deref().is_some_and(is_yes)
}

fn covered(planner: Planner<'_>, state: &State, step: &Step, terms: &Terms) -> bool {
    let grant = grant_of(planner, state, terms, state.now);
    step.risk.unwrap_or_default() < Risk::High && grant.live && !grant.suspended
}

/// How the consent stands that a run has by being started.
pub fn run_grant(planner: Planner<'_>, state: &State, now: i64) -> RunGrant {
    let terms = state.started.as_ref().and_then(|started| started.consent.clone()).unwrap_or_default();
    grant_of(planner, state, &terms, now)
}

fn grant_of(planner: Planner<'_>, state: &State, terms: &Terms, now: i64) -> RunGrant {
    let in_time = terms.until.is_none_or(|until| now < until);
    let live = terms.granted && in_time && !state.consent_revoked && !state.is_finished();
    let is_individual = |inst: &StepInst| planner.plan.step(inst.step).consent == Consent::Individual;
    let asks = |inst: &&StepInst| inst.asks().is_some_and(|question| question.kind == QuestionKind::Consent);
    let at_work = state.begun().any(is_individual);
    let suspended = at_work || state.waiting().filter(asks).any(is_individual);
    RunGrant { workflow: planner.plan.main().name.clone(), live, suspended }
}

fn ask(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let risk = step.risk.map_or_else(String::new, |risk| format!(", of {risk} risk"));
    Decision::of([Event::QuestionAsked {
        path: inst.path.clone(),
        kind: QuestionKind::Consent,
        text: format!("`{}` is about to {}{risk}{}. May it?", inst.path, what(step), work(planner, state, at)),
        choices: Vec::new(),
        schema: None,
        due: None,
        error: None,
        key: None,
    }])
}

/// The work itself, as it would be done now: who consents should know to what.
fn work(planner: Planner<'_>, state: &State, at: StepNo) -> String {
    let Ok(start) = rendered(planner, state, at, 1) else { return String::new() };
    let text = Json::Object(start.params).to_string();
    let more = if text.chars().count() > WORK_CHARS_MAX { "…" } else { "" };
    format!(": {}{more}", text.chars().take(WORK_CHARS_MAX).collect::<String>())
}

/// What follows from an answer that is not a plain yes: that one puts the step back to where it was.
pub(super) fn answered(planner: Planner<'_>, state: &State, at: StepNo, answer: &Answer) -> Decision {
    match answer {
        Answer::Skip => left_out(planner, state, at, Skip::Denied),
        Answer::Deny { reason: Some(reason) } => {
            not_consented(planner, state, at, format!("nobody consented: {reason}"))
        }
        _ => not_consented(planner, state, at, "nobody consented".to_owned()),
    }
}

fn not_consented(planner: Planner<'_>, state: &State, at: StepNo, message: String) -> Decision {
    refused(planner, state, at, Failure::new(ErrorClass::Refused, message))
}
