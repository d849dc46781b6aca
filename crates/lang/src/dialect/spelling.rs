//! Texts, names and ids of other systems, spelled so that they mean the same natively.
//!
//! **Invariant:** the same input always gives the same spelling, so that a reference and what it refers
//! to can be respelled apart from each other.

use longhaul_core::Json;
use longhaul_core::catalog::names::RESERVED;
use longhaul_core::id::{ID_CHARS_MAX, is_name, is_step_id};

use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span, Value};

pub(super) use super::compose::quoted;

/// Words of the expression language that cannot be names.
const KEYWORDS: &[&str] =
    &["and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None", "loop", "self"];

/// A text without templates as a template that renders to it.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        escaped.push_str(before);
        let opening = ["{{", "{%", "{#"].into_iter().find(|opening| after.starts_with(opening));
        match opening {
            Some(opening) => escaped.push_str(&format!("{{{{ '{opening}' }}}}")),
            None => escaped.push('{'),
        }
        rest = after.get(opening.map_or(1, str::len)..).unwrap_or_default();
    }
    escaped + rest
}

/// A node whose text is taken as written, as a template.
pub(super) fn literal_text(node: &Node) -> Node {
    let text = node.scalar().unwrap_or_default();
    let escaped = escape(text);
    if escaped == text { node.clone() } else { Node::text(node.span, escaped) }
}

/// A value whose texts are taken as written, where texts are templates.
pub(super) fn literal_value(node: &Node) -> Node {
    match &node.value {
        Value::Scalar(..) => literal_text(node),
        Value::Seq(items, flow) => Node::new(node.span, Value::Seq(items.iter().map(literal_value).collect(), *flow)),
        Value::Map(entries, flow) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), literal_value(value))).collect();
            Node::new(node.span, Value::Map(entries, *flow))
        }
        Value::Alias(_) => node.clone(),
    }
}

/// A JSON value as an expression.
pub(super) fn expression_of(value: &Json) -> String {
    match value {
        Json::Null => "none".to_owned(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", items.iter().map(expression_of).collect::<Vec<_>>().join(", ")),
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| format!("{}: {}", quoted(key), expression_of(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// `steps.build` or `steps['build-1']`.
pub(super) fn step_reference(id: &str) -> String {
    if is_name(id) { format!("steps.{id}") } else { format!("steps['{id}']") }
}

/// Continues from an expression along a path: fields, positions, and `length` at the end.
pub(super) fn walk<'p>(base: String, path: impl IntoIterator<Item = &'p str>) -> String {
    let mut segments = path.into_iter().peekable();
    let mut expression = base;
    while let Some(segment) = segments.next() {
        if segment == "length" && segments.peek().is_none() {
            // What may be missing has no length.
            expression.push_str(" | default([], true) | length");
        } else if is_name(segment) {
            expression.push('.');
            expression.push_str(segment);
        } else if !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit()) {
            expression.push_str(&format!("[{segment}]"));
        } else {
            expression.push_str(&format!("[{}]", quoted(segment)));
        }
    }
    expression
}

/// An id that a step can have.
pub(super) fn step_id(text: &str) -> String {
    if is_step_id(text) {
        return text.to_owned();
    }
    let id: String = respell(text, '-').trim_matches('-').chars().take(ID_CHARS_MAX).collect();
    if id.is_empty() { "step".to_owned() } else { id }
}

/// A name that a value can have.
pub(super) fn value_name(text: &str) -> String {
    let mut name: String = respell(text, '_').chars().take(ID_CHARS_MAX - 2).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    let taken = RESERVED.iter().any(|(word, _)| *word == name) || KEYWORDS.contains(&name.as_str());
    if taken { name + "_" } else { name }
}

fn respell(text: &str, filler: char) -> String {
    let keeps = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == filler;
    let mut spelled = String::new();
    for c in text.chars() {
        if keeps(c) {
            spelled.push(c);
        } else if !spelled.ends_with(filler) {
            spelled.push(filler);
        }
    }
    spelled
}

/// A mapping as it prints on one line, where it fits.
pub(super) fn on_one_line(node: Node) -> Node {
    match node.value {
        Value::Map(entries, _) => Node { value: Value::Map(entries, true), ..node },
        _ => node,
    }
}

/// A time span of so many milliseconds.
pub(super) fn time_span(ms: u64) -> String {
    const HOUR_MS: u64 = 3_600_000;
    match ms {
        _ if ms > 0 && ms.is_multiple_of(HOUR_MS) => format!("{}h", ms / HOUR_MS),
        _ if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    }
}

/// What stands in the place of a step that could not be read: one mistake must not become several by
/// leaving holes.
pub(super) fn nothing(span: Span, name: Option<String>) -> (&'static str, Node) {
    let value = |name| (Node::plain(span, name), Node::plain(span, "null"));
    ("set", Node::new(span, Value::Map(name.map(value).into_iter().collect(), true)))
}

/// Says that something is spelled differently here.
pub(super) fn respelled(span: Span, what: &str, from: &str, to: &str) -> Diagnostic {
    Diagnostic::note("LH0605", span, format!("{what} `{from}` is `{to}` here")).label("spelled differently")
}

/// Says that something is not kept.
pub(super) fn no_effect(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::warning("LH0602", span, format!("`{what}` has no effect here: {why}")).label("not kept")
}

/// Says the same where nobody will miss it.
pub(super) fn no_effect_note(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::note("LH0602", span, format!("`{what}` has no effect here: {why}")).label("not kept")
}

/// Says that a rule of the dialect is broken.
pub(super) fn broken_rule(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::error("LH0603", span, message).label(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_opens_a_template_is_escaped() {
        assert_eq!(escape("a {b} c"), "a {b} c");
        assert_eq!(escape("{{ x }} {% y %} {# z #}"), "{{ '{{' }} x }} {{ '{%' }} y %} {{ '{#' }} z #}");
        assert_eq!(escape("{{{"), "{{ '{{' }}{");
    }

    #[test]
    fn ids_and_names_are_respelled_alike_every_time() {
        for (from, id, name) in [
            ("build", "build", "build"),
            ("step[0]", "step-0", "step_0_"),
            ("a  b.c", "a-b-c", "a_b_c"),
            ("fetch-it", "fetch-it", "fetch_it"),
            ("task", "task", "task_"),
            ("is", "is", "is_"),
            ("9", "9", "_9"),
            ("é", "step", "_"),
        ] {
            assert_eq!((step_id(from).as_str(), value_name(from).as_str()), (id, name), "{from}");
        }
    }

    #[test]
    fn values_become_expressions() {
        let value = json!({"a": [1, null, true], "it's": "x\n\\"});
        assert_eq!(expression_of(&value), r"{'a': [1, none, true], 'it\'s': 'x\n\\'}");
    }

    #[test]
    fn paths_become_fields_positions_and_lengths() {
        assert_eq!(walk("y".into(), ["0", "z"]), "y[0].z");
        assert_eq!(walk("y".into(), ["my-key", "length"]), "y['my-key'] | default([], true) | length");
        assert_eq!(walk("y".into(), ["length", "x"]), "y.length.x");
    }

    #[test]
    fn time_spans_keep_their_precision() {
        assert_eq!([0, 1500, 120_000, 86_400_000].map(time_span), ["0s", "1500ms", "120s", "24h"]);
    }
}
