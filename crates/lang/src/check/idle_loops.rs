//! LH0218: nodes of a state machine that only lead to each other.
//!
//! Nothing changes between two visits of such a node, so a run that comes back to it loops for ever.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Body, Model, Order};
use crate::order::successors;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, body) in context.model.own_bodies().filter(|(_, body)| body.order == Order::Machine) {
        let limits = context.model.unit(body.unit).node.get("limits");
        if limits.is_some_and(|limits| limits.get("visits").is_some()) {
            continue;
        }
        let cycle = idle_cycle(context.model, body);
        let Some(first) = cycle.first().map(|step| context.model.step(*step)) else { continue };
        let names: Vec<String> = cycle.iter().map(|step| format!("`{}`", context.model.step(*step).id)).collect();
        let message = match names.as_slice() {
            [one] => format!("{one} can lead back to itself without doing anything"),
            _ => format!("{} can lead to each other without doing anything", names.join(", ")),
        };
        out.push(
            Diagnostic::warning("LH0218", first.span, message)
                .label("a run that comes back here goes round for ever")
                .help("let one of them lead out of the loop, or through a step that does something; or set `limits: {visits: …}`"),
        );
    }
}

/// The nodes of one loop without any work; empty if there is no such loop.
fn idle_cycle(model: &Model<'_>, body: &Body<'_>) -> Vec<StepIx> {
    let only_leads = |step: &&StepIx| matches!(model.step(**step).action, Action::Decide);
    cycle_among(model, body, body.steps.iter().filter(only_leads).copied().collect())
}

/// The nodes of one loop among some nodes of a state machine; empty if there is none.
pub(super) fn cycle_among(model: &Model<'_>, body: &Body<'_>, mut left: HashSet<StepIx>) -> Vec<StepIx> {
    let onward =
        |step: StepIx, left: &HashSet<StepIx>| successors(model, step).into_iter().find(|to| left.contains(to));
    // A node that reaches no other of them is not in a loop.
    loop {
        let open: HashSet<StepIx> = left.iter().copied().filter(|step| onward(*step, &left).is_some()).collect();
        if open.len() == left.len() {
            break;
        }
        left = open;
    }
    let mut path: Vec<StepIx> = Vec::new();
    let mut at = body.steps.iter().copied().find(|step| left.contains(step));
    while let Some(step) = at.filter(|step| !path.contains(step)) {
        path.push(step);
        at = onward(step, &left);
    }
    at.map_or_else(Vec::new, |first| path.into_iter().skip_while(|step| *step != first).collect())
}
