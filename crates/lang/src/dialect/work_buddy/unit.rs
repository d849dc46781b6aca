//! A unit: what stands around its steps.

use longhaul_core::Json;

use super::step::Steps;
use crate::diagnostic::{Diagnostic, closest};
use crate::dialect::Native;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{literal_text, no_effect, no_effect_note, on_one_line, respelled, value_name};
use crate::source::{Node, Value};

const KEYS: &[&str] = &[
    "kind",
    "name",
    "description",
    "tags",
    "aliases",
    "parents",
    "dev_notes",
    "workflow_name",
    "execution",
    "allow_override",
    "steps",
    "step_instructions",
    "content",
    "command",
    "params_schema",
    "available_when",
    "schema_version",
];

/// How the types of parameters and results are called there and here.
pub(super) const TYPES: &[(&str, &str)] = &[
    ("str", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("dict", "object"),
    ("string", "string"),
    ("integer", "integer"),
    ("number", "number"),
    ("boolean", "boolean"),
    ("array", "array"),
    ("object", "object"),
    ("any", "any"),
];

/// Whether a unit has steps.
pub(super) fn has_steps(unit: &Node) -> bool {
    unit.get("steps").and_then(Node::items).is_some_and(|steps| !steps.is_empty())
}

/// A unit in native keys.
pub(super) fn to_native(unit: &Node, out: &mut Vec<Diagnostic>) -> Native {
    let Some(mut reader) = Reader::open(unit, "a workflow", KEYS, out) else {
        return Native { name: None, node: unit.clone() };
    };
    let name = reader.required_said("workflow_name");
    let mut entries: Vec<(&str, Node)> = name.map(|name| ("name", name.clone())).into_iter().collect();
    let description = reader.said("description").or_else(|| reader.said("name"));
    entries.extend(description.map(|text| ("description", text.clone())));
    entries.extend(words("tags", reader.texts("tags"), &reader));
    entries.extend(aliases(&mut reader));
    entries.extend(context(&mut reader).map(|context| ("context", context)));
    entries.extend(inputs(&mut reader).map(|inputs| ("inputs", inputs)));
    entries.push(("defaults", defaults(&mut reader)));
    let span = unit.span;
    entries.push(("limits", on_one_line(Node::map(span, [("parallel", Node::plain(span, "1"))]))));
    gates(&mut reader);
    let name = name.and_then(Node::scalar).map(str::to_owned);
    entries.push(("steps", steps(&mut reader)));
    Native { name, node: Node::map(span, entries) }
}

fn words(key: &'static str, texts: Vec<&Node>, reader: &Reader<'_, '_>) -> Option<(&'static str, Node)> {
    let span = texts.first().map_or(reader.node.span, |text| text.span);
    let list = Value::Seq(texts.into_iter().cloned().collect(), true);
    matches!(&list, Value::Seq(items, _) if !items.is_empty()).then(|| (key, Node::new(span, list)))
}

/// Other names; the slash command is one of them.
fn aliases(reader: &mut Reader<'_, '_>) -> Option<(&'static str, Node)> {
    let mut names = reader.texts("aliases");
    if let Some(command) = reader.said("command")
        && !names.iter().any(|name| name.scalar() == command.scalar())
    {
        names.push(command);
    }
    words("aliases", names, reader)
}

/// `content.full`, told once at the start.
fn context(reader: &mut Reader<'_, '_>) -> Option<Node> {
    reader.map("content");
    let content = reader.get("content").filter(|content| content.entries().is_some())?;
    Reader::again(content, "`content`", reader.out()).said("full").map(literal_text)
}

fn inputs(reader: &mut Reader<'_, '_>) -> Option<Node> {
    let span = reader.get("params_schema")?.span;
    let mut inputs = Vec::new();
    for (key, value) in reader.map("params_schema") {
        inputs.extend(input(key, value, reader.out()));
    }
    (!inputs.is_empty()).then(|| Node::new(span, Value::Map(inputs, false)))
}

fn input(key: &Node, value: &Node, out: &mut Vec<Diagnostic>) -> Option<(Node, Node)> {
    let word = key.scalar().unwrap_or_default();
    let name = input_name(word);
    if name != word {
        out.push(respelled(key.span, "the parameter", word, &name));
    }
    let keys = &["type", "description", "required", "default", "enum"];
    let mut reader = Reader::open(value, format!("the parameter `{word}`"), keys, out)?;
    let required = reader.flag("required") == Some(true);
    let type_word = reader.text("type").map_or("any", |node| {
        let word = node.scalar().unwrap_or_default();
        native_type(word).unwrap_or_else(|| {
            let known: Vec<&str> = TYPES.iter().map(|(theirs, _)| *theirs).collect();
            let warning = no_effect(node.span, word, "it is not a type, so any value is accepted");
            let help = closest(word, &known).map(|best| format!("did you mean `{best}`?"));
            reader.report(Diagnostic { help, ..warning });
            "any"
        })
    });
    let mut entries = vec![("type", Node::plain(value.span, type_word))];
    entries.extend(reader.text("description").map(|text| ("description", text.clone())));
    entries.extend(["default", "enum"].into_iter().filter_map(|key| Some((key, reader.get(key)?.clone()))));
    if !required && reader.get("default").is_none() {
        entries.push(("required", Node::plain(value.span, "false")));
    }
    Some((Node::plain(key.span, name), on_one_line(Node::map(value.span, entries))))
}

/// The native name of a parameter. `task` is an input like any other there.
pub(super) fn input_name(word: &str) -> String {
    if word == "task" { word.to_owned() } else { value_name(word) }
}

/// The native word for a type.
pub(super) fn native_type(word: &str) -> Option<&'static str> {
    TYPES.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours)
}

fn defaults(reader: &mut Reader<'_, '_>) -> Node {
    let policy = policy(reader);
    let span = reader.node.span;
    let policy = policy.unwrap_or_else(|| Node::plain(span, "main"));
    let agent = Node::map(span, [("driver", Node::plain(span, "host")), ("policy", policy)]);
    on_one_line(Node::map(span, [("agent", on_one_line(agent))]))
}

/// `execution` as a policy.
pub(super) fn policy(reader: &mut Reader<'_, '_>) -> Option<Node> {
    let written = reader.said("execution")?;
    let word = written.scalar().unwrap_or_default();
    if ["main", "subagent"].contains(&word) {
        return Some(written.clone());
    }
    let message = format!("`execution` cannot be `{word}`");
    let error = Diagnostic::error("LH0603", written.span, message).label("unknown word");
    reader.report(error.help("it can be: main, subagent"));
    None
}

/// What decides there whether a run may start or deviate.
fn gates(reader: &mut Reader<'_, '_>) {
    if let Some((key, value)) = reader.node.entry("allow_override")
        && value.scalar_json() == Some(Json::Bool(false))
    {
        let why = "the policy of a step is advice to the host";
        reader.report(no_effect_note(key.span, "allow_override", why));
    }
    reader.flag("allow_override");
    if let Some((key, _)) = reader.node.entry("available_when").filter(|(_, value)| !value.is_null()) {
        reader.report(no_effect(key.span, "available_when", "the workflow can always be started"));
    }
}

fn steps(reader: &mut Reader<'_, '_>) -> Node {
    let unit = reader.node;
    let steps = reader.list("steps");
    reader.map("step_instructions");
    let span = unit.get("steps").map_or(unit.span, |steps| steps.span);
    Node::seq(span, Steps::new(unit, steps).write(reader.out()))
}
