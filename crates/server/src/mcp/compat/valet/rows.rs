//! The rows that clients see, in the words of Valet.

use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::explain::moment;
use longhaul_core::plan::Plan;
use longhaul_core::registry::schedule::Times;
use longhaul_core::registry::trigger::TriggerDefinition;
use longhaul_core::registry::{Armed, Proposal, RegisteredWorkflow, Version};
use longhaul_core::state::State;
use longhaul_core::status::{RunStatus, StepStatus};
use longhaul_core::view::{self, StepView};
use serde_json::json;

/// A workflow of the registry, without its text.
pub(super) fn workflow(name: &str, kept: &RegisteredWorkflow) -> Json {
    let about = &kept.about;
    let text = &kept.current().text;
    json!({
        "id": name, "name": about.title.as_deref().unwrap_or(name), "slug": about.slug, "description": about.description,
        "version": kept.version, "enabled": about.enabled, "tags": about.tags, "workflowHash": text.hash, "textHash": text.raw,
        "createdAt": moment(kept.created_at), "updatedAt": moment(kept.updated_at),
    })
}

/// A workflow with its text.
pub(super) fn workflow_with_text(name: &str, kept: &RegisteredWorkflow) -> Json {
    let text = &kept.current().text.text;
    let mut row = workflow(name, kept);
    row["data"] = serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone()));
    row
}

/// A version in a history.
pub(super) fn version(version: &Version, is_current: bool) -> Json {
    json!({
        "workflowHash": version.text.hash, "textHash": version.text.raw, "workflowVersion": version.version,
        "source": version.source.word(), "createdBy": version.by, "createdAt": moment(version.at), "notes": version.notes,
        "isCurrent": is_current, "workflowData": version.text.text,
    })
}

/// A proposal.
pub(super) fn proposal(id: u64, proposal: &Proposal, now: i64) -> Json {
    let proposing = &proposal.proposing;
    json!({
        "id": id.to_string(), "workflowId": proposal.workflow, "status": proposal.status(now).word(),
        "baseWorkflowHash": proposing.base, "workflowHash": proposing.text.hash, "proposal": proposing.text.text,
        "diffText": proposing.diff, "executionId": proposing.run, "proposedBySessionId": proposing.session,
        "proposedBy": proposing.by, "createdAt": moment(proposal.at), "expiresAt": moment(proposing.expires_at),
        "reviewedBy": proposal.reviewed.as_ref().and_then(|(_, by)| by.as_ref()),
        "reviewedAt": proposal.reviewed_at.map(moment), "reviewNotes": proposal.notes,
        "appliedAt": proposal.applied_at.map(moment),
    })
}

/// A trigger, without its secret.
pub(super) fn trigger(id: &str, armed: &Armed, now: i64) -> Json {
    let mut row = armed.trigger.shown();
    let next = match &armed.trigger.kind {
        TriggerDefinition::Schedule(schedule) if armed.trigger.enabled => {
            Times::of(schedule).ok().and_then(|times| times.after(now))
        }
        _ => None,
    };
    row["id"] = json!(id);
    row["workflowId"] = json!(armed.trigger.workflow);
    row["variableMapping"] = json!(armed.trigger.mapping);
    row["lastRunAt"] = json!(armed.last.map(moment));
    row["nextRunAt"] = json!(next.map(moment));
    if let Some(row) = row.as_object_mut() {
        row.remove("workflow");
        row.remove("mapping");
    }
    row
}

/// The status of a run, in the words of Valet.
pub(super) fn status(ours: RunStatus, asks: bool) -> &'static str {
    match ours {
        RunStatus::Queued => "pending",
        RunStatus::Succeeded => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Waiting if asks => "waiting_approval",
        RunStatus::Running | RunStatus::Waiting | RunStatus::Paused | RunStatus::Stopped => "running",
    }
}

/// A run.
pub(super) fn execution(run: &str, plan: &Plan, state: &State, now: i64) -> Json {
    let glance = view::run(plan, state, now);
    let started = state.started.as_ref();
    let trigger = started.and_then(|started| started.trigger.clone()).unwrap_or_default();
    let asks = !view::questions(plan, state).is_empty();
    let status = status(glance.status, asks);
    json!({
        "id": run, "workflowId": trigger.workflow_id.as_ref().unwrap_or(&glance.workflow), "workflowName": glance.workflow,
        "workflowHash": trigger.workflow_hash, "status": status, "triggerType": trigger.kind,
        "variables": started.map(|started| &started.inputs), "outputs": glance.outputs,
        "error": matches!(status, "failed" | "cancelled").then(|| glance.message.clone().or_else(|| why(plan, state, now))),
        "startedAt": moment(glance.started_at), "completedAt": glance.ended_at.map(moment), "durationMs": glance.duration_ms,
    })
}

/// Why a run ended, if it has no message. Uses the reasons of Valet if one fits.
fn why(plan: &Plan, state: &State, now: i64) -> Option<String> {
    let steps = view::steps(plan, state, now);
    let ended = steps
        .iter()
        .find(|step| matches!(step.status, StepStatus::Failed | StepStatus::Cancelled) && step.error.is_some())?;
    let said = ended.error.as_ref().map(|error| error.message.clone())?;
    let answered = state.find(&ended.path).and_then(|inst| inst.last_answer());
    Some(match answered.filter(|_| ended.kind == "approve") {
        Some(Answer::Deny { reason }) => {
            format!("approval_denied{}", reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}")))
        }
        Some(Answer::TimedOut) => format!("approval_timeout: {said}"),
        _ => said,
    })
}

/// All steps that were reached. An outer step comes before its inner ones.
pub(super) fn steps(steps: &[StepView]) -> Vec<Json> {
    let mut rows = Vec::new();
    steps.iter().for_each(|step| add(&mut rows, step));
    rows
}

fn add(rows: &mut Vec<Json>, step: &StepView) {
    let path = step.path.to_string();
    let id = path.rsplit('/').next().unwrap_or_default().to_owned();
    rows.push(json!({
        "stepId": id, "path": path, "attempt": step.attempts, "type": step.kind, "status": step_status(step),
        "output": step.output, "error": step.error.as_ref().map(|error| &error.message),
        "startedAt": step.started_at.map(moment), "completedAt": step.ended_at.map(moment),
    }));
    step.steps.iter().for_each(|inner| add(rows, inner));
}

fn step_status(step: &StepView) -> &'static str {
    match (step.status, step.waiting_for) {
        (StepStatus::Succeeded, _) => "completed",
        (StepStatus::Waiting, Some(awaited)) if awaited.is_person() => "waiting_approval",
        (StepStatus::Waiting, _) => "running",
        (other, _) => other.word(),
    }
}
