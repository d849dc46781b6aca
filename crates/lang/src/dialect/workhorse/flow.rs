//! Translates `flows`, the workflows inside a file, and the nodes that use them.
//!
//! A flow node says which values it takes from the flow at its end; a native workflow declares its outputs. If two
//! nodes take different values from one flow, the flow is written once for each.

use super::super::compose::{Entries, literal};
use super::super::reader::Reader;
use super::outputs::{self, Output};
use super::{Machine, Scope, changed_vars, machine, node, put_compat, values};
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span};

const FLOW_KEYS: &[&str] = &["name", "description", "vars", "start", "nodes", "outputs"];
const OUTPUT_KEYS: &[&str] = &["key", "path", "from", "default"];

/// The flows of a file and how they are used.
pub(super) struct Flows<'n> {
    /// The place of the first node that counts as progress.
    pub(super) refuel: Option<Span>,
    flows: Vec<(&'n Node, &'n Node)>,
    uses: Vec<Use>,
    origin: Option<&'n Node>,
}

/// One way in which a flow is used.
struct Use {
    flow: String,
    name: String,
    /// The values that are taken: names and expressions.
    lifts: Vec<(Node, String)>,
}

impl<'n> Flows<'n> {
    /// Finds the flows of a file.
    pub(super) fn of(file: &mut Reader<'n, '_>) -> Self {
        let flows = file.map("flows").iter().map(|(name, flow)| (name, flow)).collect();
        Self { refuel: None, flows, uses: Vec::new(), origin: file.get("flows") }
    }

    fn get(&self, name: &str) -> Option<&'n Node> {
        self.flows.iter().find(|(key, _)| key.scalar() == Some(name)).map(|(_, flow)| *flow)
    }

    /// The name of the workflow whose outputs are exactly `lifts`.
    fn name_for(&mut self, flow: &str, lifts: Vec<(Node, String)>) -> String {
        let plain = |lifts: &[(Node, String)]| -> Vec<(String, String)> {
            lifts.iter().map(|(key, expr)| (key.scalar().unwrap_or_default().to_owned(), expr.clone())).collect()
        };
        let same = |known: &&Use| known.flow == flow && plain(&known.lifts) == plain(&lifts);
        if let Some(known) = self.uses.iter().find(same) {
            return known.name.clone();
        }
        let is_taken = |name: &str| self.get(name).is_some() || self.uses.iter().any(|known| known.name == name);
        let name = if self.uses.iter().any(|known| known.flow == flow) {
            (2..).map(|n| format!("{flow}-{n}")).find(|name| !is_taken(name)).unwrap_or_default()
        } else {
            flow.to_owned()
        };
        self.uses.push(Use { flow: flow.to_owned(), name: name.clone(), lifts });
        name
    }

    /// All flows as native workflows.
    pub(super) fn workflows(&mut self, out: &mut Vec<Diagnostic>) -> Option<Node> {
        let mut bodies = Vec::new();
        for (name, flow) in self.flows.clone() {
            let what = format!("the flow `{}`", name.scalar().unwrap_or_default());
            let Some(mut reader) = Reader::open(flow, what, FLOW_KEYS, out) else { continue };
            reader.without_effect("name", "a flow has the name it is listed under");
            let description = reader.text("description");
            let outputs = outputs::read(&mut reader, OUTPUT_KEYS);
            lifts(&outputs, flow, self, reader.out());
            let body = machine(&mut reader, self);
            bodies.push((name, flow, description, body));
        }
        let mut workflows = Entries::at(self.origin?);
        for (name, flow, description, body) in bodies {
            let flow_name = name.scalar().unwrap_or_default();
            self.ensure_used(flow_name, flow);
            for known in self.uses.iter().filter(|known| known.flow == flow_name) {
                let key = Node::plain(name.span, known.name.as_str());
                workflows.put_keyed(key, workflow(flow, description, body.clone(), &known.lifts));
            }
        }
        (!workflows.is_empty()).then(|| workflows.block())
    }

    /// Also checks a flow that no node uses.
    fn ensure_used(&mut self, name: &str, flow: &'n Node) {
        if self.uses.iter().all(|known| known.flow != name) {
            let lifts = own_lifts(flow, self);
            self.name_for(name, lifts);
        }
    }
}

fn workflow(flow: &Node, description: Option<&Node>, body: Machine, lifts: &[(Node, String)]) -> Node {
    let mut native = Entries::at(flow);
    native.put_some("description", description.cloned());
    put_compat(flow, &mut native);
    native.put_some("inputs", body.inputs);
    let mut outputs = Entries::at(flow);
    for (key, expression) in lifts {
        outputs.put_keyed(key.clone(), Node::text(key.span, expression.as_str()));
    }
    native.put("outputs", if lifts.is_empty() { outputs.flow() } else { outputs.block() });
    native.put_some("start", body.start);
    native.put_some("nodes", body.nodes);
    native.block()
}

fn own_lifts<'n>(flow: &'n Node, flows: &mut Flows<'n>) -> Vec<(Node, String)> {
    // Its mistakes are reported once, where the flow is written.
    let mut ignored = Vec::new();
    let outputs = match Reader::open(flow, "a flow", FLOW_KEYS, &mut ignored) {
        Some(mut reader) => outputs::read(&mut reader, OUTPUT_KEYS),
        None => Vec::new(),
    };
    lifts(&outputs, flow, flows, &mut ignored)
}

/// The values that are taken from a flow, as expressions inside it.
fn lifts<'n>(
    outputs: &[Output<'n>],
    flow: &'n Node,
    flows: &mut Flows<'n>,
    out: &mut Vec<Diagnostic>,
) -> Vec<(Node, String)> {
    let ids = super::Ids::of(std::iter::empty(), out);
    let inside = Scope { ids, vars: changed_vars(flow), flows };
    let lift = |output: &Output<'n>, out: &mut Vec<Diagnostic>| {
        let path = values::path(output.path.unwrap_or(output.key), &inside, out)?;
        let default = output.default.map(|value| values::python(value, out).to_json()).unwrap_or_default();
        Some((output.key.clone(), format!("{path} | default({})", literal(&default))))
    };
    outputs.iter().filter_map(|output| lift(output, out)).collect()
}

/// Adds the action of a flow node.
pub(super) fn put<'n>(node: &mut Reader<'n, '_>, scope: &mut Scope<'n, '_>, native: &mut Entries) {
    let outputs = outputs::read(node, OUTPUT_KEYS);
    let name = node.filled_text("flow");
    let with = node::arguments(node);
    let Some(name) = name else { return native.put("set", Entries::at(node.node).flow()) };
    let flow_name = name.as_text().unwrap_or_default();
    let flow = scope.flows.get(flow_name);
    let taken = match flow {
        Some(flow) if outputs.is_empty() => own_lifts(flow, scope.flows),
        Some(flow) => lifts(&outputs, flow, scope.flows, node.out()),
        None => Vec::new(),
    };
    let keys: Vec<Node> = taken.iter().map(|(key, _)| key.clone()).collect();
    // Later checks report a flow that the file does not have.
    let used = if flow.is_some() { scope.flows.name_for(flow_name, taken) } else { flow_name.to_owned() };
    native.put("workflow", Node::plain(name.span, used));
    native.put_some("with", with);
    if let (Some(first), origin) = (keys.first(), node.get("outputs")) {
        let origin = origin.unwrap_or(first);
        let mut output = outputs::spread(origin);
        let mut schema = Entries::at(origin);
        keys.iter().for_each(|key| schema.put_keyed(key.clone(), Node::plain(key.span, "any")));
        output.put("schema", schema.flow());
        native.put("output", output.block());
    }
}
