//! `agent007_workflow_<stem>`: a tool for each workflow.
//!
//! The original looks these up first, so a workflow called `status` hides the tool of that name. Here the fixed tools win.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{flow, table};
use crate::app_state::AppState;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply};

const PREFIX: &str = "agent007_workflow_";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What is to be done.
    task: String,
}

/// The tools of all workflows that have no errors.
pub(crate) fn tools(desk: &AppState) -> Vec<Tool> {
    let mut listed = desk.listed();
    listed.retain(|listed| listed.plan.is_some() && !is_taken(&tool_name(&listed.entry.name)));
    listed.dedup_by(|a, b| tool_name(&a.entry.name) == tool_name(&b.entry.name));
    listed.iter().map(|listed| tool(&listed.entry.name, &listed.description)).collect()
}

/// The workflow of a tool.
pub(crate) fn named(desk: &AppState, tool: &str) -> Option<String> {
    let mut names: Vec<String> = desk.disk().library.all().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.into_iter().find(|name| tool_name(name) == tool)
}

/// Starts the workflow, hosted.
pub(crate) async fn call(mut call: Call, workflow: String) -> Result<Reply, Problem> {
    let Args { task } = call.arguments()?;
    flow::started(&call, &workflow, task).await
}

fn is_taken(name: &str) -> bool {
    table().iter().any(|tool| tool.name == name)
}

/// Small letters, digits and single underscores.
fn tool_name(workflow: &str) -> String {
    let signs: String =
        workflow.to_lowercase().chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { ' ' }).collect();
    format!("{PREFIX}{}", signs.split_whitespace().collect::<Vec<_>>().join("_"))
}

fn tool(name: &str, description: &str) -> Tool {
    let title = format!("agent007: workflow {name}");
    let arguments: JsonObject = schema::<Args>();
    Tool::new(tool_name(name), format!("Starts the workflow {name} with a task. {description}"), Arc::new(arguments))
        .with_title(title.clone())
        .with_annotations(Nature::Adds.annotations(&title))
}
