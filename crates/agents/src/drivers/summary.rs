//! Summarises the input of a tool in one line for people.

use longhaul_core::Json;

/// The longest summary; longer ones are cut.
const CHARS_MAX: usize = 120;
/// The most informative keys, in order.
const TELLING: [&str; 12] = [
    "file_path",
    "filePath",
    "path",
    "command",
    "cmd",
    "pattern",
    "url",
    "query",
    "question",
    "description",
    "prompt",
    "input",
];

/// The input of a tool in one line.
pub(crate) fn of(input: &Json) -> String {
    match input {
        Json::Object(fields) => {
            let telling = TELLING.iter().find_map(|key| fields.get(*key).map(words).filter(|text| !text.is_empty()));
            telling.or_else(|| fields.values().map(words).find(|text| !text.is_empty())).unwrap_or_default()
        }
        other => words(other),
    }
}

/// A value as one line: lists of words as words, anything else as JSON.
fn words(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => line(text),
        Json::Array(items) if items.iter().all(Json::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            line(&texts.join(" "))
        }
        other => line(&other.to_string()),
    }
}

/// One line: white space becomes single spaces, control characters are removed, and a long text is cut.
pub(super) fn line(text: &str) -> String {
    let mut short = String::new();
    let mut chars = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = !short.is_empty();
            continue;
        }
        let wanted = 1 + usize::from(gap);
        if chars + wanted > CHARS_MAX - 1 {
            short.push('…');
            break;
        }
        if gap {
            short.push(' ');
        }
        short.push(c);
        chars += wanted;
        gap = false;
    }
    short
}
