//! The words of agent007 for the status of a run, and for why it failed.

use longhaul_core::event::{Answer, Ended};
use longhaul_core::plan::{Outcome, Plan, Step};
use longhaul_core::state::{State, StepInst};
use longhaul_core::status::{Awaited, StepStatus};
use longhaul_core::view;

/// The progress of a run in one word. `has_work` is whether the caller gets steps to do.
pub(super) fn progress(state: &State, has_work: bool) -> &'static str {
    match state.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Success) => "succeeded",
        Some(Outcome::Failure | Outcome::Cancelled) => "failed",
        None if has_work => "ready",
        None if state.questions().next().is_some() => "awaiting-approval",
        None if !view::free(state).is_empty() && !state.paused => "ready",
        None => "awaiting-outputs",
    }
}

/// The state of a session in one word.
pub(super) fn session(state: &State) -> &'static str {
    match state.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Success) => "succeeded",
        Some(Outcome::Failure | Outcome::Cancelled) => "failed",
        None if state.questions().next().is_some() => "waiting-approval",
        None => "running",
    }
}

/// The state of a step in one word.
pub(super) fn step(step: &view::StepView) -> &'static str {
    match (step.status, step.waiting_for) {
        (StepStatus::Succeeded, _) => "completed",
        (StepStatus::Skipped, _) => "skipped",
        (StepStatus::Failed | StepStatus::Cancelled, _) => "failed",
        (StepStatus::Waiting, Some(awaited)) if awaited.is_person() => "awaiting-approval",
        (StepStatus::Waiting, Some(Awaited::Client)) if step.agent.is_none() => "pending",
        (StepStatus::Waiting | StepStatus::Running, _) => "running",
        (StepStatus::Pending, _) => "pending",
    }
}

/// Why a run failed.
pub(super) fn last_error(plan: &Plan, state: &State) -> Option<String> {
    let finished = state.finished.as_ref().filter(|finished| finished.outcome != Outcome::Success)?;
    if finished.outcome == Outcome::Cancelled {
        return Some("the run was cancelled".to_owned());
    }
    let failed = state.steps().iter().rev().find(|inst| inst.outcome.ended == Some(Ended::Failed) && !inst.outcome.ok);
    let own = failed.and_then(|inst| of_step(plan.step(inst.step), inst));
    own.or_else(|| finished.message.clone()).or_else(|| Some("the run failed".to_owned()))
}

fn of_step(step: &Step, inst: &StepInst) -> Option<String> {
    let message = &inst.outcome.error.as_ref()?.message;
    let id = &step.id;
    if let (Some(_), Some(Answer::Deny { reason })) = (&step.review, inst.last_answer()) {
        let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Some(format!("approval denied for step '{id}'{why}"));
    }
    let rewind = step.rewind.as_ref().filter(|_| message.contains("is not satisfied after"))?;
    Some(format!("evaluator '{id}' exceeded max retries ({})", rewind.max))
}
