//! `longhaul.*`: tools that ask the engine itself.
//!
//! **Invariant:** these tools only read. A step cannot use them to start, answer, change or end a run.

use longhaul_core::Json;
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use longhaul_core::view;
use longhaul_store::{Query, RunRow};
use serde::Deserialize;
use serde_json::{Map, json};

use super::{Attempt, Done, arguments};
use crate::engine::Engine;

/// How many runs to list by default.
const LIMIT: usize = 20;
/// The most runs to list.
const LIMIT_MAX: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListRuns {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    workflow: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    run: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    run: String,
    #[serde(default)]
    step: Option<String>,
}

pub(super) async fn make(attempt: &Attempt, tool: &str) -> Done {
    let engine = Engine { shared: attempt.shared.clone() };
    let args = arguments(attempt);
    let answer = match tool {
        "list_runs" => list_runs(&engine, args).await,
        "status" => status(&engine, args).await,
        "output" => output(&engine, args).await,
        other => Err(refused(other)),
    };
    match answer {
        Ok(answer) => Done::with(answer),
        Err(message) => Done::failed(ErrorClass::Failed, message),
    }
}

fn refused(tool: &str) -> String {
    format!(
        "`longhaul` has no tool `{tool}` for steps: inside a run Longhaul can only be looked at, with list_runs, status and output"
    )
}

fn read<T: serde::de::DeserializeOwned>(args: Map<String, Json>) -> Result<T, String> {
    serde_json::from_value(Json::Object(args)).map_err(|error| format!("`args` do not fit: {error}"))
}

async fn list_runs(engine: &Engine, args: Map<String, Json>) -> Result<Json, String> {
    let args: ListRuns = read(args)?;
    let limit = args.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
    let query =
        Query { statuses: args.status.into_iter().collect(), workflow: args.workflow, limit, ..Query::default() };
    let rows = engine.list(query).await.map_err(|error| error.to_string())?;
    Ok(rows.iter().map(row).collect())
}

fn row(row: &RunRow) -> Json {
    let brief: view::Brief = serde_json::from_str(&row.head.summary).unwrap_or_default();
    json!({"run": row.run, "workflow": row.head.workflow, "status": row.head.status, "task": brief.line.task,
           "updated_at": row.updated_ms})
}

async fn status(engine: &Engine, args: Map<String, Json>) -> Result<Json, String> {
    let args: Status = read(args)?;
    let run = engine.find(&args.run).await.map_err(|error| error.to_string())?;
    let loaded = engine.load(&run).await.map_err(|error| error.to_string())?;
    let mut status = json!(view::run(&loaded.plan.0, &loaded.state, engine.now_ms()));
    status["run"] = json!(run);
    Ok(status)
}

async fn output(engine: &Engine, args: Map<String, Json>) -> Result<Json, String> {
    let args: Output = read(args)?;
    let run = engine.find(&args.run).await.map_err(|error| error.to_string())?;
    let loaded = engine.load(&run).await.map_err(|error| error.to_string())?;
    let Some(step) = args.step else {
        let finished = loaded.state.finished.as_ref().map(|finished| json!(finished.outputs));
        return finished.ok_or_else(|| format!("{run} is not over; name a `step`"));
    };
    if let Some(value) = loaded.state.top_names().get(&step) {
        return Ok(value.clone());
    }
    let path: Option<StepPath> = step.parse().ok();
    let found = path.and_then(|path| loaded.state.find(&path)).filter(|found| found.outcome.ended.is_some());
    found.map(|found| found.outcome.result.output.clone()).ok_or_else(|| format!("{run} has no output `{step}` yet"))
}
