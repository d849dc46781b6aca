//! `run_history` and `run_show`: lists runs, and shows one.

use longhaul_core::view as fold;
use longhaul_store::{Query, RunRow};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::told;
use super::view;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// How many runs to list by default.
const LIMIT: usize = 10;
/// The most runs to list.
const LIMIT_MAX: usize = 200;

pub(super) const RUN_HISTORY: Tool = Tool {
    name: "agent007_run_history",
    title: "agent007: run history",
    about: "The latest runs, newest first.",
    nature: Nature::Looks,
    schema: schema::<HistoryArgs>,
    call: |call| Box::pin(history(call)),
};

pub(super) const RUN_SHOW: Tool = Tool {
    name: "agent007_run_show",
    title: "agent007: show a run",
    about: "One run: how it stands, its steps, and its outputs as far as they are short.",
    nature: Nature::Looks,
    schema: schema::<ShowArgs>,
    call: |call| Box::pin(show(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HistoryArgs {
    /// At most so many; 10 unless you say.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowArgs {
    /// The id of the run: its session.
    id: String,
}

async fn history(mut call: Call) -> Result<Reply, Problem> {
    let HistoryArgs { limit } = call.arguments()?;
    let query = Query { limit: limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX), ..Query::default() };
    let runs: Vec<Value> = call.state.engine().list(query).await?.iter().map(row).collect();
    Ok(told(json!({"runs": runs})))
}

fn row(row: &RunRow) -> Value {
    let summary: Value = serde_json::from_str(&row.head.summary).unwrap_or_default();
    json!({
        "id": row.run, "workflow": row.head.workflow, "task": summary["task"], "status": row.head.status,
        "updated_at": row.updated_ms,
    })
}

async fn show(mut call: Call) -> Result<Reply, Problem> {
    let ShowArgs { id } = call.arguments()?;
    let (run, loaded) = call.state.load(&id).await?;
    let now = call.state.engine().now_ms();
    let glance = fold::run(&loaded.plan.0, &loaded.state, now);
    let mut data = view::session(&call.state, &run, &[]).await?;
    data["id"] = json!(run);
    data["kind"] = json!(if loaded.state.is_hosted() { "workflow-hosted" } else { "workflow" });
    data["status"] = json!(glance.status);
    data["usage"] = json!(glance.usage);
    data["duration_ms"] = json!(glance.duration_ms);
    let steps = fold::steps(&loaded.plan.0, &loaded.state, now);
    data["steps"] =
        steps.iter().map(|step| json!({"step": step.path, "status": step.status, "output": step.output})).collect();
    Ok(told(data))
}
