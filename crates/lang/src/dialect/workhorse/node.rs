//! One node, by its type.

use super::super::compose::Entries;
use super::super::reader::{Reader, wrong_kind};
use super::{Scope, branch, call, flow, outputs, values};
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Value};

const AGENT_KEYS: &[&str] = &[
    "id", "type", "prompt", "args", "outputs", "model", "next", "timeout", "cwd", "add_dirs", "effort", "power", "env",
    "requires", "labels", "activity",
];
const SCRIPT_KEYS: &[&str] = &[
    "id", "type", "script", "args", "outputs", "next", "timeout", "cwd", "env", "refuel", "requires", "labels",
    "activity",
];
const BRANCH_KEYS: &[&str] = &["id", "type", "path", "cases", "conditions", "default", "labels", "activity"];
const FLOW_KEYS: &[&str] = &["id", "type", "flow", "args", "outputs", "next", "labels", "activity"];
const CALL_KEYS: &[&str] = &["id", "type", "fn", "args", "outputs", "next", "labels", "activity"];
const END_KEYS: &[&str] = &["id", "type", "labels", "activity"];

/// The types, what a node of each is called, and its keys.
const KINDS: &[(&str, &str, &[&str])] = &[
    ("agent", "an agent node", AGENT_KEYS),
    ("script", "a script node", SCRIPT_KEYS),
    ("branch", "a branch node", BRANCH_KEYS),
    ("terminal", "a terminal node", END_KEYS),
    ("fail", "a fail node", END_KEYS),
    ("flow", "a flow node", FLOW_KEYS),
    ("call", "a call node", CALL_KEYS),
];

/// Whether a node can have this type.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.iter().any(|(kind, _, _)| *kind == word)
}

/// The node in native keys.
pub(super) fn to_native<'n>(node: &'n Node, scope: &mut Scope<'n, '_>, out: &mut Vec<Diagnostic>) -> Option<Node> {
    if node.entries().is_none() {
        out.push(wrong_kind(node, "a node", "a mapping"));
        return None;
    }
    let mut native = Entries::at(node);
    let Some((kind, what, keys)) = kind(node, out) else { return Some(placeholder(node, scope)) };
    let mut reader = Reader::open(node, what, keys, out)?;
    for key in ["labels", "activity"] {
        reader.without_effect(key, "runs are told apart by their steps and names");
    }
    native.put_some("id", reader.filled_text("id").map(|id| scope.ids.native(id)));
    match kind {
        "agent" => put_agent(&mut reader, &mut native),
        "script" => put_script(&mut reader, scope, &mut native),
        "branch" => branch::put(&mut reader, scope, &mut native),
        "flow" => flow::put(&mut reader, scope, &mut native),
        "call" => call::put(&mut reader, scope, &mut native),
        "terminal" => native.put("end", Node::plain(node.span, "success")),
        _ => native.put("end", Node::plain(node.span, "failure")),
    }
    native.put_some("next", reader.text("next").map(|next| scope.ids.native(next)));
    Some(native.block())
}

/// A node of no known type, with its edges, so that nothing is said about those as well.
fn placeholder(node: &Node, scope: &Scope<'_, '_>) -> Node {
    let mut native = Entries::at(node);
    native.put_some("id", node.get("id").map(|id| scope.ids.native(id)));
    match node.get("next").filter(|next| next.as_text().is_some()) {
        Some(next) => native.put("next", scope.ids.native(next)),
        None => native.put("end", Node::plain(node.span, "failure")),
    }
    native.block()
}

fn kind(node: &Node, out: &mut Vec<Diagnostic>) -> Option<(&'static str, &'static str, &'static [&'static str])> {
    let Some(kind) = node.get("type").filter(|kind| !kind.is_null()) else {
        out.push(Diagnostic::error("LH0109", node.span, "a node needs `type`").label("no `type` here"));
        return None;
    };
    let word = kind.scalar().unwrap_or_default();
    let known = KINDS.iter().find(|(name, _, _)| *name == word).copied();
    if known.is_none() {
        let list = |known: &[&str]| Some(format!("it can be: {}", known.join(", ")));
        let diagnostic = Diagnostic::error("LH0107", kind.span, format!("a node cannot be of type `{word}`"))
            .label("unknown type")
            .did_you_mean(word, KINDS.iter().map(|(name, _, _)| *name), list);
        out.push(diagnostic);
    }
    known
}

fn put_agent(node: &mut Reader<'_, '_>, native: &mut Entries) {
    native.put_some("agent", agent(node));
    if let Some(file) = node.filled_text("prompt") {
        let mut prompt = Entries::at(file);
        prompt.put("file", file.clone());
        prompt.put_some("with", arguments(node));
        native.put("prompt", prompt.block());
    } else {
        native.put("prompt", Node::text(node.node.span, ""));
    }
    put_surroundings(node, native);
    let outputs = outputs::read(node, &["key", "default"]);
    if let Some(origin) = node.get("outputs").filter(|_| !outputs.is_empty()) {
        let mut output = outputs::spread(origin);
        output.put("schema", outputs::schema(origin, &outputs));
        output.put("default", outputs::defaults(origin, &outputs, node.out()));
        native.put("output", output.block());
    }
}

fn agent(node: &mut Reader<'_, '_>) -> Option<Node> {
    let mut agent = Entries::at(node.node);
    let model = node.get("model").filter(|model| model.as_text() != Some(""));
    if let Some(model) = model.filter(|model| model.as_text().is_none() && model.entries().is_none()) {
        node.report(wrong_kind(model, "`model`", "text"));
    } else {
        agent.put_some("model", model.cloned());
    }
    agent.put_some("effort", node.text("effort").cloned());
    agent.put_some("power", node.word("power", &["low", "medium", "high"]).cloned());
    agent.put_some("dirs", text_list(node, "add_dirs"));
    agent.flow_if_any()
}

/// `args` as names that only the prompt, or the flow, sees. All are texts.
pub(super) fn arguments(node: &mut Reader<'_, '_>) -> Option<Node> {
    let mut with = Entries::at(node.get("args")?);
    for (key, value) in node.map("args") {
        if value.as_text().is_none() {
            node.report(wrong_kind(value, "an argument", "text"));
        }
        with.put_keyed(key.clone(), value.clone());
    }
    (!with.is_empty()).then(|| with.block())
}

fn text_list(node: &mut Reader<'_, '_>, key: &str) -> Option<Node> {
    let items: Vec<Node> = node.texts(key).into_iter().cloned().collect();
    let origin = node.get(key).filter(|_| !items.is_empty())?;
    Some(Node::new(origin.span, Value::Seq(items, true)))
}

fn put_surroundings(node: &mut Reader<'_, '_>, native: &mut Entries) {
    native.put_some("cwd", node.text("cwd").cloned());
    let timeout = node.get("timeout").and_then(|timeout| values::timeout(timeout, node.out()));
    native.put_some("timeout", timeout);
    native.put_some("requires", text_list(node, "requires"));
    let env = (!node.map("env").is_empty()).then(|| node.get("env")).flatten();
    native.put_some("env", env.cloned());
}

fn put_script(node: &mut Reader<'_, '_>, scope: &mut Scope<'_, '_>, native: &mut Entries) {
    if let Some(script) = node.filled_text("script") {
        let mut run = Entries::at(script);
        run.put("script", script.clone());
        run.put_some("args", text_list(node, "args"));
        native.put("run", run.flow());
    } else {
        native.put("run", Node::text(node.node.span, "true"));
    }
    // A script runs beside the workflow, and for as long as it likes.
    let span = node.node.span;
    if node.get("cwd").is_none() {
        native.put("cwd", Node::text(span, "{{ run.workflow_dir }}"));
    }
    if node.get("timeout").is_none() {
        native.put("timeout", Node::plain(span, "none"));
    }
    put_surroundings(node, native);
    put_script_output(node, native);
    if let Some(refuel) = node.text("refuel") {
        scope.flows.refuel.get_or_insert(refuel.span);
        let progress = values::path(refuel, scope, node.out());
        native.put_some("progress", progress.map(|path| Node::text(refuel.span, path)));
    }
}

fn put_script_output(node: &mut Reader<'_, '_>, native: &mut Entries) {
    let outputs = outputs::read(node, &["key", "default"]);
    for unused in outputs.iter().filter_map(|output| output.default) {
        let message = "`default` has no effect here: a script that fails stops the run";
        node.report(Diagnostic::warning("LH0602", unused.span, message).label("left out"));
    }
    if let Some(origin) = node.get("outputs").filter(|_| !outputs.is_empty()) {
        let mut output = outputs::spread(origin);
        output.put("parse", Node::plain(origin.span, "json"));
        output.put("schema", outputs::schema(origin, &outputs));
        native.put("output", output.block());
    }
}
