//! Sorts the edges of a graph by their meaning for the nodes.

use std::collections::BTreeMap;

use super::Writing;
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::no_effect;
use crate::source::{Node, Span, Value};

const KEYS: &[&str] = &["id", "from", "to", "fromOutput", "from_output", "when", "ui", "label"];

/// The route of an edge out of an `if`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The condition is true.
    Yes,
    /// The condition is false.
    No,
}

/// The sorted edges.
#[derive(Debug, Default)]
pub(super) struct Edges {
    deps: BTreeMap<String, Vec<Node>>,
    /// Conditions of the edges into a node; `None` is an edge without one.
    conditions: BTreeMap<String, Vec<Option<Node>>>,
    ways: BTreeMap<String, Vec<(Way, Node)>>,
}

impl Edges {
    /// Reads the edges between some nodes.
    pub(super) fn read(edges: &[Node], nodes: &[Node], writing: &mut Writing<'_>) -> Self {
        let mut read = Self::default();
        for edge in edges {
            read.edge(edge, nodes, writing);
        }
        read.fan_out();
        read
    }

    fn edge(&mut self, edge: &Node, nodes: &[Node], writing: &mut Writing<'_>) -> Option<()> {
        let mut reader = Reader::open(edge, "an edge", KEYS, &mut writing.out)?;
        let (from, to) = (reader.required_said("from"), reader.required_said("to"));
        let way = reader.text("fromOutput").or_else(|| reader.text("from_output"));
        let when = reader.said("when");
        let (from, to) = (from?, to?);
        let target = to.scalar().unwrap_or_default().to_owned();
        let when = when.and_then(|when| writing.condition(when));
        let source = from.scalar().unwrap_or_default();
        match (kind_of(nodes, source), way) {
            ("trigger", _) => {}
            ("if", Some(way)) => match way.scalar() {
                Some("true") => self.leads(source, Way::Yes, to),
                Some("false") => self.leads(source, Way::No, to),
                _ => writing.out.push(no_such_way(way)),
            },
            (kind, way) => {
                if let Some(way) = way {
                    let why = format!("a node of type `{kind}` has one way out");
                    writing.out.push(no_effect(way.span, "fromOutput", &why));
                }
                self.deps.entry(target.clone()).or_default().push(Node::plain(from.span, source));
            }
        }
        self.conditions.entry(target).or_default().push(when);
        Some(())
    }

    fn leads(&mut self, from: &str, way: Way, to: &Node) {
        self.ways.entry(from.to_owned()).or_default().push((way, to.clone()));
    }

    /// A decision has one target per route. So several targets depend on an extra step.
    fn fan_out(&mut self) {
        let Self { deps, ways, .. } = self;
        for (from, leads) in ways.iter() {
            for way in [Way::Yes, Way::No] {
                let targets: Vec<&Node> = leads.iter().filter(|(own, _)| *own == way).map(|(_, to)| to).collect();
                if targets.len() > 1 {
                    for target in targets {
                        let hub = Node::plain(target.span, hub_id(from, way));
                        deps.entry(target.scalar().unwrap_or_default().to_owned()).or_default().push(hub);
                    }
                }
            }
        }
    }

    /// The `depends_on` of a node.
    pub(super) fn depends_on(&self, id: &str) -> Option<(&'static str, Node)> {
        let deps = self.deps.get(id)?;
        let span = deps.first()?.span;
        let mut once: Vec<Node> = Vec::new();
        for dep in deps {
            if !once.iter().any(|known| known.scalar() == dep.scalar()) {
                once.push(dep.clone());
            }
        }
        Some(("depends_on", Node::new(span, Value::Seq(once, true))))
    }

    /// The `when` of a node: one of its edges must be true.
    pub(super) fn when(&self, id: &str) -> Option<Node> {
        let conditions: Option<Vec<&Node>> = self.conditions.get(id)?.iter().map(Option::as_ref).collect();
        match conditions?.as_slice() {
            [] => None,
            [one] => Some((*one).clone()),
            several => {
                let parts: Vec<String> =
                    several.iter().map(|part| format!("({})", part.scalar().unwrap_or_default())).collect();
                Some(Node::text(several.first()?.span, parts.join(" or ")))
            }
        }
    }

    /// The target of a decision on one route: the only target, or the extra step.
    pub(super) fn target(&self, id: &str, way: Way) -> Option<Target> {
        let targets: Vec<&Node> = self.ways.get(id)?.iter().filter(|(own, _)| *own == way).map(|(_, to)| to).collect();
        match targets.as_slice() {
            [] => None,
            [one] => Some(Target { id: one.scalar().unwrap_or_default().to_owned(), span: one.span, hub: false }),
            [first, ..] => Some(Target { id: hub_id(id, way), span: first.span, hub: true }),
        }
    }
}

/// The target of a decision.
pub(super) struct Target {
    /// The step.
    pub(super) id: String,
    /// The end of the edge.
    pub(super) span: Span,
    /// Whether the step must be created.
    pub(super) hub: bool,
}

fn kind_of<'n>(nodes: &'n [Node], id: &str) -> &'n str {
    let node = nodes.iter().find(|node| node.get("id").and_then(Node::scalar) == Some(id));
    node.and_then(|node| node.get("type")).and_then(Node::scalar).unwrap_or_default()
}

fn hub_id(from: &str, way: Way) -> String {
    let word = if way == Way::Yes { "true" } else { "false" };
    format!("{from}-{word}")
}

fn no_such_way(way: &Node) -> Diagnostic {
    let message = "an `if` has the outputs `true` and `false`";
    Diagnostic::error("LH0603", way.span, message).label("not one of them")
}
