//! `output`: the whole output of a run or a step.

use longhaul_core::Json;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::app_state::AppState;
use crate::mcp::answers::Found;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "output",
    title: "Output of a step",
    about: "The whole output of a step, even if a prompt showed only its beginning. Name the output or the step. \
            With `key`, one part of it. Without a step, the outputs that the run returned.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(output(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The name of an output, or a step.
    #[serde(default)]
    step: Option<String>,
    /// One key of the output, if the output is an object.
    #[serde(default)]
    key: Option<String>,
}

async fn output(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let found = match &args.step {
        Some(step) => value(&call.state, &args.run, step).await?,
        None => returned(&call.state, &args.run).await?,
    };
    let value = match &args.key {
        None => found,
        Some(key) => part(&found, key)?,
    };
    let text = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
    Ok(Reply::Done(text, json!(Found { value })))
}

/// The output with a name, or the output of a step.
pub(crate) async fn value(desk: &AppState, run: &str, step: &str) -> Result<Json, Problem> {
    let (run, loaded) = desk.load(run).await?;
    let names = loaded.state.top_names();
    if let Some(value) = names.get(step) {
        return Ok(value.clone());
    }
    let path: Option<StepPath> = step.parse().ok();
    match path.and_then(|path| loaded.state.find(&path)).filter(|inst| inst.outcome.ended.is_some()) {
        Some(inst) => Ok(inst.outcome.result.output.clone()),
        None => Err(Problem::new(format!("{run} has no output `{step}` yet; there are: {}", known(&loaded.state)))),
    }
}

fn known(state: &State) -> String {
    let mut names: Vec<String> = state.top_names().into_keys().collect();
    names.extend(state.steps().iter().filter(|step| step.outcome.ended.is_some()).map(|step| step.path.to_string()));
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

async fn returned(desk: &AppState, run: &str) -> Result<Json, Problem> {
    let (run, loaded) = desk.load(run).await?;
    match &loaded.state.finished {
        Some(finished) => Ok(json!(finished.outputs)),
        None => Err(Problem::new(format!("{run} is not over; name a `step`, there are: {}", known(&loaded.state)))),
    }
}

fn part(value: &Json, key: &str) -> Result<Json, Problem> {
    let keys: Vec<String> = value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    value.get(key).cloned().ok_or_else(|| Problem::unknown("key", key, &keys))
}
