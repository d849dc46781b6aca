//! LH0208: steps of a graph that wait for each other.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Order;
use crate::order::{GRAPH_STEPS_MAX, find_cycle};

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
                    .help("use `for_each` to do the same thing many times"),
            );
            continue;
        }
        let Some(cycle) = find_cycle(context.model, body) else { continue };
        let Some(first) = cycle.first().map(|step| context.model.step(*step)) else { continue };
        let names: Vec<&str> =
            cycle.iter().chain(cycle.first()).map(|step| context.model.step(*step).id.as_str()).collect();
        let place = first.deps.iter().find(|(dep, _)| cycle.contains(dep)).map_or(first.span, |(_, span)| *span);
        let (message, which) = match cycle.as_slice() {
            [_] => (format!("`{}` waits for itself", first.id), "this dependency"),
            _ => (format!("these steps wait for each other: {}", names.join(" → ")), "one of these dependencies"),
        };
        out.push(
            Diagnostic::error("LH0208", place, message)
                .label(format!("`{}` can never start", first.id))
                .help(format!("remove {which}; to do steps again, use `repeat`, `rewind` or a state machine")),
        );
    }
}
