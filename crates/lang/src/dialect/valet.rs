//! Valet's workflows in native keys: Workflows V2 (a list of typed steps) and its successor `dag/v1`
//! (nodes and edges).
//!
//! **Invariant:** what the original would refuse, when it saves a file or before it runs one, is an
//! error here; what it accepts and cannot be kept is reported.

mod condition;
mod dag;
mod schema;
mod template;
mod v2;
mod writer;

use crate::diagnostic::Diagnostic;
use crate::source::{Node, Sources};

/// Types of V2 that a file can be known by.
const STEP_TYPES: &[&str] = &["agent_prompt", "notify", "tool", "bash", "conditional", "loop", "parallel", "approval"];

/// Types that V2 had once, and what to use instead.
const REMOVED_TYPES: &[(&str, &str)] = &[
    ("agent", "use `agent_prompt`"),
    ("agent_message", "use `notify` to tell someone, or `agent_prompt` to ask an agent"),
    ("subworkflow", "put its steps here instead"),
];

/// Whether a tree looks like one.
pub fn recognises(node: &Node) -> bool {
    is_dag(node) || node.get("steps").and_then(Node::items).is_some_and(|steps| steps.iter().any(is_step))
}

fn is_dag(node: &Node) -> bool {
    let list = |key| node.get(key).is_some_and(|value| value.items().is_some());
    node.get("version").and_then(Node::scalar) == Some("dag/v1") || list("nodes") && list("edges")
}

fn is_step(step: &Node) -> bool {
    let kind = step.get("type").and_then(Node::as_text).unwrap_or_default();
    STEP_TYPES.contains(&kind) || REMOVED_TYPES.iter().any(|(removed, _)| *removed == kind)
}

/// The file in native keys.
pub fn to_native(node: &Node, sources: &Sources, out: &mut Vec<Diagnostic>) -> Node {
    if is_dag(node) { dag::to_native(node, sources, out) } else { v2::to_native(node, sources, out) }
}

#[cfg(test)]
mod tests;
