//! Composing native nodes out of a dialect's: mappings, expressions, and ids that had to change.
//!
//! **Invariant:** what is made here has the span of what it was made from, and every expression parses.

use std::collections::{HashMap, HashSet};

use longhaul_core::Json;
use longhaul_core::id::{ID_CHARS_MAX, is_name, is_step_id};

use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span, Value};

/// Words that an expression cannot use as a name.
const KEYWORDS: &[&str] =
    &["and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None"];

/// A native mapping that is being written.
pub(super) struct Entries {
    span: Span,
    entries: Vec<(Node, Node)>,
}

impl Entries {
    /// An empty one, in the place of `origin`.
    pub(super) fn at(origin: &Node) -> Self {
        Self { span: origin.span, entries: Vec::new() }
    }

    /// Adds an entry.
    pub(super) fn put(&mut self, key: &str, value: Node) {
        self.entries.push((Node::plain(value.span, key), value));
    }

    /// Adds an entry, if there is a value.
    pub(super) fn put_some(&mut self, key: &str, value: Option<Node>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds an entry whose key is the user's.
    pub(super) fn put_keyed(&mut self, key: Node, value: Node) {
        self.entries.push((key, value));
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The mapping, one entry a line.
    pub(super) fn block(self) -> Node {
        Node::new(self.span, Value::Map(self.entries, false))
    }

    /// The mapping, on one line.
    pub(super) fn flow(self) -> Node {
        Node::new(self.span, Value::Map(self.entries, true))
    }

    /// The mapping on one line, unless it is empty.
    pub(super) fn flow_if_any(self) -> Option<Node> {
        (!self.is_empty()).then(|| self.flow())
    }
}

/// A list on one line.
pub(super) fn flow_list(origin: &Node, items: Vec<Node>) -> Node {
    Node::new(origin.span, Value::Seq(items, true))
}

/// A text as an expression's literal.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for c in text.chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '\'' => literal.push_str("\\'"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            _ => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}

/// A value as an expression's literal.
pub(super) fn literal(value: &Json) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Null => "none".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", joined(items.iter().map(literal).collect())),
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| format!("{}: {}", quoted(key), literal(value));
            format!("{{{}}}", joined(map.iter().map(entry).collect()))
        }
    }
}

/// `.segment`, or `['segment']` where that is not a name.
pub(super) fn member(segment: &str) -> String {
    if is_readable(segment) { format!(".{segment}") } else { format!("[{}]", quoted(segment)) }
}

/// Whether an expression can read `word` as a name.
pub(super) fn is_readable(word: &str) -> bool {
    is_name(word) && !KEYWORDS.contains(&word)
}

/// A template as an expression: its texts and values, joined. `None` if it has statements, or braces
/// that do not close.
pub(super) fn concatenation(template: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("{{") {
        let (inner, after) = tail.split_once("}}")?;
        if !before.is_empty() {
            parts.push(quoted(before));
        }
        parts.push(inner.trim().to_owned());
        rest = after;
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(quoted(rest));
    }
    let statement = template.contains("{%") || template.contains("{#");
    let hollow = parts.iter().any(String::is_empty);
    (!statement && !hollow).then(|| match parts.as_slice() {
        [single] if is_readable(single) || single.starts_with('\'') => single.clone(),
        [single] => format!("({single})"),
        several => format!("({})", several.join(" ~ ")),
    })
}

/// Ids as they are in the file, and as they must be here.
pub(super) struct Ids {
    changed: HashMap<String, String>,
}

impl Ids {
    /// Finds an id for everything that has none by the native grammar, and says so.
    pub(super) fn of<'n>(ids: impl Iterator<Item = &'n Node>, out: &mut Vec<Diagnostic>) -> Self {
        let (fit, unfit): (Vec<_>, Vec<_>) =
            ids.filter(|id| id.as_text().is_some()).partition(|id| id.as_text().is_some_and(is_step_id));
        let mut taken: HashSet<String> = fit.iter().filter_map(|id| id.as_text()).map(str::to_owned).collect();
        let mut changed = HashMap::new();
        for (id, text) in unfit.into_iter().filter_map(|id| Some((id, id.as_text()?))) {
            if text.trim().is_empty() || changed.contains_key(text) {
                continue;
            }
            let native = free(&as_id(text), &taken);
            out.push(renamed(id, text, &native));
            taken.insert(native.clone());
            changed.insert(text.to_owned(), native);
        }
        Self { changed }
    }

    /// An id or a reference to one.
    pub(super) fn native(&self, node: &Node) -> Node {
        match node.as_text().and_then(|text| self.changed.get(text)) {
            Some(native) => Node::plain(node.span, native.as_str()),
            None => node.clone(),
        }
    }

    /// An id's text.
    pub(super) fn text<'a>(&'a self, id: &'a str) -> &'a str {
        self.changed.get(id).map_or(id, String::as_str)
    }
}

/// "`a b` is called `a-b` here".
pub(super) fn renamed(node: &Node, from: &str, to: &str) -> Diagnostic {
    Diagnostic::note("LH0605", node.span, format!("`{from}` is called `{to}` here"))
        .label("not a native name")
        .help("names have letters, digits and `_`; ids of steps may have `-` as well")
}

/// A name that can be read, made out of any text.
pub(super) fn as_name(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name };
    if name.is_empty() { "_".to_owned() } else { name.chars().take(ID_CHARS_MAX).collect() }
}

fn as_id(text: &str) -> String {
    let dashed: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(ID_CHARS_MAX).collect();
    let id = dashed.trim_matches('-');
    if id.is_empty() { "step".to_owned() } else { id.to_owned() }
}

fn free(wanted: &str, taken: &HashSet<String>) -> String {
    let numbered = |n: usize| {
        let head: String = wanted.chars().take(ID_CHARS_MAX - 6).collect();
        format!("{head}-{n}")
    };
    let mut candidates = std::iter::once(wanted.to_owned()).chain((2..).map(numbered));
    candidates.find(|id| !taken.contains(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use serde_json::json;

    fn parses(expression: &str) {
        let environment = minijinja::Environment::new();
        assert!(environment.compile_expression(expression).is_ok(), "{expression}");
    }

    #[test]
    fn literals_are_what_an_expression_reads_back() {
        for value in [json!("it's \\ \n"), json!({"a b": [1, -2.5, null, true]}), json!([])] {
            let text = literal(&value);
            parses(&text);
            let environment = minijinja::Environment::new();
            let back = environment.compile_expression(&text).unwrap().eval(()).unwrap();
            assert_eq!(serde_json::to_value(back).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_template_becomes_a_joined_expression() {
        for (template, expression) in [
            ("plain", Some("'plain'")),
            ("", Some("''")),
            ("{{ a }}", Some("a")),
            ("{{ a.b | int }}", Some("(a.b | int)")),
            ("x {{ a }} y", Some("('x ' ~ a ~ ' y')")),
            ("{% if a %}b{% endif %}", None),
            ("{{ a", None),
            ("{{}}", None),
        ] {
            assert_eq!(concatenation(template).as_deref(), expression, "{template}");
            expression.into_iter().for_each(parses);
        }
    }

    #[test]
    fn members_that_are_not_names_are_bracketed() {
        assert_eq!(member("ok"), ".ok");
        assert_eq!(member("a-b"), "['a-b']");
        assert_eq!(member("0"), "['0']");
        assert_eq!(member("not"), "['not']");
    }

    #[test]
    fn ids_that_do_not_fit_are_changed_once_and_never_onto_another() {
        let span = Span::new(FileId(0), 0, 0);
        let nodes = ["a-b", "a b", "a/b", "a b", "  "].map(|id| Node::text(span, id));
        let mut out = Vec::new();
        let ids = Ids::of(nodes.iter(), &mut out);
        let native = |text| ids.text(text).to_owned();
        assert_eq!([native("a-b"), native("a b"), native("a/b")], ["a-b", "a-b-2", "a-b-3"]);
        assert_eq!(out.len(), 2);
    }
}
