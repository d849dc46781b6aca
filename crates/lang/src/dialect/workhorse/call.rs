//! `call`: the two built-in functions, as `set`.
//!
//! `incr` counts one up and `seed` sets what is not set yet.

use super::super::compose::{Entries, concatenation, literal};
use super::super::reader::Reader;
use super::outputs::{self, Output};
use super::{Scope, values};
use crate::diagnostic::Diagnostic;
use crate::source::Node;

const OUTPUT_KEYS: &[&str] = &["key", "default", "wrap"];

/// Adds what a call node does.
pub(super) fn put(node: &mut Reader<'_, '_>, scope: &Scope<'_, '_>, native: &mut Entries) {
    let outputs = outputs::read(node, OUTPUT_KEYS);
    let function = node.filled_text("fn");
    let origin = node.get("args").or_else(|| node.get("outputs")).unwrap_or(node.node);
    let mut set = Entries::at(origin);
    match function.and_then(Node::as_text) {
        Some("incr") => put_incr(node, &outputs, scope, &mut set),
        Some("seed") => put_seed(node, &outputs, &mut set),
        Some(other) => report_unknown(node, other),
        None => {}
    }
    native.put("set", set.block());
}

fn report_unknown(node: &mut Reader<'_, '_>, name: &str) {
    let span = node.get("fn").map_or(node.node.span, |function| function.span);
    let diagnostic = Diagnostic::error("LH0603", span, format!("there is no function `{name}` to call"))
        .label("unknown function")
        .did_you_mean(name, ["incr", "seed"], |_| Some("it can be: incr, seed".to_owned()));
    node.report(diagnostic);
}

fn put_incr(node: &mut Reader<'_, '_>, outputs: &[Output<'_>], scope: &Scope<'_, '_>, set: &mut Entries) {
    if node.get("outputs").is_none() {
        node.missing("outputs");
    }
    let by = argument(node, &["by", "step"], 1).map(|by| expression(by, node.out()));
    let by = by.map_or_else(|| "1".to_owned(), |by| format!("({by} | int)"));
    for output in outputs {
        let name = output.key.as_text().unwrap_or_default();
        let value = argument(node, &[name, "value"], 0);
        let start = output.default.map_or_else(|| "0".to_owned(), |value| literal(&value.to_json()));
        let value = value.map_or_else(|| name.to_owned(), |value| counter(value, scope, node.out()));
        let expression = format!("{value} | default({start}) | int + {by}");
        set.put_keyed(output.key.clone(), Node::text(output.key.span, expression));
    }
}

fn put_seed(node: &mut Reader<'_, '_>, outputs: &[Output<'_>], set: &mut Entries) {
    for (position, output) in outputs.iter().enumerate() {
        let name = output.key.as_text().unwrap_or_default();
        let value = argument(node, &[name], position).or(output.default);
        put_seeded(output.key, value, set, node.out());
    }
    if node.get("outputs").is_none() {
        for (key, value) in node.map("args") {
            put_seeded(key, Some(value), set, node.out());
        }
        if set.is_empty() {
            node.missing("outputs");
        }
    }
}

fn put_seeded(key: &Node, value: Option<&Node>, set: &mut Entries, out: &mut Vec<Diagnostic>) {
    let name = key.scalar().unwrap_or_default();
    let value = value.map_or_else(|| "none".to_owned(), |value| expression(value, out));
    set.put_keyed(key.clone(), Node::text(key.span, format!("{name} | default({value})")));
}

/// An argument by one of its names, or by its position.
fn argument<'n>(node: &Reader<'n, '_>, names: &[&str], position: usize) -> Option<&'n Node> {
    let args = node.get("args")?;
    match args.items() {
        Some(items) => items.get(position),
        None => names.iter().find_map(|name| args.get(name)),
    }
}

/// What is counted: a bare path names a value.
fn counter(node: &Node, scope: &Scope<'_, '_>, out: &mut Vec<Diagnostic>) -> String {
    let text = node.as_text().unwrap_or_default();
    let is_path = !text.is_empty() && text.split('.').all(super::is_readable);
    let path = if is_path { values::path(node, scope, out) } else { None };
    path.unwrap_or_else(|| expression(node, out))
}

fn expression(node: &Node, out: &mut Vec<Diagnostic>) -> String {
    let Some(text) = node.as_text() else { return literal(&values::python(node, out).to_json()) };
    concatenation(text).unwrap_or_else(|| {
        let message = "a template with statements cannot be an argument of a call";
        out.push(Diagnostic::error("LH0603", node.span, message).label("not an expression"));
        "none".to_owned()
    })
}
