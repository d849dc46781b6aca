//! LH0219: a state machine that can run for ever.
//!
//! Its nodes lead back to each other, they work each time, and neither a limit nor a person ends the round.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::Context;
use super::idle_loops::cycle_among;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Body, Model, Order};
use crate::source::Node;

/// The limits that end a run, however it loops.
const ENDING: [&str; 6] = ["visits", "steps", "idle_steps", "usd", "tokens", "duration"];

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let model = context.model;
    if model.units.first().is_some_and(|unit| is_limited(unit.node)) {
        return;
    }
    for (_, body) in model.own_bodies().filter(|(_, body)| body.order == Order::Machine) {
        if is_limited(model.unit(body.unit).node) {
            continue;
        }
        let cycle = working_cycle(model, body);
        let Some(first) = cycle.first().map(|step| model.step(*step)) else { continue };
        let names: Vec<String> = cycle.iter().map(|step| format!("`{}`", model.step(*step).id)).collect();
        let message = match names.as_slice() {
            [one] => format!("{one} can lead back to itself without end"),
            _ => format!("{} can lead to each other without end", names.join(", ")),
        };
        out.push(
            Diagnostic::warning("LH0219", first.span, message)
                .label("nothing limits how often a run comes back here")
                .help(
                    "set `limits: {visits: 20}`, or `steps`, `usd` or `duration`; or let a person decide in the loop",
                ),
        );
    }
}

/// Whether a workflow has a limit that ends a run.
fn is_limited(unit: &Node) -> bool {
    let Some(limits) = unit.get("limits") else { return false };
    let warns = limits.get("on_exceed").and_then(Node::as_text) == Some("warn");
    !warns && ENDING.iter().any(|limit| limits.get(limit).is_some())
}

/// The nodes of a loop in which no person decides and something is done; empty if there is no such loop.
fn working_cycle(model: &Model<'_>, body: &Body<'_>) -> Vec<StepIx> {
    let alone: HashSet<StepIx> = body.steps.iter().copied().filter(|step| !waits_for_others(model, *step)).collect();
    let cycle = cycle_among(model, body, alone);
    // LH0218 reports a loop in which nothing is done.
    let works = cycle.iter().any(|step| !matches!(model.step(*step).action, Action::Decide));
    if works { cycle } else { Vec::new() }
}

/// Whether a step ends only by a person or by a signal from outside.
fn waits_for_others(model: &Model<'_>, step: StepIx) -> bool {
    let step = model.step(step);
    let is_signal = step.action.value().is_some_and(|value| value.get("event").is_some());
    match step.action.key() {
        "approve" | "ask" => true,
        "wait" => is_signal,
        _ => step.node.get("review").is_some(),
    }
}
