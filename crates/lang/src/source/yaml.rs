//! Reads YAML 1.2 and JSON into a tree.
//!
//! The parser's events become a tree in which an alias is a leaf. Aliases and merge keys are replaced only after the
//! size of the whole tree was checked.
//!
//! **Invariant:** no input makes a tree of more than [`NODES_MAX`](super::NODES_MAX) nodes or deeper than
//! [`DEPTH_MAX`](super::DEPTH_MAX). Nothing is copied before this is checked.

mod build;
mod comments;
mod mistake;
mod resolve;
mod tag;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{FILE_BYTES_MAX, FileId, Node, Sources, Span};
use crate::diagnostic::Diagnostic;

/// See [`super::read`].
pub(super) fn read(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let whole = 0..sources.file(file).text.len();
    read_range(sources, file, whole, out)
}

/// Reads the part of a file that is YAML.
pub(super) fn read_range(
    sources: &Sources,
    file: FileId,
    range: Range<usize>,
    out: &mut Vec<Diagnostic>,
) -> Option<Node> {
    let part = Part::new(sources, file, range, out)?;
    let mut tree = build::Builder::new(part, false, out).document()?;
    resolve::resolve(&mut tree.root, tree.shared, out);
    Some(tree.root)
}

/// See [`super::read_verbatim`].
pub(super) fn read_verbatim(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let whole = 0..sources.file(file).text.len();
    let part = Part::new(sources, file, whole, out)?;
    let mut tree = build::Builder::new(part, true, out).document()?;
    comments::attach(&mut tree.root, &sources.file(file).text, tree.comments);
    Some(tree.root)
}

/// A part of a file that is small enough and has no control characters.
#[derive(Clone, Copy)]
struct Part<'s> {
    file: FileId,
    /// The start of the part in the file.
    base: usize,
    text: &'s str,
}

impl<'s> Part<'s> {
    fn new(sources: &'s Sources, file: FileId, range: Range<usize>, out: &mut Vec<Diagnostic>) -> Option<Self> {
        let text = &sources.file(file).text;
        if let Some(problem) = unreadable(file, text) {
            out.push(problem);
            return None;
        }
        let mark = if range.start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let base = range.start + mark;
        Some(Self { file, base, text: text.get(base..range.end).unwrap_or_default() })
    }

    /// The place in the file of a range of the part.
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, self.base + range.start, self.base + range.end)
    }
}

/// Why a file is not read: it is too large, or has invisible characters.
pub(super) fn unreadable(file: FileId, text: &str) -> Option<Diagnostic> {
    if text.len() > FILE_BYTES_MAX {
        let limit = FILE_BYTES_MAX >> 20;
        let problem =
            Diagnostic::error("LH0102", Span::new(file, 0, 0), format!("the file is larger than {limit} MiB"));
        return Some(problem.label("not read").help("move long texts into files of their own and name those here"));
    }
    let (at, found) = text.char_indices().find(|(at, c)| is_hidden(*at, *c))?;
    let span = Span::new(file, at, at + found.len_utf8());
    let message = format!("the file holds a character that text must not contain: U+{:04X}", found as u32);
    let problem = Diagnostic::error("LH0103", span, message).label("here");
    Some(problem.help("remove it; inside double quotes it can be written as an escape such as `\\x07`"))
}

fn is_hidden(at: usize, c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{feff}' => at > 0,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}
