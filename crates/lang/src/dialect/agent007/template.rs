//! Translates Tera templates into Jinja templates.
//!
//! The two agree on nearly everything. They differ in filters with named arguments, in `args`, which is the task, and
//! in a marker that the original replaces when it writes its own files.

use std::collections::HashMap;

use super::super::compose::Entries;
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span, Style, Value};
use serde_json::json;

/// Filters whose arguments are named in Tera and positional here.
const NAMED_ARGUMENTS: &[(&str, &[&str])] =
    &[("default", &["value"]), ("join", &["sep"]), ("split", &["pat"]), ("replace", &["from", "to"])];
const MARKER: &str = "WORKFLOW_OPERATING_PROTOCOL";

/// The names that the original fills in and that a text reads, with their first place.
#[derive(Default)]
pub(super) struct Reads {
    memory: Option<Span>,
    rag_context: Option<Span>,
}

impl Reads {
    /// These names as inputs, empty by default.
    pub(super) fn inputs(&self) -> Option<Node> {
        let input = |span: Span, value: serde_json::Value| Node::of_json(span, &value);
        let memory = json!({"type": "object", "default": {"project": "", "user": "", "global": "", "repo_brain": ""}});
        let rag_context = json!({"type": "string", "default": ""});
        let span = self.memory.or(self.rag_context)?;
        let mut inputs = Entries::at(&Node::plain(span, ""));
        inputs.put_some("memory", self.memory.map(|span| input(span, memory)));
        inputs.put_some("rag_context", self.rag_context.map(|span| input(span, rag_context)));
        Some(inputs.block())
    }

    fn note(&mut self, name: &str, span: Span) {
        let slot = match name {
            "memory" => &mut self.memory,
            "rag_context" => &mut self.rag_context,
            _ => return,
        };
        slot.get_or_insert(span);
    }
}

/// A value with its Tera texts translated.
pub(super) fn rewrite(
    node: &Node,
    names: &HashMap<String, String>,
    reads: &mut Reads,
    out: &mut Vec<Diagnostic>,
) -> Node {
    let mut again = |node: &Node| rewrite(node, names, reads, out);
    let value = match &node.value {
        Value::Scalar(text, style) => return scalar(node, (text, *style), names, reads).reported(out),
        Value::Seq(items, flow) => Value::Seq(items.iter().map(again).collect(), *flow),
        Value::Map(entries, flow) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), again(value))).collect(), *flow)
        }
        Value::Alias(_) => node.value.clone(),
    };
    Node::new(node.span, value)
}

struct Rewritten {
    node: Node,
    without_marker: bool,
}

impl Rewritten {
    fn reported(self, out: &mut Vec<Diagnostic>) -> Node {
        if self.without_marker {
            let message = format!("`{{{{{MARKER}}}}}` is left out: only the original's own files have a text for it");
            out.push(Diagnostic::note("LH0602", self.node.span, message).label("this prompt has it"));
        }
        self.node
    }
}

fn scalar(node: &Node, (text, style): (&str, Style), names: &HashMap<String, String>, reads: &mut Reads) -> Rewritten {
    let mut scan = Scan { rest: text, done: String::with_capacity(text.len()), names, calls: Vec::new(), read: vec![] };
    let without_marker = scan.run();
    scan.read.iter().for_each(|name| reads.note(name, node.span));
    let node = Node::new(node.span, Value::Scalar(scan.done, style));
    Rewritten { node, without_marker }
}

struct Scan<'t> {
    rest: &'t str,
    done: String,
    names: &'t HashMap<String, String>,
    /// Names of the calls whose parentheses are open.
    calls: Vec<&'t str>,
    read: Vec<&'t str>,
}

impl<'t> Scan<'t> {
    /// Goes over the text once; returns whether the marker was found.
    fn run(&mut self) -> bool {
        let mut marker = false;
        while let Some(at) = self.rest.find(['{']) {
            self.copy(at);
            match self.rest.as_bytes().get(1) {
                Some(b'{') if self.skip_marker() => marker = true,
                Some(b'{') => self.tag("}}"),
                Some(b'%') => self.statement(),
                Some(b'#') => self.through("#}"),
                _ => self.copy(1),
            }
        }
        self.copy(self.rest.len());
        marker
    }

    fn skip_marker(&mut self) -> bool {
        let inner = self.rest.get(2..).and_then(|rest| rest.split_once("}}"));
        let Some((_, after)) = inner.filter(|(word, _)| word.trim() == MARKER) else { return false };
        // If the line contained nothing else, it is removed.
        let alone = self.done.is_empty() || self.done.ends_with('\n');
        self.rest = if alone { after.strip_prefix('\n').unwrap_or(after) } else { after };
        true
    }

    fn statement(&mut self) {
        let word = self.rest.get(2..).unwrap_or_default().trim_start_matches(['-', ' ']);
        self.tag("%}");
        if word.starts_with("raw") {
            let end = self.rest.find("endraw").unwrap_or(self.rest.len());
            let end = self.rest.get(..end).and_then(|raw| raw.rfind("{%")).unwrap_or(end);
            self.copy(end);
        }
    }

    fn tag(&mut self, close: &str) {
        self.copy(2);
        self.calls.clear();
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with(close) {
                return self.copy(close.len());
            }
            match c {
                '"' | '\'' | '`' => self.string(c),
                '(' => self.open_call(),
                ')' => {
                    self.calls.pop();
                    self.copy(1);
                }
                _ if c.is_ascii_alphabetic() || c == '_' => self.word(),
                _ if c.is_ascii_digit() => self.copy(word_length(self.rest)),
                _ => self.copy(c.len_utf8()),
            }
        }
    }

    fn string(&mut self, quote: char) {
        let end = self.rest.get(1..).and_then(|rest| rest.find(quote)).map_or(self.rest.len(), |at| at + 2);
        self.copy(end);
    }

    fn open_call(&mut self) {
        self.copy(1);
        let before = self.done.trim_end_matches('(').trim_end();
        let start = before.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
        let name = NAMED_ARGUMENTS.iter().map(|(name, _)| *name).find(|name| before.get(start..) == Some(name));
        self.calls.push(name.unwrap_or_default());
    }

    fn word(&mut self) {
        let (word, after) = self.rest.split_at(word_length(self.rest));
        let behind = self.done.trim_end();
        let is_part = behind.ends_with('.') || behind.ends_with('|') || ends_with_is(behind);
        let follows = after.trim_start();
        let is_key = !self.calls.is_empty() && follows.starts_with('=') && !follows.starts_with("==");
        if is_key && self.is_implied(word) {
            self.rest = follows.get(1..).unwrap_or_default().trim_start();
        } else if is_part || is_key {
            self.copy(word.len());
        } else {
            self.read.push(word);
            let task = (word == "args").then_some("task");
            self.done.push_str(self.names.get(word).map(String::as_str).or(task).unwrap_or(word));
            self.rest = after;
        }
    }

    fn is_implied(&self, key: &str) -> bool {
        let call = self.calls.last().copied().unwrap_or_default();
        NAMED_ARGUMENTS.iter().any(|(name, keys)| *name == call && keys.contains(&key))
    }

    fn through(&mut self, end: &str) {
        let at = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.copy(at);
    }

    fn copy(&mut self, bytes: usize) {
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.done.push_str(head);
        self.rest = tail;
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !is_word(c)).unwrap_or(text.len())
}

/// Whether the next word is the name of a test.
fn ends_with_is(text: &str) -> bool {
    let text = text.strip_suffix("not").map_or(text, str::trim_end);
    text.strip_suffix("is").is_some_and(|before| before.ends_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn check(tera: &str, jinja: &str) -> usize {
        let node = Node::text(Span::new(FileId(0), 0, 0), tera);
        let names = HashMap::from([("run".to_owned(), "run_output".to_owned())]);
        let mut out = Vec::new();
        let native = rewrite(&node, &names, &mut Reads::default(), &mut out);
        assert_eq!(native.scalar(), Some(jinja));
        let environment = minijinja::Environment::new();
        assert!(environment.template_from_str(jinja).is_ok(), "{jinja}");
        out.len()
    }

    #[test]
    fn named_arguments_come_in_order() {
        check(r#"{{ a | default(value="(x)") }}"#, r#"{{ a | default("(x)") }}"#);
        check(r#"{{ a|replace(from="x", to = "y") }}"#, r#"{{ a|replace("x", "y") }}"#);
        check(r#"{{ a | truncate(length=3) }}"#, r#"{{ a | truncate(length=3) }}"#);
        check(r#"{% if a == value %}value={% endif %}"#, r#"{% if a == value %}value={% endif %}"#);
    }

    #[test]
    fn only_names_are_renamed() {
        check("{{ args }} args {{ x.args }}", "{{ task }} args {{ x.args }}");
        check("{{ 'args' ~ run }}{{ steps.run }}", "{{ 'args' ~ run_output }}{{ steps.run }}");
        check(
            "{# args #}{% raw %}{{ args }}{% endraw %}{{ args }}",
            "{# args #}{% raw %}{{ args }}{% endraw %}{{ task }}",
        );
        check(
            "{% if run is defined %}{{ run }}{% endif %}",
            "{% if run_output is defined %}{{ run_output }}{% endif %}",
        );
    }

    #[test]
    fn the_marker_goes_with_its_line() {
        assert_eq!(check("a\n{{WORKFLOW_OPERATING_PROTOCOL}}\nb", "a\nb"), 1);
        assert_eq!(check("a {{ WORKFLOW_OPERATING_PROTOCOL }} b", "a  b"), 1);
        assert_eq!(check("plain { text", "plain { text"), 0);
    }
}
