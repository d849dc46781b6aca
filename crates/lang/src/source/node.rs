//! Reads the content of nodes, and builds nodes in the place of others.

use longhaul_core::Json;

use super::{Comments, Node, Span, Style, Value};

impl Node {
    /// A node without comments.
    pub fn new(span: Span, value: Value) -> Self {
        Self { span, value, anchor: None, comments: None }
    }

    /// A text that always stays text.
    pub fn text(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let style = if text.contains('\n') { Style::Literal } else { Style::Double };
        Self::new(span, Value::Scalar(text, style))
    }

    /// A plain scalar: a word, a number, `true`, `null`.
    pub fn plain(span: Span, text: impl Into<String>) -> Self {
        Self::new(span, Value::Scalar(text.into(), Style::Plain))
    }

    /// A list.
    pub fn seq(span: Span, items: Vec<Node>) -> Self {
        Self::new(span, Value::Seq(items, false))
    }

    /// A mapping with plain keys.
    pub fn map<'k>(span: Span, entries: impl IntoIterator<Item = (&'k str, Node)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Self::plain(value.span, key), value)).collect();
        Self::new(span, Value::Map(entries, false))
    }

    /// A node with the content of a JSON value.
    pub fn of_json(span: Span, value: &Json) -> Self {
        match value {
            Json::Null => Self::plain(span, "null"),
            Json::Bool(flag) => Self::plain(span, flag.to_string()),
            Json::Number(number) => Self::plain(span, number.to_string()),
            Json::String(text) => Self::text(span, text.as_str()),
            Json::Array(items) => Self::seq(span, items.iter().map(|item| Self::of_json(span, item)).collect()),
            Json::Object(map) => {
                let entry =
                    |(key, value): (&String, &Json)| (Self::text(span, key.as_str()), Self::of_json(span, value));
                Self::new(span, Value::Map(map.iter().map(entry).collect(), false))
            }
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[(Node, Node)]> {
        match &self.value {
            Value::Map(entries, _) => Some(entries),
            Value::Scalar(..) | Value::Seq(..) | Value::Alias(_) => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Seq(items, _) => Some(items),
            Value::Scalar(..) | Value::Map(..) | Value::Alias(_) => None,
        }
    }

    /// The value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Key and value under a key of a mapping.
    pub fn entry(&self, key: &str) -> Option<(&Node, &Node)> {
        let (key, value) = self.entries()?.iter().find(|(candidate, _)| candidate.scalar() == Some(key))?;
        Some((key, value))
    }

    /// The text of a scalar of any type.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, _) => Some(text),
            Value::Seq(..) | Value::Map(..) | Value::Alias(_) => None,
        }
    }

    /// The text of a scalar that is text: quoted, a block, or a plain word of no other type.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, Style::Plain) => matches!(plain_json(text), Json::String(_)).then_some(text),
            Value::Scalar(text, _) => Some(text),
            Value::Seq(..) | Value::Map(..) | Value::Alias(_) => None,
        }
    }

    /// Whether it is `null` or empty.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, Style::Plain) if plain_json(text) == Json::Null)
    }

    /// `true` or `false`, if it is one of them.
    pub fn as_bool(&self) -> Option<bool> {
        self.scalar_json()?.as_bool()
    }

    /// A scalar as a JSON value, by YAML 1.2's core schema.
    pub fn scalar_json(&self) -> Option<Json> {
        match &self.value {
            Value::Scalar(text, Style::Plain) => Some(plain_json(text)),
            Value::Scalar(text, _) => Some(Json::String(text.clone())),
            Value::Seq(..) | Value::Map(..) | Value::Alias(_) => None,
        }
    }

    /// The whole node as a JSON value. Keys become text.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(..) => self.scalar_json().unwrap_or_default(),
            Value::Seq(items, _) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries, _) => {
                let entry =
                    |(key, value): &(Node, Node)| (key.scalar().unwrap_or_default().to_owned(), value.to_json());
                Json::Object(entries.iter().map(entry).collect())
            }
            Value::Alias(name) => Json::String(format!("*{name}")),
        }
    }

    /// Its type, in words that fit "this is {kind}".
    pub fn kind_words(&self) -> &'static str {
        match &self.value {
            Value::Seq(..) => "a list",
            Value::Map(..) => "a mapping",
            Value::Alias(_) => "an alias",
            Value::Scalar(..) => match self.scalar_json() {
                Some(Json::Null) => "nothing",
                Some(Json::Bool(_)) => "a boolean",
                Some(Json::Number(_)) => "a number",
                _ => "text",
            },
        }
    }

    /// The comments, created if there are none.
    pub fn comments_mut(&mut self) -> &mut Comments {
        self.comments.get_or_insert_with(Box::default)
    }
}

/// The value of a plain scalar in YAML 1.2's core schema.
pub(crate) fn plain_json(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => number(text).map_or_else(|| Json::String(text.to_owned()), Json::Number),
    }
}

fn number(text: &str) -> Option<serde_json::Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Some(hex) = unsigned.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().filter(|_| unsigned == text).map(Into::into);
    }
    if let Some(octal) = unsigned.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().filter(|_| unsigned == text).map(Into::into);
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        let digits = text.strip_prefix('+').unwrap_or(text);
        return digits.parse::<i64>().map(Into::into).or_else(|_| digits.parse::<u64>().map(Into::into)).ok();
    }
    let decimal = unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    text.parse::<f64>().ok().filter(|_| decimal).and_then(serde_json::Number::from_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, value) in [
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("true", json!(true)),
            ("~", json!(null)),
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("0x1F", json!(31)),
            ("1.50", json!(1.5)),
            ("1e3", json!(1000.0)),
            ("1.2.3", json!("1.2.3")),
            ("2026-01-01", json!("2026-01-01")),
            ("12:30", json!("12:30")),
            ("inf", json!("inf")),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(plain_json(text), value, "{text}");
        }
    }
}
