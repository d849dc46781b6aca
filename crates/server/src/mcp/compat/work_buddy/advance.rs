//! `wb_advance`: takes the result of the current step and answers with the next one.

use longhaul_core::Json;
use longhaul_core::plan::{Parse, Step};
use longhaul_core::view::{self, Held};
use longhaul_runtime::{Error, Loaded, Submission};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{step_name, told};
use super::response::{self, Since};
use super::{id, init, words};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "wb_advance",
    title: "work-buddy: advance a workflow",
    about: "Takes the result of the current step as step_result and answers with the next step. A result that does not fit is told, and the step \
            stays the current one.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(advance(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The run, as wb_run gave it.
    workflow_run_id: String,
    /// The result of the current step: an object, or a text.
    #[serde(default)]
    step_result: Option<Json>,
}

async fn advance(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    init::required(&call)?;
    let run = id::find(&call.state, &args.workflow_run_id).await?;
    let loaded = call.state.engine().load(&run).await?;
    let Some(held) = running(&call, &loaded) else {
        // This client holds no step: give it the next one, and take no result.
        let handed = call.state.engine().next(&run, &call.caller.client).await?;
        return Ok(told(response::of(&call.state, &handed, Since::default()).await?));
    };
    let step = loaded.state.find(&held.path).map(|inst| loaded.plan.0.step(inst.step));
    let result = args.step_result.unwrap_or_default();
    let is_empty = result.is_null() || result.as_object().is_some_and(serde_json::Map::is_empty);
    let output = step.map_or(result.clone(), |step| sent(step, result));
    let submission = Submission { output, attempt: Some(held.attempt), ..Submission::default() };
    match call.state.engine().submit(&run, &held.path.to_string(), submission, &call.caller.client).await {
        Ok(handed) => {
            let since = Since { start: None, prior: Some(step_name(&held.path)) };
            Ok(told(response::of(&call.state, &handed, since).await?))
        }
        Err(Error::Misfit { why, .. }) => Ok(told(response::mismatch(&run, &loaded, &held.path, is_empty, &why))),
        Err(error) => Err(error.into()),
    }
}

/// The step that the client holds. If it holds several, the one that it was shown.
fn running(call: &Call, loaded: &Loaded) -> Option<Held> {
    let held = view::held(&loaded.state, call.state.engine().now_ms()).into_iter();
    held.filter(|held| held.by == call.caller.client).min_by_key(|held| words::position(&loaded.plan.0, &held.path))
}

/// A result as the engine reads it. If the step promises a value, a text is also a value.
fn sent(step: &Step, result: Json) -> Json {
    let text = match result {
        Json::String(text) if step.output.parse == Parse::Json => text,
        other => return other,
    };
    match serde_json::from_str(&text) {
        Ok(Json::String(inner)) => Json::String(Json::String(inner).to_string()),
        Ok(value) => value,
        Err(_) => Json::String(Json::String(text).to_string()),
    }
}
