//! The answers of tools as data: the types, and their schemas for clients.
//!
//! **Invariant:** a tool that is listed with a schema answers with that schema. A failure is only text.

mod driven;
mod hosted;
mod rest;

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::ReplaceBoolSchemas;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

pub(crate) use driven::Driven;
pub(crate) use hosted::{Gate, Hosted, Step};
pub(crate) use rest::{Beat, Checked, Found, Row, Runs, Saved, Shown, ShownStep, Skills, Usage, Workflow, Workflows};

/// Adds the schema of its answer to a tool.
pub(crate) fn with(tool: rmcp::model::Tool) -> rmcp::model::Tool {
    match of(&tool.name) {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    }
}

/// The schema of the answer of a fixed tool.
fn of(tool: &str) -> Option<JsonObject> {
    Some(match tool {
        "workflow_list" => one::<Workflows>(),
        "workflow_show" => one::<Shown>(),
        "workflow_check" => one::<Checked>(),
        "workflow_create" => one::<Saved>(),
        "start" | "next" | "submit" => one::<Hosted>(),
        "heartbeat" => one::<Beat>(),
        "run" | "status" | "answer" | "cancel" | "retry" => any(&[part::<Hosted>, part::<Driven>]),
        "output" => one::<Found>(),
        "runs" => one::<Runs>(),
        "dispatch" => any(&[part::<Hosted>, part::<Workflows>, part::<Usage>, part::<Skills>]),
        _ => return None,
    })
}

/// The schema of the answer of a workflow's tool.
pub(crate) fn hosted() -> Arc<JsonObject> {
    Arc::new(one::<Hosted>())
}

fn generator() -> SchemaGenerator {
    // The protocol allows only objects as schemas of properties.
    let mut objects = ReplaceBoolSchemas::default();
    objects.skip_additional_properties = true;
    SchemaSettings::draft2020_12().for_serialize().with_transform(objects).into_generator()
}

fn one<T: JsonSchema>() -> JsonObject {
    tidy(generator().into_root_schema_for::<T>().to_value())
}

fn part<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// One of several schemas, wrapped in an object, because the protocol requires one.
fn any(parts: &[fn(&mut SchemaGenerator) -> Value]) -> JsonObject {
    let mut generator = generator();
    let parts: Vec<Value> = parts.iter().map(|part| part(&mut generator)).collect();
    let definitions = generator.take_definitions(true);
    tidy(json!({"type": "object", "anyOf": parts, "$defs": definitions}))
}

/// Removes parts that only schema tools use.
fn tidy(mut schema: Value) -> JsonObject {
    let Some(object) = schema.as_object_mut() else { return JsonObject::new() };
    for key in ["$schema", "title", "description"] {
        object.remove(key);
    }
    std::mem::take(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools::table;

    #[test]
    fn every_tool_that_is_always_there_says_what_it_answers() {
        for tool in table() {
            let schema = Value::Object(of(tool.name).unwrap_or_default());
            assert_eq!(schema["type"], "object", "{}: {schema:#}", tool.name);
            assert!(schema["properties"].is_object() || schema["anyOf"].is_array(), "{}: {schema:#}", tool.name);
        }
    }

    #[test]
    fn what_may_be_left_out_is_not_required() {
        let schema = Value::Object(one::<Hosted>());
        let required = schema["required"].as_array().unwrap();
        assert!(required.contains(&json!("ready")) && !required.contains(&json!("gates")), "{required:?}");
    }
}
