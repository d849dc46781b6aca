//! Formats a workflow file in the canonical layout.
//!
//! **Invariant:** the meaning of a file does not change, its comments stay, and formatting twice gives the same as
//! formatting once.

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FileId, Sources, emit, read_verbatim};

/// The file in canonical layout. `None` if it has mistakes, which are added to `out`: printing a file that was only
/// partly read would lose content.
pub fn format(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<String> {
    let mut found = Vec::new();
    let tree = read_verbatim(sources, file, &mut found);
    let sound = found.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    out.append(&mut found);
    tree.filter(|_| sound).map(|tree| emit(&tree))
}
