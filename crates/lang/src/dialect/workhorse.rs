//! workhorse files in native keys: 0.1.0 as it is, and what later releases added before they gave up YAML.
//!
//! A file is a graph that one cursor walks over a flat mapping of values; that is a native state machine
//! whose outputs are spread. What it does differently from new files is asked for by `compat`.
//!
//! **Invariant:** every node of the file is a node of the result, in the same order.

mod branch;
mod call;
mod flow;
mod node;
mod outputs;
mod values;

use std::collections::HashMap;

use super::compose::{Entries, Ids, as_name, flow_list, is_readable, renamed};
use super::reader::Reader;
use crate::diagnostic::Diagnostic;
use crate::source::Node;
use flow::Flows;

const TOP_KEYS: &[&str] =
    &["name", "description", "vars", "start", "nodes", "flows", "env", "requires", "labels", "activity"];
const COMPAT: &[&str] = &["lenient-names", "python-text", "open-inputs", "workhorse-ladder"];
/// Steps without progress after which the original stops, where something counts as progress.
const GAS: &str = "5000";

/// Whether a tree looks like one.
pub fn recognises(node: &Node) -> bool {
    let typed = |entry: &Node| entry.get("type").and_then(Node::scalar).is_some_and(node::is_kind);
    let some_typed = node.get("nodes").and_then(Node::items).is_some_and(|nodes| nodes.iter().any(typed));
    // A file that forgot `start` is still one, unless it says that it is something else.
    let foreign = node.get("version").is_some() || node.get("edges").is_some();
    some_typed && (node.get("start").is_some() || !foreign)
}

/// The file in native keys.
pub fn to_native(node: &Node, out: &mut Vec<Diagnostic>) -> Node {
    let Some(mut file) = Reader::open(node, "the workflow", TOP_KEYS, out) else { return node.clone() };
    let mut native = Entries::at(node);
    let name = file.text("name").filter(|name| name.as_text() != Some(""));
    native.put_some("name", name.cloned());
    native.put_some("description", file.text("description").cloned());
    for key in ["requires", "labels", "activity"] {
        file.without_effect(key, "it can only stand on a node");
    }
    let mut flows = Flows::of(&mut file);
    let machine = machine(&mut file, &mut flows);
    let workflows = flows.workflows(file.out());
    put_compat(node, &mut native);
    native.put_some("inputs", machine.inputs);
    let env = (!file.map("env").is_empty()).then(|| file.get("env")).flatten();
    native.put_some("defaults", env.map(|env| Node::map(env.span, [("env", env.clone())])));
    native.put_some("limits", flows.refuel.map(|span| Node::map(span, [("idle_steps", Node::plain(span, GAS))])));
    native.put_some("workflows", workflows);
    native.put_some("start", machine.start);
    native.put_some("nodes", machine.nodes);
    native.block()
}

fn put_compat(origin: &Node, native: &mut Entries) {
    let words = COMPAT.iter().map(|word| Node::plain(origin.span, *word)).collect();
    native.put("compat", flow_list(origin, words));
}

/// A graph: the file's own, or a flow's.
#[derive(Clone)]
struct Machine {
    inputs: Option<Node>,
    start: Option<Node>,
    nodes: Option<Node>,
}

/// What can be named inside a graph.
struct Scope<'n, 'f> {
    ids: Ids,
    /// Variables that are called otherwise here.
    vars: HashMap<String, String>,
    flows: &'f mut Flows<'n>,
}

fn machine<'n>(graph: &mut Reader<'n, '_>, flows: &mut Flows<'n>) -> Machine {
    let vars = changed_vars(graph.node);
    let inputs = inputs(graph, &vars);
    // That both must be there is a native rule too.
    let start = graph.text("start");
    let list = graph.list("nodes");
    let ids = Ids::of(list.iter().filter_map(|node| node.get("id")), graph.out());
    let start = start.map(|start| ids.native(start));
    let mut scope = Scope { ids, vars, flows };
    let nodes = list.iter().filter_map(|node| node::to_native(node, &mut scope, graph.out())).collect();
    Machine { inputs, start, nodes: graph.get("nodes").map(|origin| Node::seq(origin.span, nodes)) }
}

/// Variables that templates cannot read: only a branch can, by its path.
fn changed_vars(graph: &Node) -> HashMap<String, String> {
    let keys = graph.get("vars").and_then(Node::entries).unwrap_or_default().iter().filter_map(|(key, _)| key.scalar());
    keys.filter(|key| !is_readable(key)).map(|key| (key.to_owned(), as_name(key))).collect()
}

fn inputs(graph: &mut Reader<'_, '_>, changed: &HashMap<String, String>) -> Option<Node> {
    let mut inputs = Entries::at(graph.get("vars")?);
    for (key, value) in graph.map("vars") {
        let native = key.scalar().and_then(|key| changed.get(key));
        let name = native.map_or_else(|| key.clone(), |name| Node::plain(key.span, name.as_str()));
        if let Some(native) = native {
            graph.report(renamed(key, key.scalar().unwrap_or_default(), native));
        }
        let mut input = Entries::at(value);
        input.put("type", Node::plain(value.span, "any"));
        input.put("default", values::python(value, graph.out()));
        inputs.put_keyed(name, input.flow());
    }
    (!inputs.is_empty()).then(|| inputs.block())
}

#[cfg(test)]
mod tests;
