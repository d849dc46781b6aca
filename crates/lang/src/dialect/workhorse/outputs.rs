//! `outputs` of a node: the keys that are taken from its result into the context.

use std::collections::HashSet;

use longhaul_core::id::is_name;

use super::super::compose::Entries;
use super::super::reader::Reader;
use super::values;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// One of them.
pub(super) struct Output<'n> {
    /// The name it gets.
    pub(super) key: &'n Node,
    /// What it is when there is none; null counts as none.
    pub(super) default: Option<&'n Node>,
    /// Where it is found, if not under its name.
    pub(super) path: Option<&'n Node>,
}

/// Reads the list; `keys` are what an entry may have.
pub(super) fn read<'n>(node: &mut Reader<'n, '_>, keys: &[&str]) -> Vec<Output<'n>> {
    let mut seen = HashSet::new();
    let mut outputs = Vec::new();
    for entry in node.list("outputs") {
        let Some(mut entry) = Reader::open(entry, "an output", keys, node.out()) else { continue };
        let path = entry.text("path").or_else(|| entry.text("from"));
        let default = entry.get("default");
        refuse_wrap(&mut entry);
        let Some(key) = entry.filled_text("key") else { continue };
        let name = key.as_text().unwrap_or_default();
        if !is_name(name) {
            entry.report(unreadable(key, name));
        } else if seen.insert(name) {
            outputs.push(Output { key, default, path });
        } else {
            entry.report(twice(key, name));
        }
    }
    outputs
}

fn refuse_wrap(entry: &mut Reader<'_, '_>) {
    if let Some(wrap) = entry.get("wrap") {
        let message = "`wrap` cannot be said in native keys";
        let help = "put the value where it belongs with a `set` step of its own";
        entry.report(Diagnostic::error("LH0603", wrap.span, message).label("not supported").help(help));
    }
}

fn unreadable(key: &Node, name: &str) -> Diagnostic {
    Diagnostic::error("LH0603", key.span, format!("the output `{name}` cannot be a name"))
        .label("not a name")
        .help("use letters, digits and `_`, here and in what answers with it")
}

fn twice(key: &Node, name: &str) -> Diagnostic {
    Diagnostic::warning("LH0603", key.span, format!("the output `{name}` is listed twice")).label("again")
}

/// `{key: any, …}`.
pub(super) fn schema(origin: &Node, outputs: &[Output<'_>]) -> Node {
    let mut schema = Entries::at(origin);
    for output in outputs {
        schema.put_keyed(output.key.clone(), Node::plain(output.key.span, "any"));
    }
    schema.flow()
}

/// `{key: default, …}`: what the last rung of the ladder answers with.
pub(super) fn defaults(origin: &Node, outputs: &[Output<'_>], out: &mut Vec<Diagnostic>) -> Node {
    let mut defaults = Entries::at(origin);
    for output in outputs {
        let null = || Node::plain(output.key.span, "null");
        let value = output.default.map_or_else(null, |value| values::python(value, out));
        defaults.put_keyed(output.key.clone(), value);
    }
    defaults.flow()
}

/// `output` with what every kind of node has.
pub(super) fn spread(origin: &Node) -> Entries {
    let mut output = Entries::at(origin);
    output.put("spread", Node::plain(origin.span, "true"));
    output
}
