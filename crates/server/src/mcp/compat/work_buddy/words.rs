//! The words of work-buddy for the states of steps.

use indexmap::IndexMap;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Plan;
use longhaul_core::status::{Awaited, StepStatus};
use longhaul_core::view;
use longhaul_runtime::Loaded;

use super::super::step_name;

/// The steps at the top of a workflow in their written order, each with its state.
pub(super) fn steps(loaded: &Loaded, now: i64) -> IndexMap<String, &'static str> {
    let plan = &loaded.plan.0;
    let mut steps: IndexMap<String, &'static str> = ids(plan).map(|id| (id, "pending")).collect();
    for seen in view::steps(plan, &loaded.state, now).iter().filter(|step| !step.replaced) {
        steps.insert(step_name(&seen.path), word(seen));
    }
    let pending: Vec<String> = steps.iter().filter(|(_, word)| **word == "pending").map(|(id, _)| id.clone()).collect();
    let available: Vec<String> = pending.into_iter().filter(|id| is_available(plan, &steps, id)).collect();
    for id in available.into_iter().filter(|_| !loaded.state.is_finished()) {
        steps.insert(id, "available");
    }
    steps
}

fn ids(plan: &Plan) -> impl Iterator<Item = String> {
    plan.body(plan.main().body).steps.iter().map(|step| plan.step(*step).id.to_string())
}

fn is_available(plan: &Plan, steps: &IndexMap<String, &'static str>, id: &str) -> bool {
    let step = plan.body(plan.main().body).steps.iter().map(|at| plan.step(*at)).find(|step| step.id.as_str() == id);
    let is_done = |id: &str| matches!(steps.get(id), Some(&"completed" | &"skipped"));
    step.is_some_and(|step| step.deps.iter().all(|dep| is_done(plan.step(*dep).id.as_str())))
}

fn word(step: &view::StepView) -> &'static str {
    match (step.status, step.waiting_for) {
        (StepStatus::Succeeded, _) => "completed",
        (StepStatus::Skipped, _) => "skipped",
        (StepStatus::Failed | StepStatus::Cancelled, _) => "failed",
        (StepStatus::Waiting, Some(Awaited::Client)) if step.agent.is_none() => "available",
        (StepStatus::Waiting, Some(Awaited::Timer)) => "retry_pending",
        (StepStatus::Waiting, Some(awaited)) if awaited.is_person() => "blocked",
        (StepStatus::Waiting | StepStatus::Running, _) => "running",
        (StepStatus::Pending, _) => "pending",
    }
}

/// The icon of a state in a summary.
pub(super) fn icon(word: &str) -> &'static str {
    match word {
        "completed" => "OK",
        "failed" => "XX",
        "skipped" => "--",
        "running" => ">>",
        "available" => "**",
        _ => "!!",
    }
}

/// The position of a step in the workflow. Clients get steps in this order.
pub(super) fn position(plan: &Plan, path: &StepPath) -> usize {
    let outer = path.segments().first().map(|segment| segment.id.as_str()).unwrap_or_default();
    ids(plan).position(|id| id == outer).unwrap_or(usize::MAX)
}
