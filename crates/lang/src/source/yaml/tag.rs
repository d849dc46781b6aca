//! Tags: those of the core schema say what a scalar is, others are not known.

use granit_parser::Tag;

use super::super::{Node, Span, Style, Value};
use crate::diagnostic::Diagnostic;

/// Gives a scalar the type its tag names; whether the tag is unknown.
pub(super) fn scalar(node: &mut Node, tag: Option<&Tag>) -> bool {
    let (Some(tag), Value::Scalar(_, style)) = (tag, &mut node.value) else { return false };
    // A lone `!` says that the scalar is text.
    let bare = tag.handle().is_empty() && tag.suffix() == "!";
    match tag.core_suffix().or(bare.then_some("str")) {
        Some("str") if *style == Style::Plain => *style = Style::Double,
        Some("str") => {}
        Some("int" | "float" | "bool" | "null") => *style = Style::Plain,
        _ => return true,
    }
    false
}

/// Whether a collection's tag is anything but its own kind.
pub(super) fn collection(tag: Option<&Tag>, kind: &str) -> bool {
    tag.is_some_and(|tag| tag.core_suffix() != Some(kind))
}

/// The finding for a tag that means nothing.
pub(super) fn unknown(tag: &str, at: Span) -> Diagnostic {
    Diagnostic::error("LH0105", at, format!("the tag `{tag}` is not known here"))
        .label("ignored")
        .help("remove it; if the text starts with `!`, put it in quotes")
}
