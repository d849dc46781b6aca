//! Limits for data from outside: answers of agents, outputs of commands, replies of servers, inputs, signals.
//!
//! **Invariant:** a value that passes is the same after it was stored and read again.

use crate::Json;

/// How deeply a value may be nested. Readers of JSON stop at 128 levels, and events and containers put levels around a value.
pub const DEPTH_MAX: usize = 96;

/// The message about a value that is nested more deeply.
pub const TOO_DEEP: &str = "the value is nested more than 96 levels deep; flatten it, or pass it on as text";

/// Whether a value is nested too deeply to be stored.
pub fn is_too_deep(value: &Json) -> bool {
    is_deeper(value, DEPTH_MAX)
}

fn is_deeper(value: &Json, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return true };
    match value {
        Json::Array(items) => items.iter().any(|item| is_deeper(item, below)),
        Json::Object(map) => map.values().any(|item| is_deeper(item, below)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Why a text is not a valid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is not JSON.
    NotJson(String),
    /// It is JSON, but storing would change it.
    Lossy(String),
}

impl Unread {
    /// The reason, in words.
    pub fn why(self) -> String {
        match self {
            Self::NotJson(why) | Self::Lossy(why) => why,
        }
    }
}

/// Reads one JSON value. Refuses a number that storing would change, and a value that is too deep.
pub fn read(text: &str) -> Result<Json, Unread> {
    let value: Json =
        serde_json::from_str(text).map_err(|error| match is_nested_deeper(before(&error, text), DEPTH_MAX) {
            true => Unread::Lossy(TOO_DEEP.to_owned()),
            false => Unread::NotJson(error.to_string()),
        })?;
    if let Some(number) = whole_numbers(text).find(|number| !is_kept(number)) {
        return Err(Unread::Lossy(format!("the number {number} does not fit into 64 bits; write it as text")));
    }
    if is_too_deep(&value) { Err(Unread::Lossy(TOO_DEEP.to_owned())) } else { Ok(value) }
}

/// Whether a whole number is stored without a change.
fn is_kept(number: &str) -> bool {
    number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
}

/// The part of a text that was read as JSON before the error.
fn before<'t>(error: &serde_json::Error, text: &'t str) -> &'t str {
    let lines: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    text.get(..lines + error.column()).unwrap_or_default()
}

/// Whether brackets outside of strings are nested more deeply than `levels`.
fn is_nested_deeper(text: &str, levels: usize) -> bool {
    let (mut depth, mut rest) = (0_usize, text);
    while let Some(at) = rest.find(['"', '[', ']', '{', '}']) {
        let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = if sign == b'"' { after_string(after) } else { after };
        match sign {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

/// The whole numbers of a JSON text that may be too large, as written.
fn whole_numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[at..];
            if let Some(inside) = rest.strip_prefix('"') {
                rest = after_string(inside);
                continue;
            }
            let end = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
            let number;
            (number, rest) = rest.split_at(end);
            if number.len() > 18 && !number.contains(['.', 'e', 'E']) {
                return Some(number);
            }
        }
    })
}

/// The text after the end of a string.
fn after_string(inside: &str) -> &str {
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or("", |end| &inside[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn depth_is_bounded() {
        assert!(read(&nested(DEPTH_MAX - 1)).is_ok());
        for levels in [DEPTH_MAX, 126, 127, 128, 10_000] {
            assert_eq!(read(&nested(levels)), Err(Unread::Lossy(TOO_DEEP.to_owned())), "{levels}");
            let over_lines = format!("{{\"a\":\n{}}}", nested(levels));
            assert_eq!(read(&over_lines), Err(Unread::Lossy(TOO_DEEP.to_owned())), "{levels}");
        }
        let colours = "\u{1b}[32mgreen ".repeat(200);
        assert!(matches!(read(&colours), Err(Unread::NotJson(_))), "brackets of a text that is not JSON");
        assert!(matches!(read(&format!("[1] {colours}")), Err(Unread::NotJson(_))));
    }

    #[test]
    fn numbers_stay_what_they_are_or_are_refused() {
        for whole in ["18446744073709551615", "-9223372036854775808", "0", "[1, -2]", r#""99999999999999999999\\""#] {
            assert_eq!(read(whole).unwrap(), serde_json::from_str::<Json>(whole).unwrap());
        }
        assert_eq!(read("[1e300, 1.5, 12345678901234567890123.0]").unwrap()[1], 1.5);
        for changed in ["18446744073709551616", "-9223372036854775809", r#"{"\"a": [1, 123456789012345678901234]}"#] {
            assert!(read(changed).unwrap_err().why().contains("64 bits"), "{changed}");
        }
    }
}
