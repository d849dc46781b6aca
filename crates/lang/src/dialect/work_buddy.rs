//! work-buddy units in native keys.

use super::Native;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// Whether a tree looks like one.
pub fn recognises(_node: &Node) -> bool {
    false
}

/// The units of the file in native keys.
pub fn to_native(node: &Node, _out: &mut Vec<Diagnostic>) -> Vec<Native> {
    vec![Native { name: None, node: node.clone() }]
}
