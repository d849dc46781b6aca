//! Checks that a tree has the shapes of the catalogue.
//!
//! One pass over the whole file reports every unknown key, every missing key and every value of the wrong type. Later
//! passes use the valid parts and ignore the others, so each mistake is reported once.

mod scalar;
mod step;

use longhaul_core::catalog::{Field, Shape, top};

use crate::diagnostic::{Diagnostic, suggests};
use crate::source::{Node, Value};

pub(crate) use step::{actions, is_body_mapping};

/// The most findings for one file. More would not help and would fill the memory.
const FINDINGS_MAX: usize = 20_000;

/// Reports everything that does not have the shape of a workflow.
pub(crate) fn workflow(node: &Node, out: &mut Vec<Diagnostic>) {
    Conform { out }.workflow(node);
}

struct Conform<'o> {
    out: &'o mut Vec<Diagnostic>,
}

impl Conform<'_> {
    fn workflow(&mut self, node: &Node) {
        if node.entries().is_none() {
            let message = format!("a workflow is a mapping, but this is {}", node.kind_words());
            self.out.push(
                Diagnostic::error("LH0107", node.span, message)
                    .label("expected `name:`, `steps:` and so on")
                    .help("start with a body: `do:` and a list of steps below it"),
            );
            return;
        }
        self.object(node, top::ALL, "a workflow");
        self.one_body(node, "a workflow");
    }

    /// Checks that there is exactly one of `steps`, `do`, and `start` with `nodes`.
    fn one_body(&mut self, node: &Node, what: &str) {
        let bodies: Vec<&Node> =
            ["steps", "do", "nodes"].iter().filter_map(|key| node.entry(key)).map(|(key, _)| key).collect();
        match bodies.as_slice() {
            [] => self.out.push(
                Diagnostic::error("LH0201", node.span, format!("{what} needs a body"))
                    .label("no `steps`, `do`, or `start` and `nodes` here")
                    .help("`do:` is a sequence, `steps:` a graph, `start:` with `nodes:` a state machine"),
            ),
            [_] => self.start_fits(node),
            [first, second, ..] => self.out.push(
                Diagnostic::error("LH0201", second.span, format!("{what} has one body, but there are several here"))
                    .label("a second body")
                    .related(first.span, "the first body")
                    .help("keep one of them; to use both kinds, nest one inside the other"),
            ),
        }
    }

    fn start_fits(&mut self, node: &Node) {
        match (node.entry("start"), node.entry("nodes")) {
            (Some((start, _)), None) => self.out.push(
                Diagnostic::error("LH0214", start.span, "`start` belongs to `nodes`")
                    .label("this body has no nodes")
                    .help("a state machine has `start:` and `nodes:`; a sequence (`do:`) or a graph (`steps:`) needs no start"),
            ),
            (None, Some((nodes, _))) => self.out.push(
                Diagnostic::error("LH0214", nodes.span, "a state machine needs `start`")
                    .label("the first node is missing")
                    .help("add `start:` with the id of the first node"),
            ),
            _ => {}
        }
    }

    /// Whether the limit of findings is reached.
    fn is_enough(&self) -> bool {
        self.out.len() >= FINDINGS_MAX
    }

    /// Checks a value against a shape. `what` fits "{what} must be …".
    fn shape(&mut self, node: &Node, shape: &Shape, what: &str) {
        if self.is_enough() {
            return;
        }
        match shape {
            Shape::List(item) => self.list(node, item, what),
            Shape::OneOrMany(item) => match node.items() {
                Some(_) => self.list(node, item, what),
                None => self.shape(node, item, what),
            },
            Shape::Map(value) => self.map(node, value, what),
            Shape::Object(fields) => self.object(node, fields, what),
            Shape::Either(shapes) => self.either(node, shapes, what),
            Shape::Workflow => self.workflow(node),
            Shape::Body => self.body(node, what),
            Shape::Steps => self.steps(node, what),
            Shape::Any | Shape::Json | Shape::Computed | Shape::Schema => {}
            scalar => self.scalar(node, scalar, what),
        }
    }

    fn list(&mut self, node: &Node, item: &Shape, what: &str) {
        let Some(items) = node.items() else {
            return self.wrong_kind(node, what, "a list");
        };
        for entry in items {
            self.shape(entry, item, &format!("an entry of {what}"));
        }
    }

    fn map(&mut self, node: &Node, value: &Shape, what: &str) {
        let Some(entries) = node.entries() else {
            return self.wrong_kind(node, what, "a mapping");
        };
        for (key, entry) in entries {
            self.shape(entry, value, &format!("`{}`", key.scalar().unwrap_or_default()));
        }
    }

    fn object(&mut self, node: &Node, fields: &[Field], what: &str) {
        let Some(entries) = node.entries() else {
            return self.wrong_kind(node, what, "a mapping");
        };
        for (key, value) in entries {
            let word = key.scalar().unwrap_or_default();
            match fields.iter().find(|field| field.key == word) {
                Some(field) => self.field(field, value),
                None => self.unknown_key(key, what, fields.iter().map(|field| field.key).collect()),
            }
        }
        self.required(node, fields, what);
    }

    fn field(&mut self, field: &Field, value: &Node) {
        self.shape(value, &field.shape, &format!("`{}`", field.key));
    }

    fn required(&mut self, node: &Node, fields: &[Field], what: &str) {
        for field in fields.iter().filter(|field| field.required && node.get(field.key).is_none()) {
            self.out.push(
                Diagnostic::error("LH0109", node.span, format!("{what} needs `{}`", field.key))
                    .label(format!("no `{}` here", field.key))
                    .help(format!("add `{}`: {}", field.key, as_clause(field.doc))),
            );
        }
    }

    fn unknown_key(&mut self, key: &Node, what: &str, known: Vec<&str>) {
        if self.is_enough() {
            return;
        }
        let word = key.scalar().unwrap_or_default();
        let diagnostic =
            Diagnostic::error("LH0108", key.span, format!("{what} has no key `{word}`")).label("unknown key");
        if let Some(action) = what.strip_prefix('`').filter(|_| top::BODY_KEYS.contains(&word)) {
            let action = action.trim_end_matches('`');
            self.out.push(diagnostic.help(format!("the body belongs beside `{action}`, not inside it: move it out")));
            return;
        }
        if !suggests(self.out) {
            return self.out.push(diagnostic);
        }
        self.out.push(diagnostic.which_key(word, known));
    }

    /// Checks the alternative that fits the value's type.
    fn either(&mut self, node: &Node, shapes: &[Shape], what: &str) {
        let fitting: Vec<&Shape> = shapes.iter().filter(|shape| same_kind(node, shape)).collect();
        match fitting.as_slice() {
            [] => self.wrong_kind(node, what, &words_of(shapes)),
            [only] => self.shape(node, only, what),
            several => {
                let ok = several.iter().any(|shape| {
                    let mut found = Vec::new();
                    Conform { out: &mut found }.shape(node, shape, what);
                    found.is_empty()
                });
                if !ok {
                    self.wrong_kind(node, what, &words_of(shapes));
                }
            }
        }
    }

    fn wrong_kind(&mut self, node: &Node, what: &str, wanted: &str) {
        let message = format!("{what} must be {wanted}, but this is {}", node.kind_words());
        let diagnostic = Diagnostic::error("LH0107", node.span, message).label(format!("expected {wanted}"));
        self.out.push(match remedy(node, wanted) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }
}

/// The fix for a value of the wrong type, if it is obvious.
fn remedy(node: &Node, wanted: &str) -> Option<&'static str> {
    let looks_like_number = || node.as_text().is_some_and(|text| text.parse::<f64>().is_ok());
    match wanted {
        _ if node.is_null() => Some("give it a value, or remove the key"),
        "a mapping" if node.items().is_some() => Some("write `key: value` lines, without dashes"),
        "a whole number" | "a number" if looks_like_number() => Some("remove the quotes"),
        _ => None,
    }
}

/// Whether a value could have a shape, judged by its type alone.
fn same_kind(node: &Node, shape: &Shape) -> bool {
    match (shape, &node.value) {
        (Shape::Either(shapes), _) => shapes.iter().any(|shape| same_kind(node, shape)),
        (Shape::Any | Shape::Json | Shape::Computed | Shape::Schema | Shape::Body, _) => true,
        (Shape::List(_) | Shape::Steps, Value::Seq(..)) => true,
        (Shape::OneOrMany(_), Value::Seq(..)) => true,
        (Shape::OneOrMany(item), _) => same_kind(node, item),
        (Shape::Map(_) | Shape::Object(_) | Shape::Workflow, Value::Map(..)) => true,
        (Shape::List(_) | Shape::Steps | Shape::Map(_) | Shape::Object(_) | Shape::Workflow, _) => false,
        (Shape::Bool, Value::Scalar(..)) => node.as_bool().is_some(),
        (Shape::Int(..) | Shape::Number, Value::Scalar(..)) => {
            node.scalar_json().is_some_and(|value| value.is_number())
        }
        (Shape::Expr, Value::Scalar(..)) => !node.is_null(),
        (_, Value::Scalar(..)) => node.as_text().is_some(),
        (_, Value::Seq(..) | Value::Map(..) | Value::Alias(_)) => false,
    }
}

/// The first sentence of a key's description, to follow a colon.
fn as_clause(doc: &str) -> String {
    let first = doc.split(". ").next().unwrap_or(doc).trim_end_matches('.');
    let mut chars = first.chars();
    chars.next().map_or(String::new(), |head| head.to_lowercase().chain(chars).collect())
}

fn words_of(shapes: &[Shape]) -> String {
    let mut words: Vec<String> = Vec::new();
    for shape in shapes {
        let word = scalar::words(shape);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" or ")
}
