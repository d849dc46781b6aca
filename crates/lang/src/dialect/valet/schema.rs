//! `outputSchema`: a flat map from field to type, as a JSON Schema.

use longhaul_core::Json;
use longhaul_core::id::is_name;
use serde_json::{Map, json};

use crate::diagnostic::Diagnostic;
use crate::source::Node;

const TYPES: &[&str] = &["string", "number", "boolean", "array", "object"];

/// The schema natively: every field must be there, and each may be null.
pub(super) fn output_schema(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let Some(entries) = node.entries() else {
        out.push(bad(node, format!("`outputSchema` must be a mapping, but this is {}", node.kind_words())));
        return None;
    };
    let mut properties = Map::new();
    for (key, value) in entries {
        let name = key.scalar().unwrap_or_default();
        if !is_name(name) {
            out.push(
                bad(key, format!("`{name}` cannot be a field"))
                    .help("a field is a letter or `_`, then letters, digits and `_`"),
            );
        } else if let Some(field) = field(name, value, out) {
            properties.insert(name.to_owned(), field);
        }
    }
    let required: Vec<Json> = properties.keys().cloned().map(Json::String).collect();
    Some(Node::of_json(node.span, &json!({"type": "object", "properties": properties, "required": required})))
}

fn field(name: &str, node: &Node, out: &mut Vec<Diagnostic>) -> Option<Json> {
    let Some(entries) = node.entries() else {
        out.push(bad(node, format!("field `{name}` must be a mapping with a `type`")));
        return None;
    };
    for (key, _) in entries {
        let word = key.scalar().unwrap_or_default();
        if !["type", "description"].contains(&word) {
            out.push(
                bad(key, format!("a field of `outputSchema` has no key `{word}`"))
                    .help("it can have: type, description"),
            );
        }
    }
    let Some(kind) = node.get("type") else {
        out.push(bad(node, format!("field `{name}` needs a `type`")));
        return None;
    };
    let word = kind.scalar().unwrap_or_default();
    if !TYPES.contains(&word) {
        let error = bad(kind, format!("`{word}` is not a type"));
        out.push(
            error.did_you_mean(word, TYPES.iter().copied(), |known| Some(format!("types are: {}", known.join(", ")))),
        );
        return None;
    }
    let mut field = Map::from_iter([("type".to_owned(), json!([word, "null"]))]);
    if let Some(description) = node.get("description").and_then(Node::as_text) {
        field.insert("description".to_owned(), json!(description));
    }
    Some(Json::Object(field))
}

fn bad(node: &Node, message: String) -> Diagnostic {
    Diagnostic::error("LH0505", node.span, message).label("not a schema")
}
