//! Tags: those of the core schema set the type of a scalar; others are unknown.

use granit_parser::Tag;

use super::super::{Node, Span, Style, Value};
use crate::diagnostic::Diagnostic;

/// Gives a scalar the type of its tag; returns whether the tag is unknown.
pub(super) fn scalar(node: &mut Node, tag: Option<&Tag>) -> bool {
    let (Some(tag), Value::Scalar(_, style)) = (tag, &mut node.value) else { return false };
    // A single `!` makes the scalar text.
    let bare = tag.handle().is_empty() && tag.suffix() == "!";
    match tag.core_suffix().or(bare.then_some("str")) {
        Some("str") if *style == Style::Plain => *style = Style::Double,
        Some("str") => {}
        Some("int" | "float" | "bool" | "null") => *style = Style::Plain,
        _ => return true,
    }
    false
}

/// Whether a collection has a tag of another type.
pub(super) fn collection(tag: Option<&Tag>, kind: &str) -> bool {
    tag.is_some_and(|tag| tag.core_suffix() != Some(kind))
}

/// The finding for an unknown tag.
pub(super) fn unknown(tag: &str, at: Span) -> Diagnostic {
    Diagnostic::error("LH0105", at, format!("the tag `{tag}` is not known here"))
        .label("ignored")
        .help("remove it; if the text starts with `!`, put it in quotes")
}
