//! Counts the size of a tree after its aliases are replaced, and limits it.

use super::{DEPTH_MAX, FILE_BYTES_MAX, NODES_MAX, Span};
use crate::diagnostic::Diagnostic;

/// The most bytes of text of an expanded file: an alias to a long text copies it.
const TEXT_BYTES_MAX: usize = 4 * FILE_BYTES_MAX;

/// The size of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    nodes: usize,
    bytes: usize,
}

impl Weight {
    /// One node with this much text.
    pub(super) fn node(bytes: usize) -> Self {
        Self { nodes: 1, bytes }
    }

    /// The difference to an earlier state.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { nodes: self.nodes - earlier.nodes, bytes: self.bytes - earlier.bytes }
    }

    /// Adds, unless the limit is exceeded.
    pub(super) fn add(&mut self, more: Self, at: Span) -> Result<(), Box<Diagnostic>> {
        self.nodes += more.nodes;
        self.bytes += more.bytes;
        if self.nodes > NODES_MAX {
            return Err(too_much(at, format!("the file holds more than {NODES_MAX} values")));
        }
        if self.bytes > TEXT_BYTES_MAX {
            let limit = TEXT_BYTES_MAX >> 20;
            return Err(too_much(at, format!("the file holds more than {limit} MiB of text")));
        }
        Ok(())
    }
}

/// Refuses a tree that is too deep.
pub(super) fn check_depth(depth: usize, at: Span) -> Result<(), Box<Diagnostic>> {
    if depth > DEPTH_MAX { Err(Box::new(too_deep(at))) } else { Ok(()) }
}

/// The finding for a tree that is too deep.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::error("LH0102", at, format!("the file nests deeper than {DEPTH_MAX} levels"))
        .label("one level too many")
        .help("flatten it")
}

fn too_much(at: Span, message: String) -> Box<Diagnostic> {
    let problem = Diagnostic::error("LH0102", at, message).label("the limit is exceeded here");
    Box::new(problem.help("each use of an alias or a merge key counts as a copy of its value"))
}
