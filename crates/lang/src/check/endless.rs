//! LH0219: a state machine that can run for ever.
//!
//! Its nodes lead back to each other, they work each time, and neither a limit nor a person ends the round.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::Context;
use super::idle_loops::cycle_among;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Body, Model, Order};
use crate::source::{Node, Value};

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
    let counters = counters(model, body);
    let is_alone = |step: &StepIx| !waits_for_others(model, *step) && !counts(model, *step, &counters);
    let alone: HashSet<StepIx> = body.steps.iter().copied().filter(is_alone).collect();
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

/// The variables that end a loop: a node counts them up or sets them for good, and a route of the state machine looks at them.
fn counters<'m>(model: &'m Model<'_>, body: &Body<'_>) -> HashSet<&'m str> {
    let changed = body.steps.iter().flat_map(|step| progress(model, *step));
    changed.filter(|name| body.steps.iter().any(|step| routes_by(model, *step, name))).collect()
}

fn counts(model: &Model<'_>, step: StepIx, counters: &HashSet<&str>) -> bool {
    progress(model, step).any(|name| counters.contains(name))
}

/// The variables that a node counts up (`n: n + 1`) or sets for good (`once: true`).
fn progress<'m>(model: &'m Model<'_>, step: StepIx) -> impl Iterator<Item = &'m str> {
    let entries = model.step(step).node.get("set").and_then(Node::entries).unwrap_or_default();
    let named = entries.iter().filter_map(|(name, value)| Some((name.as_text()?, value)));
    named.filter(|(name, value)| is_true(value) || is_counted(name, value)).map(|(name, _)| name)
}

fn is_true(value: &Node) -> bool {
    matches!(&value.value, Value::Scalar(text, _) if text.trim() == "true")
}

/// Whether a value is the variable plus a number. A list that grows is not a count.
fn is_counted(name: &str, value: &Node) -> bool {
    let added = || value.as_text()?.trim().strip_prefix(name)?.trim().strip_prefix('+').map(str::trim);
    added().is_some_and(|added| !added.is_empty() && added != "0" && !added.contains('['))
}

/// Whether a condition of a node's routes reads a variable.
fn routes_by(model: &Model<'_>, step: StepIx, name: &str) -> bool {
    let routes = model.step(step).node.get("next").and_then(Node::items).unwrap_or_default();
    let mut conditions = routes.iter().filter_map(|route| route.get("when")?.as_text());
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    conditions.any(|text| text.split(|letter| !is_part(letter)).any(|word| word == name))
}
