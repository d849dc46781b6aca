//! Prints the catalogue as a JSON Schema, for editors.

use serde_json::{Map, json};

use super::{Field, Shape, StepKindEntry, kinds, modifiers, top};
use crate::Json;

/// The JSON Schema of a workflow file.
pub fn workflow() -> Json {
    let mut steps: Vec<Json> = kinds::ALL.iter().map(|kind| step_of(kind)).collect();
    steps.push(decision());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Longhaul workflow",
        "$ref": "#/$defs/workflow",
        "$defs": {
            "workflow": object(top::ALL),
            "step": {"oneOf": steps},
            "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
            "body": {"oneOf": [{"$ref": "#/$defs/steps"}, body_mapping(), {"$ref": "#/$defs/step"}]},
            "json_schema": {"type": ["object", "array", "string", "boolean"]},
        }
    })
}

fn step_of(kind: &StepKindEntry) -> Json {
    let mut properties = properties(modifiers::ALL);
    properties.extend(properties_of(kind.fields));
    properties.insert(kind.key.to_owned(), documented(&kind.shape, kind.doc));
    let mut required = vec![kind.key];
    required.extend(kind.fields.iter().filter(|field| field.required).map(|field| field.key));
    json!({
        "title": kind.title, "type": "object", "properties": properties,
        "required": required, "additionalProperties": false,
    })
}

/// A step that carries only `next`.
fn decision() -> Json {
    json!({
        "title": "a decision", "type": "object", "properties": properties(modifiers::ALL),
        "required": ["next"], "additionalProperties": false,
    })
}

fn body_mapping() -> Json {
    let keys: Vec<Field> = top::ALL.iter().filter(|field| top::BODY_KEYS.contains(&field.key)).copied().collect();
    object(&keys)
}

fn object(fields: &[Field]) -> Json {
    let mut schema = json!({"type": "object", "properties": properties(fields), "additionalProperties": false});
    let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| field.key).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn properties(fields: &[Field]) -> Map<String, Json> {
    properties_of(fields).collect()
}

fn properties_of(fields: &[Field]) -> impl Iterator<Item = (String, Json)> + '_ {
    fields.iter().map(|field| (field.key.to_owned(), documented(&field.shape, field.doc)))
}

fn documented(shape: &Shape, doc: &str) -> Json {
    let mut schema = shape_schema(shape);
    if let Json::Object(map) = &mut schema {
        map.insert("description".to_owned(), json!(doc));
    }
    schema
}

fn shape_schema(shape: &Shape) -> Json {
    match shape {
        Shape::Any | Shape::Json | Shape::Computed => json!({}),
        Shape::Text
        | Shape::Template
        | Shape::Shell
        | Shape::Time
        | Shape::Cron
        | Shape::TimeZone
        | Shape::Glob
        | Shape::PromptFile
        | Shape::ScriptFile => json!({"type": "string"}),
        Shape::Expr => json!({"type": ["string", "boolean", "number"]}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Int(min, max) => integer(*min, *max),
        Shape::Number => json!({"type": "number", "minimum": 0}),
        Shape::Duration => json!({"type": "string", "pattern": DURATION}),
        Shape::DurationOrNone => json!({"type": "string", "pattern": format!("{DURATION}|^none$")}),
        Shape::Label => json!({"type": "string", "pattern": "^\\S+$"}),
        Shape::Approvers => json!({"type": "string", "pattern": "^(initiator|anyone|role:.+)$"}),
        Shape::Id => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$"}),
        Shape::Name => json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,79}$"}),
        Shape::Choice(words) => json!({"enum": words}),
        Shape::List(item) => json!({"type": "array", "items": shape_schema(item)}),
        Shape::OneOrMany(item) => {
            json!({"anyOf": [shape_schema(item), {"type": "array", "items": shape_schema(item)}]})
        }
        Shape::Map(value) => json!({"type": "object", "additionalProperties": shape_schema(value)}),
        Shape::Object(fields) => object(fields),
        Shape::Schema => json!({"$ref": "#/$defs/json_schema"}),
        Shape::Body => json!({"$ref": "#/$defs/body"}),
        Shape::Steps => json!({"$ref": "#/$defs/steps"}),
        Shape::Workflow => json!({"$ref": "#/$defs/workflow"}),
        Shape::Either(shapes) => json!({"anyOf": shapes.iter().map(shape_schema).collect::<Vec<_>>()}),
    }
}

const DURATION: &str = r"^([0-9]+(ms|s|m|h|d|w))+$";

fn integer(min: u64, max: u64) -> Json {
    let mut schema = json!({"type": "integer", "minimum": min});
    if max != u64::MAX {
        schema["maximum"] = json!(max);
    }
    schema
}
