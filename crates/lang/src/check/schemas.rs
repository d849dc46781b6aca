//! LH0505, LH0513: invalid schemas, and schemas with unknown references.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::schema;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let output = step.node.get("output").and_then(|output| output.get("schema"));
        let answer = step.node.get("answer").filter(|_| step.action.key() == "ask");
        let signal = step.action.value().filter(|_| step.action.key() == "wait").and_then(|wait| wait.get("schema"));
        for node in [output, answer, signal].into_iter().flatten() {
            schema::problems(node, out);
        }
        spread(step.node, out);
    }
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        for (_, input) in unit.node.get("inputs").and_then(Node::entries).unwrap_or_default() {
            let items = input.get("items").into_iter();
            let fields = input.get("properties").and_then(Node::entries).unwrap_or_default();
            for node in items.chain(fields.iter().map(|(_, value)| value)) {
                schema::problems(node, out);
            }
        }
    }
}

/// `spread` needs a schema that names its fields.
fn spread(step: &Node, out: &mut Vec<Diagnostic>) {
    let Some(output) = step.get("output") else { return };
    let Some((key, value)) = output.entry("spread") else { return };
    let fields = output.get("schema").map(schema::to_json).and_then(|schema| schema.get("properties").cloned());
    if value.as_bool() == Some(true) && fields.is_none() {
        out.push(
            Diagnostic::error("LH0505", key.span, "`spread` needs a schema that lists the fields")
                .label("which names would it make?")
                .help("add `schema: {field: type, …}`"),
        );
    }
}
