//! `wb_status` and `wb_step_result`: the state of runs, and the results of steps.

use longhaul_core::Json;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_core::view::counted;
use longhaul_core::view::shown::whole;
use longhaul_store::Query;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{journal, step_name, told};
use super::{id, init, words};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// The most runs to list.
const LISTED_MAX: usize = 200;

pub(super) const STATUS: Tool = Tool {
    name: "wb_status",
    title: "work-buddy: status",
    about: "How a workflow run stands; without arguments, the runs that are active. Changes nothing.",
    nature: Nature::Looks,
    schema: schema::<StatusArgs>,
    call: |call| Box::pin(status(call)),
};

pub(super) const STEP_RESULT: Tool = Tool {
    name: "wb_step_result",
    title: "work-buddy: result of a step",
    about: "The whole result of a step, also where an answer showed only what it consists of; with key, one part of it.",
    nature: Nature::Looks,
    schema: schema::<ResultArgs>,
    call: |call| Box::pin(step_result(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatusArgs {
    /// The run.
    #[serde(default)]
    workflow_run_id: Option<String>,
    /// Of a function; none of those that are here runs for long, so there is nothing to look at.
    #[serde(default)]
    operation_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResultArgs {
    /// The run.
    workflow_run_id: String,
    /// The step.
    step_id: String,
    /// One key of the result.
    #[serde(default)]
    key: Option<String>,
}

async fn status(mut call: Call) -> Result<Reply, Problem> {
    let args: StatusArgs = call.arguments()?;
    init::required(&call)?;
    match (args.workflow_run_id, args.operation_id) {
        (_, Some(operation)) => {
            Err(Problem::new(format!("there is no operation '{operation}'; every call here ends by itself")))
        }
        (Some(run), None) => Ok(told(one(&call, &run).await?)),
        (None, None) => Ok(told(json!({"type": "workflow_list", "active_workflows": active(&call).await?}))),
    }
}

async fn one(call: &Call, text: &str) -> Result<Value, Problem> {
    let run = id::find(&call.state, text).await?;
    let loaded = call.state.engine().load(&run).await?;
    let (done, total) = counted(&loaded.plan.0, &loaded.state);
    let steps = words::steps(&loaded, call.state.engine().now_ms());
    let current = steps.iter().find(|(_, word)| **word == "running").map(|(id, _)| id);
    Ok(json!({
        "type": "workflow_status", "workflow_run_id": id::shown(&run), "workflow_name": loaded.plan.0.main().name,
        "status": word(&loaded.state), "progress": format!("{done}/{total} steps completed"), "current_step": current,
        "steps": steps, "reason": why(call, &run, &loaded.state).await?,
        "diagram": longhaul_draw::mermaid(&loaded.plan.0),
    }))
}

/// Why a run ended, or why it was cancelled.
async fn why(call: &Call, run: &RunId, state: &State) -> Result<Option<String>, Problem> {
    let Some(finished) = &state.finished else { return Ok(None) };
    let reason = |envelope: &Envelope| match &envelope.event {
        Event::CancelRequested { reason, .. } => reason.clone(),
        _ => None,
    };
    match finished.outcome {
        Outcome::Cancelled => Ok(journal::found(&call.state, run, reason).await?.pop()),
        Outcome::Success | Outcome::Failure => Ok(finished.message.clone()),
    }
}

/// The status of a run in one word.
pub(super) fn word(state: &State) -> &'static str {
    match state.status() {
        RunStatus::Succeeded => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Queued | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused | RunStatus::Stopped => {
            "running"
        }
    }
}

/// The unfinished runs.
pub(super) async fn active(call: &Call) -> Result<Vec<Value>, Problem> {
    let statuses = RunStatus::words_of(RunStatus::OPEN);
    let query = Query { prefix: Some(id::STORED.to_owned()), statuses, limit: LISTED_MAX, ..Query::default() };
    let rows = call.state.engine().list(query).await?;
    let row = |row: &longhaul_store::RunRow| json!({"workflow_run_id": id::shown(&row.run), "workflow_name": row.head.workflow});
    Ok(rows.iter().map(row).collect())
}

async fn step_result(mut call: Call) -> Result<Reply, Problem> {
    let args: ResultArgs = call.arguments()?;
    init::required(&call)?;
    let run = id::find(&call.state, &args.workflow_run_id).await?;
    let loaded = call.state.engine().load(&run).await?;
    let value = left(&loaded.state, &args.step_id)?;
    let value = match &args.key {
        None => value,
        Some(key) => value.get(key).ok_or_else(|| no_key(value, key))?,
    };
    let mut data = json!({
        "type": "step_result", "workflow_run_id": id::shown(&run), "step_id": args.step_id,
        "result": whole(&args.step_id, value),
    });
    if let Some(key) = args.key {
        data["key"] = json!(key);
    }
    Ok(told(data))
}

/// The result of a step, from its last visit.
fn left<'s>(state: &'s State, step: &str) -> Result<&'s Json, Problem> {
    let ended = || state.steps().iter().filter(|inst| inst.outcome.ended.is_some());
    let found = ended().rfind(|inst| step_name(&inst.path) == step);
    let known = || ended().map(|inst| step_name(&inst.path)).collect::<Vec<_>>();
    found.map(|inst| &inst.outcome.result.output).ok_or_else(|| Problem::unknown("result of a step", step, &known()))
}

fn no_key(value: &Json, key: &str) -> Problem {
    let keys: Vec<String> = value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    Problem::unknown("key", key, &keys)
}
