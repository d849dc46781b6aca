//! `workflow_list` and `workflow_create`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::told;
use crate::app_state::Listed;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::tools::workflow_create;

pub(super) const WORKFLOW_LIST: Tool = Tool {
    name: "agent007_workflow_list",
    title: "agent007: list workflows",
    about: "The workflows that can be started here.",
    nature: Nature::Looks,
    schema: schema::<ListArgs>,
    call: |call| Box::pin(list(call)),
};

pub(super) const WORKFLOW_CREATE: Tool = Tool {
    name: "agent007_workflow_create",
    title: "agent007: save a workflow",
    about: "Checks the YAML of a workflow and, if it has no errors, saves it in the project. Starts nothing.",
    nature: Nature::Ends,
    schema: schema::<CreateArgs>,
    call: |call| Box::pin(create(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateArgs {
    /// What it will be called.
    name: String,
    /// What it says.
    yaml: String,
    /// Whether one of the same name is replaced.
    #[serde(default)]
    overwrite: bool,
}

async fn list(mut call: Call) -> Result<Reply, Problem> {
    let ListArgs {} = call.arguments()?;
    let rows: Vec<Value> = call.state.listed().iter().map(row).collect();
    Ok(told(json!({"workflows": rows})))
}

fn row(listed: &Listed) -> Value {
    let ids = |plan: &longhaul_core::plan::Plan| {
        let steps = plan.body(plan.main().body).steps.iter();
        steps.map(|step| plan.step(*step).id.to_string()).collect::<Vec<_>>()
    };
    let steps = listed.plan.as_deref().map(ids);
    json!({"name": listed.entry.name, "description": listed.description, "valid": steps.is_some(), "steps": steps})
}

async fn create(mut call: Call) -> Result<Reply, Problem> {
    let CreateArgs { name, yaml, overwrite } = call.arguments()?;
    let arguments = json!({"name": name, "text": yaml, "overwrite": overwrite});
    call.arguments = arguments.as_object().cloned().unwrap_or_default();
    (workflow_create::TOOL.call)(call).await
}
