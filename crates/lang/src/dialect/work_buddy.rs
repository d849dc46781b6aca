//! Translates work-buddy's units into native keys: one unit as JSON or Markdown, or a store that maps paths to units.
//!
//! In work-buddy the conductor gives one step at a time to the client of the run. Here that is a graph whose prompts
//! the client does one at a time.
//!
//! **Invariant:** instructions are prose. Text in them that looks like a template stays text.

mod contract;
mod step;
mod unit;

use super::Native;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// Whether a tree is a work-buddy file.
pub fn recognises(node: &Node) -> bool {
    is_unit(node) || is_store(node)
}

fn is_unit(node: &Node) -> bool {
    node.get("kind").and_then(Node::scalar) == Some("workflow") && node.get("workflow_name").is_some()
}

fn is_store(node: &Node) -> bool {
    let entries = node.entries().unwrap_or_default();
    entries.iter().all(|(_, unit)| unit.entries().is_some()) && entries.iter().any(|(_, unit)| is_unit(unit))
}

/// The units of the file in native keys. In a store, only workflows with steps count.
pub fn to_native(node: &Node, out: &mut Vec<Diagnostic>) -> Vec<Native> {
    if is_unit(node) || !is_store(node) {
        return vec![unit::to_native(node, out)];
    }
    let units = node.entries().unwrap_or_default().iter().map(|(_, unit)| unit);
    let registered = units.filter(|unit| is_unit(unit) && unit::has_steps(unit));
    registered.map(|unit| unit::to_native(unit, out)).collect()
}

#[cfg(test)]
mod tests;
