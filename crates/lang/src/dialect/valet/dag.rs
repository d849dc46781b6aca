//! `dag/v1`: nodes and edges, as a native graph.
//!
//! An edge is a dependency; an edge from an `if` is a way out of a decision. The trigger node
//! disappears: what it describes are the inputs.

mod edges;
mod names;
mod nodes;
mod trigger;

use std::collections::BTreeSet;

use longhaul_core::id::is_step_id;

use self::edges::Edges;
use self::names::Names;
use super::writer::Writer;
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::{Reader, wrong_kind};
use crate::dialect::spelling::{broken_rule, no_effect, nothing, on_one_line};
use crate::source::{Node, Sources, Value};

const NODES_MAX: usize = 200;
const PARALLEL_MAX: &str = "20";
const TOP_KEYS: &[&str] = &["version", "id", "name", "description", "nodes", "edges", "policy", "ui"];
const NODE_TYPES: &[&str] =
    &["trigger", "llm", "tool", "set", "if", "wait", "approval", "foreach", "orchestrator", "session", "stop"];
/// Types of V2, and what stands in their place.
const MOVED_TYPES: &[(&str, &str)] = &[
    ("agent_prompt", "use `llm`"),
    ("loop", "use `foreach`"),
    ("sleep", "use `wait`"),
    ("conditional", "use `if`"),
    ("notify", "use `orchestrator`"),
    ("parallel", "nodes that do not depend on each other run at the same time"),
    ("bash", "commands have no node: use a `tool`"),
];

type Writing<'s> = Writer<'s, Names>;

/// The file in native keys.
pub(super) fn to_native(node: &Node, sources: &Sources, out: &mut Vec<Diagnostic>) -> Node {
    let mut writing = Writer::new(sources, Names::default());
    let native = writing.file(node);
    out.append(&mut writing.out);
    native
}

impl Writing<'_> {
    fn file(&mut self, node: &Node) -> Node {
        let mut entries = self.head(node);
        let steps = self.graph(node);
        let span = node.span;
        if !self.scope.inputs.is_empty() {
            let inputs = std::mem::take(&mut self.scope.inputs).into_values().collect();
            entries.push(("inputs", Node::new(span, Value::Map(inputs, false))));
        }
        entries.push(("limits", on_one_line(Node::map(span, [("parallel", Node::plain(span, PARALLEL_MAX))]))));
        let compat = ["lenient-names", "open-inputs", "valet-answers"].map(|word| Node::plain(span, word));
        entries.push(("compat", Node::new(span, Value::Seq(compat.to_vec(), true))));
        entries.push(("steps", steps));
        Node::map(span, entries)
    }

    fn head(&mut self, node: &Node) -> Vec<(&'static str, Node)> {
        for (key, _) in node.entries().unwrap_or_default() {
            let word = key.scalar().unwrap_or_default();
            if word == "policy" {
                self.out.push(no_effect(key.span, word, "what a run may do is a setting of the project"));
            } else if !TOP_KEYS.contains(&word) {
                let unused = no_effect(key.span, word, "nothing reads it");
                self.out.push(unused.did_you_mean(word, TOP_KEYS.iter().copied(), |_| None));
            }
        }
        let mut reader = Reader::again(node, "a workflow", &mut self.out);
        let texts = [("name", reader.text("name")), ("description", reader.text("description"))];
        texts.into_iter().filter_map(|(key, text)| Some((key, text?.clone()))).collect()
    }

    /// The nodes of a mapping with `nodes` and `edges`, as a list of steps.
    fn graph(&mut self, node: &Node) -> Node {
        let mut reader = Reader::again(node, "a workflow", &mut self.out);
        if reader.get("nodes").is_none() {
            reader.missing("nodes");
        }
        let (nodes, edges) = (reader.list("nodes"), reader.list("edges"));
        if nodes.len() > NODES_MAX {
            let message = format!("a workflow has at most {NODES_MAX} nodes, and this one has {}", nodes.len());
            self.out.push(broken_rule(node.get("nodes").map_or(node.span, |nodes| nodes.span), message, "too many"));
        }
        self.declare(nodes);
        let edges = Edges::read(edges, nodes, self);
        let mut steps = Vec::new();
        for step in nodes {
            steps.extend(self.node(step, &edges));
        }
        Node::seq(node.get("nodes").map_or(node.span, |nodes| nodes.span), steps)
    }

    /// Learns the ids of nodes before anything reads them.
    fn declare(&mut self, nodes: &[Node]) {
        let mut seen = BTreeSet::new();
        for node in nodes {
            let id = node.get("id").and_then(Node::scalar).unwrap_or_default();
            if let Some(written) = node.get("id")
                && !is_step_id(id)
            {
                let error = broken_rule(written.span, format!("`{id}` cannot be an id"), "not an id");
                self.out.push(error.help("an id has letters, digits, `_` and `-`, at most 80 of them"));
            }
            if seen.insert(id) {
                self.scope.declare(node, &mut self.out);
            }
        }
    }

    /// A node with its dependencies; nothing for the trigger.
    fn node(&mut self, node: &Node, edges: &Edges) -> Vec<Node> {
        if node.entries().is_none() {
            self.out.push(wrong_kind(node, "a node", "a mapping"));
            return Vec::new();
        }
        let mut reader = Reader::again(node, "a node", &mut self.out);
        let (Some(id), Some(kind)) = (reader.required_said("id"), reader.required_said("type")) else {
            return Vec::new();
        };
        let word = kind.scalar().unwrap_or_default();
        if word == "trigger" {
            return Vec::new();
        }
        if word == "if"
            && let Some(steps) = self.decision(node, id, edges)
        {
            return steps;
        }
        let action = if word == "if" { None } else { self.action(node, word, kind) };
        let mut entries = self.node_head(node, id, edges);
        entries.extend(action.unwrap_or_else(|| vec![nothing(node.span, None)]));
        vec![Node::map(node.span, entries)]
    }

    fn node_head(&mut self, node: &Node, id: &Node, edges: &Edges) -> Vec<(&'static str, Node)> {
        let mut entries = vec![("id", Node::plain(id.span, id.scalar().unwrap_or_default()))];
        let mut reader = Reader::again(node, "a node", &mut self.out);
        let name = ["name", "label", "description"].into_iter().find_map(|key| reader.said(key));
        entries.extend(name.map(|name| ("name", name.clone())));
        entries.extend(edges.depends_on(id.scalar().unwrap_or_default()));
        entries.extend(edges.when(id.scalar().unwrap_or_default()).map(|when| ("when", when)));
        entries
    }
}

fn unknown_type(kind: &Node, word: &str) -> Diagnostic {
    match MOVED_TYPES.iter().find(|(moved, _)| *moved == word) {
        Some((_, advice)) => Diagnostic::error("LH0604", kind.span, format!("there are no nodes of type `{word}`"))
            .label("a type of the older format")
            .help(*advice),
        None => broken_rule(kind.span, format!("`{word}` is not a type of node"), "unknown type").did_you_mean(
            word,
            NODE_TYPES.iter().copied(),
            |known| Some(format!("types are: {}", known.join(", "))),
        ),
    }
}
