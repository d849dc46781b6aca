//! How far a session is.

use indexmap::IndexMap;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::view;
use longhaul_runtime::{Loaded, Work};
use serde_json::{Value, json};

use super::super::{journal, step_name};
use super::{gate, step, words};
use crate::desk::Desk;
use crate::mcp::tool::Problem;

/// How often each evaluator has found something wanting.
pub(super) type Rounds = IndexMap<String, u32>;

/// `progress` of an answer.
pub(super) fn data(run: &RunId, loaded: &Loaded, ready: &[Work], now: i64) -> Value {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let (completed, total) = view::counted(plan, state);
    let running: Vec<String> = view::held(state, now).iter().map(|held| step_name(&held.path)).collect();
    let status = words::progress(state, !ready.is_empty());
    let error = words::last_error(plan, state);
    json!({
        "workflow": plan.main().name,
        "task": state.started.as_ref().map(|started| started.task.as_str()).unwrap_or_default(),
        "status": status,
        "ready_steps": ready.iter().map(|work| step::ready(run, loaded, work)).collect::<Vec<_>>(),
        "running_steps": running,
        "completed_steps": completed,
        "total_steps": total,
        "outputs_available": view::outputs(plan, state),
        "pending_approval": view::questions(plan, state).first().map(gate::pending),
        "last_error": error,
        "message": message(status, ready.len(), error.as_deref()),
    })
}

fn message(status: &str, ready: usize, error: Option<&str>) -> String {
    match status {
        "ready" if ready == 0 => "steps are to be taken; call agent007_workflow_next".to_owned(),
        "ready" => format!("{ready} step(s) to do; submit each result with agent007_workflow_submit_step"),
        "awaiting-approval" => "a human decides before the run continues; see approval_gate".to_owned(),
        "succeeded" => "the workflow is complete".to_owned(),
        "failed" => format!("the workflow failed: {}", error.unwrap_or_default()),
        _ => "results are waited for; agent007_workflow_next gives you the open steps again".to_owned(),
    }
}

/// The steps at the top of the workflow, each with its state.
pub(super) fn steps(loaded: &Loaded, now: i64) -> IndexMap<String, &'static str> {
    let plan = &loaded.plan.0;
    let ids = plan.body(plan.main().body).steps.iter().map(|step| plan.step(*step).id.to_string());
    let mut steps: IndexMap<String, &'static str> = ids.map(|id| (id, "pending")).collect();
    for seen in view::steps(plan, &loaded.state, now).iter().filter(|step| !step.replaced) {
        steps.insert(step_name(&seen.path), words::step(seen));
    }
    steps
}

/// How often each evaluator has found something wanting so far.
pub(super) async fn rounds(desk: &Desk, run: &RunId, loaded: &Loaded) -> Result<Rounds, Problem> {
    let mut rounds = Rounds::new();
    if loaded.plan.0.steps.iter().all(|step| step.rewind.is_none()) {
        return Ok(rounds);
    }
    for name in journal::found(desk, run, |envelope| sent_back(loaded, envelope)).await? {
        *rounds.entry(name).or_default() += 1;
    }
    Ok(rounds)
}

/// The evaluator that an event is a bad verdict of.
fn sent_back(loaded: &Loaded, envelope: &Envelope) -> Option<String> {
    match &envelope.event {
        Event::Rewound { path, .. } => Some(step_name(path)),
        Event::StepEnded { path, end } => {
            let error = end.error.as_ref()?;
            let inst = loaded.state.find(path)?;
            let is_last =
                loaded.plan.0.step(inst.step).rewind.is_some() && error.message.contains("is not satisfied after");
            is_last.then(|| step_name(path))
        }
        _ => None,
    }
}
