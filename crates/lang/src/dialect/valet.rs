//! valet files in native keys.

use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// Whether a tree looks like one.
pub fn recognises(_node: &Node) -> bool {
    false
}

/// The file in native keys.
pub fn to_native(node: &Node, _out: &mut Vec<Diagnostic>) -> Node {
    node.clone()
}
