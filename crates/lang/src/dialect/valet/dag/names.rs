//! What paths mean in a graph: what the trigger brought, what nodes left, what a loop is at.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::trigger;
use crate::diagnostic::Diagnostic;
use crate::dialect::spelling::{on_one_line, quoted, step_reference, value_name, walk};
use crate::dialect::valet::writer::{Reference, Scope};
use crate::source::Node;

/// Names of a graph.
#[derive(Default)]
pub(super) struct Names {
    /// Inputs, declared or read, by native name.
    pub(super) inputs: IndexMap<String, (Node, Node)>,
    nodes: BTreeMap<String, String>,
    loops: Vec<[String; 2]>,
}

impl Names {
    /// Learns of a node.
    pub(super) fn declare(&mut self, node: &Node, out: &mut Vec<Diagnostic>) {
        let text = |key| node.get(key).and_then(Node::scalar).unwrap_or_default();
        if text("type") == "trigger" {
            self.inputs.extend(trigger::inputs(node, out));
        }
        self.nodes.insert(text("id").to_owned(), text("type").to_owned());
    }

    /// Goes into a loop that calls its item and its position so.
    pub(super) fn enter(&mut self, names: [String; 2]) {
        self.loops.push(names);
    }

    /// Comes out of it.
    pub(super) fn leave(&mut self) {
        self.loops.pop();
    }

    fn input(&mut self, path: &[&str], reference: &Reference<'_>) -> String {
        match path {
            [] => "inputs".to_owned(),
            ["task", rest @ ..] => walk("task".into(), rest.iter().copied()),
            [first, rest @ ..] => {
                let name = value_name(first);
                let expression = walk(format!("inputs.{name}"), rest.iter().copied());
                let plain = |text: &str| Node::plain(reference.span, text);
                let unknown = || {
                    let optional = [("type", plain("any")), ("required", plain("false"))];
                    (plain(&name), on_one_line(Node::map(reference.span, optional)))
                };
                self.inputs.entry(name.clone()).or_insert_with(unknown);
                expression
            }
        }
    }

    fn of_node(&mut self, id: &str, path: &[&str], reference: &Reference<'_>) -> Option<String> {
        let path = match path {
            ["output" | "outputs" | "result", rest @ ..] => rest,
            all => all,
        };
        match (self.nodes.get(id)?.as_str(), path) {
            ("trigger", ["data" | "payload", rest @ ..] | rest) => Some(self.input(rest, reference)),
            ("set", [name, rest @ ..]) => Some(walk(value_name(name), rest.iter().copied())),
            ("approval", ["approved"]) => Some(format!("{}.approved", step_reference(id))),
            ("foreach", ["items", rest @ ..]) => {
                Some(walk(format!("{}.items", step_reference(id)), rest.iter().copied()))
            }
            _ => Some(walk(format!("{}.output", step_reference(id)), path.iter().copied())),
        }
    }

    fn unknown(&self, reference: &Reference<'_>, word: &str) -> Diagnostic {
        let message = format!("`{}` cannot be read here", reference.path);
        let known = self.nodes.keys().map(String::as_str);
        Diagnostic::error("LH0303", reference.span, message)
            .label("unknown name")
            .did_you_mean(word, known, |_| Some("paths begin with `trigger`, `nodes` or the id of a node".to_owned()))
    }
}

impl Scope for Names {
    fn read(&mut self, reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let segments = reference.segments();
        let (found, word) = match segments.as_slice() {
            [name, rest @ ..] if self.loops.iter().flatten().any(|bound| bound == name) => {
                (Some(walk(value_name(name), rest.iter().copied())), "")
            }
            ["loop", which @ ("item" | "index"), rest @ ..] => {
                let at = usize::from(*which == "index");
                let name = self.loops.last().and_then(|names| names.get(at));
                (name.map(|name| walk(value_name(name), rest.iter().copied())), "loop")
            }
            ["trigger", "data" | "payload", rest @ ..] | ["trigger" | "variables" | "inputs", rest @ ..] => {
                (Some(self.input(rest, reference)), "")
            }
            ["nodes" | "outputs" | "steps", id, rest @ ..] => (self.of_node(id, rest, reference), *id),
            [id, rest @ ..] => (self.of_node(id, rest, reference), *id),
            [] => (None, ""),
        };
        found.unwrap_or_else(|| {
            out.push(self.unknown(reference, word));
            quoted("")
        })
    }
}
