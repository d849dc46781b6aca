//! A tool for each workflow, with its inputs as arguments. The server offers them only if configured.

use std::sync::Arc;

use longhaul_core::event::Driver;
use longhaul_core::plan::Plan;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use super::hosted;
use crate::app_state::{AppState, Order};
use crate::mcp::answers;
use crate::mcp::tool::{Call, Nature, Problem, Reply};

const PREFIX: &str = "workflow_start_";

/// The tools of all workflows that have no errors.
pub(crate) fn tools(desk: &AppState) -> Vec<Tool> {
    let mut listed = desk.listed();
    listed.dedup_by(|a, b| tool_name(&a.entry.name) == tool_name(&b.entry.name));
    listed.iter().filter_map(|listed| Some(tool(&listed.entry.name, listed.plan.as_ref()?))).collect()
}

/// The workflow of a tool.
pub(crate) fn named(desk: &AppState, tool: &str) -> Option<String> {
    let names = if desk.tool_per_workflow() { names(desk) } else { Vec::new() };
    names.into_iter().find(|name| tool_name(name) == tool)
}

/// Starts the workflow, hosted.
pub(crate) async fn call(mut call: Call, workflow: String) -> Result<Reply, Problem> {
    let mut arguments = std::mem::take(&mut call.arguments);
    let known = known(&call.state.plan(&workflow)?.1);
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(key)) {
        return Err(Problem::unknown("argument", unknown, &known));
    }
    let task = match arguments.remove("task") {
        None => String::new(),
        Some(Value::String(task)) => task,
        Some(_) => return Err(Problem::new("`task` is a text")),
    };
    let inputs = arguments.into_iter().collect();
    let run = call.state.start(&workflow, Order { task, inputs, run: None }, Driver::Client, &call.caller).await?;
    hosted::next(&call, &run).await
}

fn names(desk: &AppState) -> Vec<String> {
    let mut names: Vec<String> = desk.disk().library.all().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.dedup_by(|a, b| tool_name(a) == tool_name(b));
    names
}

fn known(plan: &Plan) -> Vec<String> {
    std::iter::once("task".to_owned()).chain(plan.main().inputs.keys().map(ToString::to_string)).collect()
}

/// The name of a tool: small letters, digits and single underscores, because clients accept only these.
fn tool_name(workflow: &str) -> String {
    let signs: String =
        workflow.to_lowercase().chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { ' ' }).collect();
    format!("{PREFIX}{}", signs.split_whitespace().collect::<Vec<_>>().join("_"))
}

fn tool(name: &str, plan: &Plan) -> Tool {
    let unit = plan.main();
    let about = format!(
        "Starts the workflow `{name}`, hosted: you do its steps. {}",
        unit.description.as_deref().unwrap_or_default()
    );
    let title = format!("Workflow {name}");
    Tool::new(tool_name(name), about, Arc::new(schema(plan)))
        .with_title(title.clone())
        .with_annotations(Nature::Adds.annotations(&title))
        .with_raw_output_schema(answers::hosted())
}

fn schema(plan: &Plan) -> JsonObject {
    let mut properties = JsonObject::new();
    properties.insert("task".to_owned(), json!({"type": "string", "description": "The task, in the user's words."}));
    for (name, input) in &plan.main().inputs {
        let mut schema = input.schema.clone();
        if let Some(object) = schema.as_object_mut() {
            object.extend(input.description.iter().map(|about| ("description".to_owned(), json!(about))));
            object.extend(input.default.iter().map(|default| ("default".to_owned(), default.clone())));
        }
        properties.insert(name.to_string(), schema);
    }
    let required: Vec<String> =
        plan.main().inputs.iter().filter(|(_, input)| input.is_required()).map(|(name, _)| name.to_string()).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}
