//! YAML 1.2 and JSON into a tree.

use super::{FileId, Node, Sources};
use crate::diagnostic::Diagnostic;

/// See [`super::read`].
pub(super) fn read(_sources: &Sources, _file: FileId, _out: &mut Vec<Diagnostic>) -> Option<Node> {
    None
}

/// See [`super::read_verbatim`].
pub(super) fn read_verbatim(_sources: &Sources, _file: FileId, _out: &mut Vec<Diagnostic>) -> Option<Node> {
    None
}
