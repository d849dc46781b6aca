//! What a step's result must look like, and how much of it is shown: `result_schema`, `visibility`.

use longhaul_core::Json;
use serde_json::{Map, json};

use super::unit::{TYPES, native_type};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{broken_rule, on_one_line};
use crate::source::{Node, Value};

const SCHEMA_KEYS: &[&str] = &["required_keys", "key_types", "min_items"];
const MODES: &[&str] = &["full", "summary", "none", "auto"];

/// `output` of a step: its result is a value, checked and shown as the unit says.
pub(super) fn output(reader: &mut Reader<'_, '_>) -> Option<(&'static str, Node)> {
    let span = reader.node.span;
    if reader.get("workflow_ref").is_some() && reader.get("auto_run").is_none() && reader.get("result_schema").is_none()
    {
        let shown = shown(reader);
        return (!shown.is_empty()).then(|| ("output", on_one_line(Node::map(span, shown))));
    }
    let mut entries = vec![("parse", Node::plain(span, "json"))];
    entries.extend(schema(reader).map(|schema| ("schema", schema)));
    entries.extend(shown(reader));
    Some(("output", on_one_line(Node::map(span, entries))))
}

fn schema(reader: &mut Reader<'_, '_>) -> Option<Node> {
    let written = reader.get("result_schema")?;
    let mut reader = Reader::open(written, "`result_schema`", SCHEMA_KEYS, reader.out())?;
    let required: Vec<Json> = reader.texts("required_keys").into_iter().map(Node::to_json).collect();
    let mut properties = Map::new();
    for key in required.iter().filter_map(Json::as_str) {
        properties.insert(key.to_owned(), json!({}));
    }
    for (key, value) in reader.map("key_types") {
        let kind = type_of(value, reader.out());
        properties.insert(text(key), kind.map_or_else(|| json!({}), |kind| json!({"type": kind})));
    }
    for (key, value) in reader.map("min_items") {
        match value.scalar_json().and_then(|value| value.as_u64()) {
            Some(count) => {
                let field = properties.entry(text(key)).or_insert_with(|| json!({"type": "array"}));
                if let Json::Object(field) = field {
                    field.insert("minItems".to_owned(), json!(count));
                }
            }
            None => {
                reader.report(crate::dialect::reader::wrong_kind(value, "an entry of `min_items`", "a whole number"))
            }
        }
    }
    // The original looks at these keys alone and lets others pass.
    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    schema.insert("properties".to_owned(), Json::Object(properties));
    schema.insert("required".to_owned(), Json::Array(required));
    schema.insert("additionalProperties".to_owned(), json!(true));
    Some(Node::of_json(written.span, &Json::Object(schema)))
}

fn text(key: &Node) -> String {
    key.scalar().unwrap_or_default().to_owned()
}

fn type_of(value: &Node, out: &mut Vec<Diagnostic>) -> Option<&'static str> {
    let word = value.scalar().unwrap_or_default();
    let native = native_type(word);
    if native.is_none() {
        let known = TYPES.iter().map(|(theirs, _)| *theirs).take(6);
        let error = Diagnostic::error("LH0505", value.span, format!("`{word}` is not a type")).label("not a schema");
        out.push(error.did_you_mean(word, known, |known| Some(format!("types are: {}", known.join(", ")))));
    }
    native.filter(|kind| *kind != "any")
}

/// `show` and `keys`.
fn shown(reader: &mut Reader<'_, '_>) -> Vec<(&'static str, Node)> {
    let Some(written) = reader.get("visibility") else { return Vec::new() };
    if written.entries().is_none() {
        return mode(written, reader.out()).map(|mode| ("show", mode)).into_iter().collect();
    }
    let Some(mut reader) = Reader::open(written, "`visibility`", &["mode", "include_keys"], reader.out()) else {
        return Vec::new();
    };
    let keys: Vec<Node> = reader.texts("include_keys").into_iter().cloned().collect();
    let written_mode = reader.get("mode");
    let mode = written_mode.and_then(|node| mode(node, reader.out()));
    let mut entries: Vec<_> = mode.map(|mode| ("show", mode)).into_iter().collect();
    if let Some(first) = keys.first() {
        entries.push(("keys", Node::new(first.span, Value::Seq(keys, true))));
    }
    entries
}

fn mode(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let word = node.scalar().unwrap_or_default();
    if MODES.contains(&word) {
        return Some(Node::plain(node.span, word));
    }
    let message = format!("`visibility` cannot be `{word}`");
    let list = |known: &[&str]| Some(format!("it can be: {}", known.join(", ")));
    out.push(broken_rule(node.span, message, "unknown word").did_you_mean(word, MODES.iter().copied(), list));
    None
}
