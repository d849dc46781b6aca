//! Prompts: one for each workflow, which editors show as a slash command.

use longhaul_core::plan::{Plan, Unit};
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::desk::Desk;

/// The argument that every workflow has.
const TASK: &str = "task";

/// A prompt for each workflow that has no errors.
pub(crate) fn list(desk: &Desk) -> Vec<Prompt> {
    desk.listed().iter().filter_map(|listed| Some(prompt(&listed.entry.name, listed.plan.as_ref()?))).collect()
}

fn prompt(name: &str, plan: &Plan) -> Prompt {
    let unit = plan.main();
    let task = PromptArgument::new(TASK).with_description("What is to be done").with_required(false);
    let inputs = unit.inputs.iter().map(|(name, input)| {
        let about = input.description.clone().unwrap_or_else(|| input.value_type().to_string());
        PromptArgument::new(name.as_str()).with_description(about).with_required(input.is_required())
    });
    // Some clients leave out what has no description.
    let about = unit.description.clone().unwrap_or_else(|| format!("The workflow `{name}`"));
    Prompt::new(name, Some(about), Some(std::iter::once(task).chain(inputs).collect()))
}

/// What a model is told to do with a workflow.
pub(crate) fn get(desk: &Desk, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let (_, plan) = desk.plan(name).map_err(|problem| ErrorData::invalid_params(problem.0, None))?;
    let unit = plan.main();
    if let Some(unknown) = arguments.keys().find(|key| *key != TASK && !knows(unit, key)) {
        let known: Vec<String> =
            std::iter::once(TASK.to_owned()).chain(unit.inputs.keys().map(ToString::to_string)).collect();
        return Err(ErrorData::invalid_params(crate::mcp::tool::Problem::unknown("argument", unknown, &known).0, None));
    }
    let text = instructions(name, arguments);
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn knows(unit: &Unit, key: &str) -> bool {
    unit.inputs.keys().any(|name| name.as_str() == key)
}

fn instructions(name: &str, arguments: &JsonObject) -> String {
    let task = arguments.get(TASK).and_then(Value::as_str).unwrap_or_default();
    let inputs: JsonObject =
        arguments.iter().filter(|(key, _)| *key != TASK).map(|(key, value)| (key.clone(), typed(value))).collect();
    let mut call = serde_json::Map::new();
    call.insert("workflow".to_owned(), name.into());
    call.insert(TASK.to_owned(), task.into());
    if !inputs.is_empty() {
        call.insert("inputs".to_owned(), Value::Object(inputs));
    }
    format!(
        "Carry out the Longhaul workflow `{name}` to its end.\n\n\
         1. Call the tool `start` with {}.\n\
         2. Do every step that is handed out as its prompt says, and hand its result in with `submit`.\n\
         3. Continue until the status is `succeeded` or `failed`. At a gate, show me what is to be decided and wait for my words.",
        Value::Object(call)
    )
}

/// Arguments of prompts are texts; one that is JSON is meant as such.
fn typed(value: &Value) -> Value {
    let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| value.clone())
}
