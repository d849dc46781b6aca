//! Translates the trigger node: its fields become the workflow's inputs.

use longhaul_core::catalog::top::{INPUT, TYPE_NAMES};

use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{no_effect, on_one_line, respelled, value_name};
use crate::source::Node;

const KEYS: &[&str] = &["id", "type", "name", "label", "description", "dataSchema", "data_schema", "ui", "position"];

/// An input: its native name, and the entry that declares it.
type Input = (String, (Node, Node));

/// The inputs that a trigger node describes, by native name.
pub(super) fn inputs(node: &Node, out: &mut Vec<Diagnostic>) -> Vec<Input> {
    let Some(mut reader) = Reader::open(node, "a `trigger` node", KEYS, out) else { return Vec::new() };
    let key = if reader.get("dataSchema").is_some() { "dataSchema" } else { "data_schema" };
    reader.map(key);
    let Some(schema) = reader.get(key).filter(|schema| schema.entries().is_some()) else { return Vec::new() };
    let fields = schema.get("properties").unwrap_or(schema);
    let required: Vec<&str> =
        schema.get("required").and_then(Node::items).unwrap_or_default().iter().filter_map(Node::scalar).collect();
    let fields = fields.entries().unwrap_or_default().iter();
    fields.filter_map(|(name, field)| input(name, field, &required, out)).collect()
}

fn input(key: &Node, field: &Node, required: &[&str], out: &mut Vec<Diagnostic>) -> Option<Input> {
    let word = key.scalar().unwrap_or_default();
    if word == "task" {
        return None;
    }
    let name = value_name(word);
    if name != word {
        out.push(respelled(key.span, "the input", word, &name));
    }
    let needed = required.contains(&word) || field.get("required").and_then(Node::as_bool) == Some(true);
    let mut entries = vec![("type", Node::plain(field.span, type_of(field)))];
    for (key, value) in field.entries().unwrap_or_default() {
        match INPUT.iter().find(|known| Some(known.key) == key.scalar()).map(|known| known.key) {
            Some("type" | "required") => {}
            Some(known) => entries.push((known, value.clone())),
            None => {
                let word = key.scalar().unwrap_or_default();
                out.push(no_effect(key.span, word, "inputs are not checked against it"));
            }
        }
    }
    if !needed && field.get("default").is_none() {
        entries.push(("required", Node::plain(field.span, "false")));
    }
    Some((name.clone(), (Node::plain(key.span, name), on_one_line(Node::map(field.span, entries)))))
}

/// The type of a field: `{type: string}`, or `string` alone.
fn type_of(field: &Node) -> &str {
    let word = field.get("type").unwrap_or(field).scalar().unwrap_or_default();
    if TYPE_NAMES.contains(&word) { word } else { "any" }
}
