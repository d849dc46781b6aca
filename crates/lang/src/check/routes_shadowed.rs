//! LH0213: an entry of `next` that can never be taken.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let entries = step.node.get("next").and_then(Node::items).unwrap_or_default();
        let catch_all = entries.iter().position(always_holds);
        let Some(catch_all) = catch_all.filter(|at| at + 1 < entries.len()) else { continue };
        for shadowed in entries[catch_all + 1..].iter().filter(|entry| !never_holds(entry)) {
            out.push(
                Diagnostic::error("LH0213", shadowed.span, "this path is never taken")
                    .label("an earlier entry is always true")
                    .related(entries[catch_all].span, "always taken")
                    .help("put the entry without `when` last"),
            );
        }
    }
}

fn always_holds(entry: &Node) -> bool {
    entry.entries().is_some() && entry.get("when").is_none_or(|when| when.scalar() == Some("true"))
}

/// A condition that is always false was written on purpose: it names a target that this choice leaves out.
fn never_holds(entry: &Node) -> bool {
    entry.get("when").is_some_and(|when| when.scalar() == Some("false"))
}
