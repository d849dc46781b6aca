//! LH0511: inputs whose default is not of their type, and inputs named like something else.

use longhaul_core::catalog::names::RESERVED;
use longhaul_core::id;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::schema;
use crate::scope::schema_of_input;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        for (key, input) in unit.node.get("inputs").and_then(Node::entries).unwrap_or_default() {
            name(key, out);
            default(input, out);
        }
    }
}

fn name(key: &Node, out: &mut Vec<Diagnostic>) {
    let word = key.scalar().unwrap_or_default();
    if let Some((_, meaning)) = RESERVED.iter().find(|(reserved, _)| *reserved == word) {
        out.push(
            Diagnostic::error("LH0315", key.span, format!("`{word}` is taken"))
                .label(format!("always means {meaning}"))
                .help(if word == "task" {
                    "`task` is always there and need not be declared"
                } else {
                    "choose another name"
                }),
        );
    } else if !id::is_name(word) {
        out.push(
            Diagnostic::error("LH0204", key.span, format!("`{word}` cannot be the name of an input"))
                .label("letters, digits and `_`, not starting with a digit"),
        );
    }
}

fn default(input: &Node, out: &mut Vec<Diagnostic>) {
    let Some(default) = input.get("default") else { return };
    if let Some(why) = schema::mismatch(&schema_of_input(input), &default.to_json()) {
        out.push(
            Diagnostic::error("LH0511", default.span, format!("this default does not fit the input: {why}"))
                .label("would be refused")
                .help("change the default, or the type"),
        );
    }
}
