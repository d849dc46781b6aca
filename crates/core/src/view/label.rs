//! The short text by which people recognise an item of a list: a file, a title, a name.
//!
//! **Invariant:** a label has no control characters, no marks of writing direction and one line, whatever the item is.

use crate::Json;

/// The longest label, in characters.
const LABEL_CHARS_MAX: usize = 48;
/// The part of a text that is looked at. An item can be megabytes long.
const READ_CHARS_MAX: usize = 400;
/// The fields of an object that name it, best first.
const NAMING: [&str; 14] = [
    "title", "name", "label", "file", "path", "filename", "key", "id", "url", "subject", "summary", "number", "task",
    "text",
];

/// The label of an item; `None` if nothing in it can be read as one.
pub fn label(item: &Json) -> Option<String> {
    let text = match item {
        Json::Null => return None,
        Json::String(text) => clean(text),
        Json::Bool(_) | Json::Number(_) => item.to_string(),
        Json::Array(parts) => parts.iter().find_map(scalar)?,
        Json::Object(fields) => {
            let named = NAMING.iter().find_map(|name| fields.get(*name).and_then(scalar));
            named.or_else(|| fields.values().find_map(scalar))?
        }
    };
    Some(cut(&text)).filter(|label| !label.is_empty())
}

/// A value that can be shown as it is.
fn scalar(value: &Json) -> Option<String> {
    let text = match value {
        Json::String(text) => clean(text),
        Json::Number(_) => value.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The first line with something in it, without what a terminal or a browser would obey.
fn clean(text: &str) -> String {
    let start: String = text.chars().take(READ_CHARS_MAX).collect();
    let line = start.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let shown: String = line.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(is_shown).collect();
    shown.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_shown(c: &char) -> bool {
    let turns_direction =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !turns_direction
}

/// A long text keeps its start; a long path keeps its end, where the file is.
fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= LABEL_CHARS_MAX {
        return text.to_owned();
    }
    let is_path = text.contains('/') && !text.contains(' ');
    match is_path {
        true => format!("…{}", text.chars().skip(count - LABEL_CHARS_MAX + 1).collect::<String>()),
        false => format!("{}…", text.chars().take(LABEL_CHARS_MAX - 1).collect::<String>().trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_is_recognised_by_what_names_it() {
        for (item, expected) in [
            (json!("src/a.rs"), Some("src/a.rs")),
            (json!({"n": 1, "title": "Fix the parser", "id": 7}), Some("Fix the parser")),
            (json!({"id": 7}), Some("7")),
            (json!({"odd": {"deep": 1}, "what": "this"}), Some("this")),
            (json!(["a.rs", 3]), Some("a.rs")),
            (json!(12), Some("12")),
            (json!(null), None),
            (json!(""), None),
            (json!({"title": "  ", "name": "b"}), Some("b")),
            (json!([[1]]), None),
        ] {
            assert_eq!(label(&item).as_deref(), expected, "{item}");
        }
    }

    #[test]
    fn a_hostile_item_shows_nothing_that_is_obeyed() {
        assert_eq!(label(&json!("\u{1b}[31mred\u{202e}\r\nnext")).as_deref(), Some("[31mred"));
        assert_eq!(label(&json!("\n\n  a\tb \u{feff} c\nrest")).as_deref(), Some("a b c"));
        let long = label(&json!("x".repeat(1 << 20))).unwrap();
        assert_eq!((long.chars().count(), long.ends_with('…')), (48, true));
        let path = label(&json!(format!("{}/last.rs", "deep/".repeat(30)))).unwrap();
        assert!(path.starts_with('…') && path.ends_with("/last.rs") && path.chars().count() == 48, "{path}");
    }
}
