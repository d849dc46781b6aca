//! LH0208: steps of a graph that wait for each other.

use longhaul_core::plan::StepIx;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Order;
use crate::order::{GRAPH_STEPS_MAX, find_cycle};

/// The most steps of a cycle in a message.
const NAMED_MAX: usize = 12;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, body) in context.model.own_bodies() {
        if body.order != Order::Graph || !context.orders.is_unknown(ix) {
            continue;
        }
        if body.steps.len() > GRAPH_STEPS_MAX {
            let message =
                format!("a graph can have at most {GRAPH_STEPS_MAX} steps, and this one has {}", body.steps.len());
            out.push(
                Diagnostic::error("LH0102", body.node.span, message)
                    .label("too many steps")
                    .help("use `for_each` to run the same steps many times"),
            );
            continue;
        }
        let Some(cycle) = find_cycle(context.model, body) else { continue };
        let Some(first) = cycle.first().map(|step| context.model.step(*step)) else { continue };
        let place = first.deps.iter().find(|(dep, _)| cycle.contains(dep)).map_or(first.span, |(_, span)| *span);
        let (message, which) = match cycle.as_slice() {
            [_] => (format!("`{}` waits for itself", first.id), "this dependency"),
            _ => (format!("these steps wait for each other: {}", round(context, &cycle)), "one of these dependencies"),
        };
        out.push(
            Diagnostic::error("LH0208", place, message)
                .label(format!("`{}` can never start", first.id))
                .help(format!("remove {which}; to run steps again, use `repeat`, `rewind` or a state machine")),
        );
    }
}

/// "a → b → a", or the first steps of a longer cycle.
fn round(context: &Context<'_, '_>, cycle: &[StepIx]) -> String {
    let mut names: Vec<&str> = cycle.iter().take(NAMED_MAX).map(|step| context.model.step(*step).id.as_str()).collect();
    let more = cycle.len().saturating_sub(NAMED_MAX);
    let rest = format!("… ({more} more)");
    if more > 0 {
        names.push(&rest);
    }
    names.extend(cycle.first().map(|step| context.model.step(*step).id.as_str()));
    names.join(" → ")
}
