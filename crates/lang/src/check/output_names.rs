//! LH0315: an output whose name is taken. LH0102: too many names.

use longhaul_core::catalog::names::RESERVED;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Step;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        for name in names(step) {
            let Some((word, meaning)) = name.scalar().and_then(|text| RESERVED.iter().find(|(word, _)| *word == text))
            else {
                continue;
            };
            out.push(
                Diagnostic::error("LH0315", name.span, format!("`{word}` is a reserved name"))
                    .label(format!("always means {meaning}"))
                    .help("choose another name"),
            );
        }
    }
    if let Some(step) = context.scopes.overfull() {
        out.push(
            Diagnostic::error("LH0102", context.model.step(step).span, "the steps of this file set too many names")
                .label("there is no room for the names inside it")
                .help("put related values into one, or nest less deeply"),
        );
    }
}

/// Every node in which a step defines a name.
fn names<'n>(step: &Step<'n>) -> Vec<&'n Node> {
    let output = step.node.get("output");
    let alias = output.and_then(|output| if output.entries().is_some() { output.get("as") } else { Some(output) });
    let set = step.action.value().filter(|_| step.action.key() == "set").and_then(Node::entries).unwrap_or_default();
    let bound =
        ["as", "index"].into_iter().filter_map(|key| step.node.get(key)).filter(|_| step.action.key() == "for_each");
    alias.into_iter().chain(set.iter().map(|(key, _)| key)).chain(bound).collect()
}
