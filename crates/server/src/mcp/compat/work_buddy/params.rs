//! Checks the parameters of a workflow against its declared inputs before a run starts.

use longhaul_core::Json;
use longhaul_core::plan::Plan;
use serde_json::{Map, Value};

use crate::app_state::Order;
use crate::mcp::tool::Problem;

/// Parses parameters: an object, or the text of one.
pub(super) fn read(params: Option<Json>) -> Result<Map<String, Json>, Problem> {
    let wrong = || Problem::new("`params` is an object, or the text of one");
    match params {
        None | Some(Json::Null) => Ok(Map::new()),
        Some(Json::Object(params)) => Ok(params),
        Some(Json::String(text)) if text.trim().is_empty() => Ok(Map::new()),
        Some(Json::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(params)) => Ok(params),
            _ => Err(wrong()),
        },
        Some(_) => Err(wrong()),
    }
}

/// The task and inputs of a run. A workflow that declares no `task` also takes one, because native workflows read it.
pub(super) fn order(name: &str, plan: &Plan, params: &Map<String, Json>) -> Result<Order, Problem> {
    let inputs = &plan.main().inputs;
    let declared: Vec<String> = inputs.keys().map(ToString::to_string).collect();
    let given: Vec<String> = params.keys().filter(|key| declared.contains(key) || *key != "task").cloned().collect();
    let unknown: Vec<String> = given.iter().filter(|key| !declared.contains(key)).cloned().collect();
    if declared.is_empty() && !given.is_empty() {
        return Err(Problem::new(format!(
            "Workflow '{name}' declares no params_schema but received params: {}",
            list(given)
        )));
    }
    if !unknown.is_empty() {
        return Err(Problem::new(format!(
            "Unknown param(s) {} for workflow '{name}'; declared params: {}",
            list(unknown),
            list(declared)
        )));
    }
    let required = inputs.iter().filter(|(_, input)| input.is_required()).map(|(name, _)| name.to_string());
    let missing: Vec<String> = required.filter(|name| !params.contains_key(name)).collect();
    if !missing.is_empty() {
        return Err(Problem::new(format!("Missing required param(s) {} for workflow '{name}'", list(missing))));
    }
    let task = params.get("task").and_then(Json::as_str).unwrap_or_default().to_owned();
    let inputs = given.into_iter().filter_map(|key| Some((key.clone(), params.get(&key)?.clone()))).collect();
    Ok(Order { task, inputs, run: None })
}

fn list(mut names: Vec<String>) -> String {
    names.sort();
    format!("[{}]", names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "))
}
