//! `runs`: lists runs.

use longhaul_core::status::RunStatus;
use longhaul_runtime::Attendance;
use longhaul_store::{Query, RunRow};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::attended_row;
use crate::mcp::answers::{Row, Runs};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// How many runs to list by default.
const LIMIT: usize = 20;
/// The most runs to list.
const LIMIT_MAX: usize = 200;

pub(crate) const TOOL: Tool = Tool {
    name: "runs",
    title: "List runs",
    about: "Runs, newest first: id, workflow, status, task.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(runs(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Only runs with this status: queued, running, waiting, paused, stopped, succeeded, failed or cancelled.
    #[serde(default)]
    status: Option<String>,
    /// Only runs of this workflow.
    #[serde(default)]
    workflow: Option<String>,
    /// At most this many; the default is 20.
    #[serde(default)]
    limit: Option<usize>,
}

async fn runs(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    if let Some(unknown) = args.status.iter().find(|word| word.parse::<RunStatus>().is_err()) {
        return Err(Problem::unknown(
            "status",
            unknown,
            &RunStatus::ALL.iter().map(RunStatus::to_string).collect::<Vec<_>>(),
        ));
    }
    let query = Query {
        statuses: args.status.into_iter().collect(),
        workflow: args.workflow,
        limit: args.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX),
        ..Query::default()
    };
    let (listed, attendance) = (call.state.engine().list(query).await?, call.state.engine().attendance().await?);
    let rows: Vec<Row> = listed.iter().map(|listed| row(listed, &attendance)).collect();
    let text = |row: &Row| {
        let (is, task) = (row.standing.is.for_people(), row.task.as_str().unwrap_or_default());
        format!("{} {is} {} {task}", row.run, row.workflow)
    };
    let lines: Vec<String> = rows.iter().map(text).collect();
    let lines = if lines.is_empty() { "there are none".to_owned() } else { lines.join("\n") };
    Ok(Reply::Done(lines, json!(Runs { runs: rows })))
}

fn row(row: &RunRow, attendance: &Attendance) -> Row {
    let mut summary: Value = serde_json::from_str(&row.head.summary).unwrap_or_default();
    Row {
        run: row.run.to_string(),
        workflow: row.head.workflow.clone(),
        status: row.head.status.clone(),
        standing: attended_row(row, attendance).standing,
        task: summary.get_mut("task").map(Value::take).unwrap_or_default(),
        updated_at: row.updated_ms,
    }
}
