//! What the nodes of a graph do, one function for each type.

mod agents;
mod control;
mod foreach;

use super::{Writing, unknown_type};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{broken_rule, no_effect, on_one_line, quoted, value_name};
use crate::source::{Node, Value};

/// Native entries beside the id and the dependencies.
type Action = Option<Vec<(&'static str, Node)>>;

/// Keys that every node can have.
const COMMON: &[&str] = &["id", "type", "name", "label", "description", "ui", "position"];
const RETRIES_MAX: u64 = 10;

impl Writing<'_> {
    /// What a node does, whatever its type but `trigger` and `if`.
    pub(super) fn action(&mut self, node: &Node, word: &str, kind: &Node) -> Action {
        match word {
            "llm" => self.llm(node),
            "session" => self.session(node),
            "orchestrator" => self.orchestrator(node),
            "tool" => self.tool(node),
            "set" => self.set(node),
            "wait" => self.wait(node),
            "approval" => self.approval(node),
            "foreach" => self.foreach(node),
            "stop" => self.stop(node),
            _ => {
                self.out.push(unknown_type(kind, word));
                None
            }
        }
    }

    fn tool(&mut self, node: &Node) -> Action {
        let mut reader = open(
            node,
            "a `tool` node",
            &["service", "action", "params", "onPolicyDeny", "on_policy_deny", "retries"],
            &mut self.out,
        )?;
        let (service, action) = (reader.required_said("service"), reader.required_said("action"));
        reader.map("params");
        let params = reader.get("params").filter(|params| params.entries().is_some_and(|entries| !entries.is_empty()));
        let denied = one_of(&mut reader, ["onPolicyDeny", "on_policy_deny"], &["fail", "skip"]);
        if let Some(denied) = denied.filter(|denied| denied.scalar() == Some("skip")) {
            reader.report(no_effect(denied.span, "onPolicyDeny", "a call that is not allowed fails the step"));
        }
        let retries = reader.count("retries").and_then(|count| Some((count, reader.get("retries")?)));
        if let Some((_, place)) = retries.filter(|(count, _)| *count > RETRIES_MAX) {
            reader.report(broken_rule(place.span, format!("`retries` can be at most {RETRIES_MAX}"), "too many"));
        }
        let (service, action) = (service?, action?);
        let name = [service, action].map(|part| part.scalar().unwrap_or_default().trim()).join(".");
        let mut entries = vec![("tool", Node::plain(action.span, name))];
        entries.extend(params.map(|params| ("args", self.value(params))));
        entries.extend(retries.filter(|(count, _)| *count > 0).map(|(_, node)| ("retry", node.clone())));
        entries.push(("output", parsed(node)));
        Some(entries)
    }

    fn set(&mut self, node: &Node) -> Action {
        const VALUES: [&str; 4] = ["values", "variables", "assignments", "set"];
        let mut reader = open(node, "a `set` node", &VALUES, &mut self.out)?;
        let key = VALUES.into_iter().find(|key| reader.get(key).is_some());
        let Some(key) = key else {
            reader.missing("values");
            return None;
        };
        let values = reader.map(key);
        let mut entries = Vec::new();
        for (name, value) in values {
            let native = Node::plain(name.span, value_name(name.scalar().unwrap_or_default()));
            entries.push((native, self.computed(value)));
        }
        Some(vec![("set", Node::new(node.get(key)?.span, Value::Map(entries, false)))])
    }

    /// A value where texts are expressions: a text without a template is quoted once more.
    fn computed(&mut self, value: &Node) -> Node {
        let native = self.value(value);
        match native.as_text() {
            Some(text) if !text.contains("{{") => Node::text(value.span, quoted(text)),
            _ => native,
        }
    }
}

/// Opens a node of a type that can have these keys beside the common ones.
fn open<'n, 'o>(node: &'n Node, what: &str, keys: &[&str], out: &'o mut Vec<Diagnostic>) -> Option<Reader<'n, 'o>> {
    let allowed: Vec<&str> = COMMON.iter().chain(keys).copied().collect();
    Reader::open(node, what, &allowed, out)
}

/// A word under either of two spellings of a key.
fn one_of<'n>(reader: &mut Reader<'n, '_>, keys: [&str; 2], words: &[&str]) -> Option<&'n Node> {
    let key = keys.into_iter().find(|key| reader.get(key).is_some())?;
    let node = reader.text(key)?;
    let word = node.scalar().unwrap_or_default();
    if words.contains(&word) {
        return Some(node);
    }
    let message = format!("`{key}` cannot be `{word}`");
    let list = |known: &[&str]| Some(format!("it can be: {}", known.join(", ")));
    reader.report(broken_rule(node.span, message, "unknown word").did_you_mean(word, words.iter().copied(), list));
    None
}

/// The first of some keys that says something.
fn first_said<'n>(reader: &mut Reader<'n, '_>, keys: &[&str]) -> Option<&'n Node> {
    keys.iter().find_map(|key| reader.said(key))
}

/// Reports keys that change nothing here.
fn not_kept(reader: &mut Reader<'_, '_>, keys: &[(&str, &str)]) {
    for (key, why) in keys {
        if let Some((written, _)) = reader.node.entry(key) {
            reader.report(no_effect(written.span, key, why));
        }
    }
}

/// `{parse: json}`: what a node leaves is a value.
fn parsed(node: &Node) -> Node {
    on_one_line(Node::map(node.span, [("parse", Node::plain(node.span, "json"))]))
}
