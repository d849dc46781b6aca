//! Prints one scalar.
//!
//! **Invariant:** text is plain only if every YAML reader, of 1.1 or of 1.2, reads it as this text.

use super::super::Style;
use super::super::node::plain_json;
use longhaul_core::Json;

/// The form of a scalar in the file.
pub(super) enum Form {
    /// On its line.
    Inline(String),
    /// Below its line, after this header.
    Block(String),
}

/// The form of a value.
pub(super) fn form(text: &str, style: Style) -> Form {
    if text.contains('\n') && is_blockable(text) {
        return Form::Block(header(text));
    }
    Form::Inline(inline(text, style))
}

/// A value on one line.
pub(super) fn inline(text: &str, style: Style) -> String {
    if style == Style::Plain && !matches!(plain_json(text), Json::String(_)) {
        // An empty value stays empty, and a number keeps its spelling.
        return text.to_owned();
    }
    if is_plain(text) && !looks_typed(text) { text.to_owned() } else { quoted(text) }
}

/// A value between brackets, where an empty one would be no value at all.
pub(super) fn in_flow(text: &str, style: Style) -> String {
    if text.is_empty() && style == Style::Plain { "null".to_owned() } else { inline(text, style) }
}

/// A key. Almost all keys are names, but the cases of a `switch` are values: `"42"` and `42` differ.
pub(super) fn key(text: &str, style: Style) -> String {
    let typed = style != Style::Plain && !matches!(plain_json(text), Json::String(_));
    if is_plain(text) && !typed { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let awkward = text.contains(['"', '\\']) && !text.contains('\'') && text.chars().all(is_printable);
    if awkward && !text.contains(['\n', '\t']) { format!("'{text}'") } else { double(text) }
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

/// Characters that every reader accepts; the line breaks of YAML 1.1 are not among them.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether a literal block can contain it.
fn is_blockable(text: &str) -> bool {
    let first = text.trim_start_matches('\n');
    // A reader could read a leading tab as indentation.
    !text.trim().is_empty()
        && !first.starts_with('\t')
        && text.chars().all(|c| is_printable(c) || matches!(c, '\n' | '\t'))
        && !has_wide_blank_start(text)
}

/// Blank lines before the first non-blank one must not be longer than the indentation.
fn has_wide_blank_start(text: &str) -> bool {
    text.split('\n').take_while(|line| line.trim().is_empty()).any(|line| !line.is_empty())
}

fn header(text: &str) -> String {
    // Every block is indented by two below its parent.
    let indent = if text.trim_start_matches('\n').starts_with(' ') { "2" } else { "" };
    let chomp = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    format!("|{indent}{chomp}")
}

/// Whether its characters allow a plain scalar, in a block and between brackets.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let starts = match first {
        '-' | '?' | ':' => chars.next().is_some_and(|next| !next.is_whitespace() && !",[]{}:-".contains(next)),
        first => !"#&*!|>'\"%@`,[]{}=~<".contains(first) || text == "<<",
    };
    starts
        && text.trim() == text
        && text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains([',', '[', ']', '{', '}'])
        && !text.contains(":'")
        && !text.contains(":\"")
        && !text.starts_with("...")
}

/// Whether a reader would read plain text as a number, a boolean, a date or null.
fn looks_typed(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"];
    let folded = text.to_ascii_lowercase();
    let digits = text.trim_start_matches(['+', '-', '.']);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || "._:+-eETtZz".contains(c));
    let other_base = ["0x", "0o", "0b"].iter().any(|prefix| digits.to_ascii_lowercase().starts_with(prefix));
    WORDS.contains(&folded.as_str())
        || matches!(folded.trim_start_matches(['+', '-']), ".inf" | ".nan")
        || text == "<<"
        || numeric
        || other_base
        || !matches!(plain_json(text), Json::String(_))
}
