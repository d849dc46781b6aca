//! LH0210: a state machine that can never end.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::Context;
use super::reachability::reachable;
use super::routes::has_broken;
use crate::diagnostic::Diagnostic;
use crate::model::{Body, Model, Order};
use crate::order::{start_of, successors};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, body) in context.model.own_bodies().filter(|(_, body)| body.order == Order::Machine) {
        let Some(start) = start_of(context.model, ix.at()) else { continue };
        if has_broken(context.model, body) {
            continue;
        }
        let reached = reachable(context.model, start);
        let ending = can_end(context.model, body);
        if !ending.contains(&start) {
            let place = body.start.map_or(body.node.span, |node| node.span);
            out.push(
                Diagnostic::error("LH0210", place, "this state machine can never end")
                    .label("no path from here leads to an end")
                    .help("add a node with `end: success` and let some `next` lead to it"),
            );
            continue;
        }
        trapped(context.model, body, &reached, &ending, out);
    }
}

/// Loops that a run can enter and never leave.
fn trapped(
    model: &Model<'_>,
    body: &Body<'_>,
    reached: &HashSet<StepIx>,
    ending: &HashSet<StepIx>,
    out: &mut Vec<Diagnostic>,
) {
    let first = body.steps.iter().find(|step| reached.contains(step) && !ending.contains(step));
    if let Some(step) = first.map(|step| model.step(*step)) {
        out.push(
            Diagnostic::error("LH0210", step.span, format!("no path from `{}` leads to an end", step.id))
                .label("the run would go round for ever")
                .help("let one of its `next` entries lead to a node with `end:`"),
        );
    }
}

/// Nodes from which an end can be reached. A node without a target ends the body.
fn can_end(model: &Model<'_>, body: &Body<'_>) -> HashSet<StepIx> {
    let ends = |step: &&StepIx| model.step(**step).action.key() == "end" || successors(model, **step).is_empty();
    let mut sources: std::collections::HashMap<StepIx, Vec<StepIx>> = std::collections::HashMap::new();
    for step in &body.steps {
        for to in successors(model, *step) {
            sources.entry(to).or_default().push(*step);
        }
    }
    let mut queue: Vec<StepIx> = body.steps.iter().filter(ends).copied().collect();
    let mut ending: HashSet<StepIx> = queue.iter().copied().collect();
    while let Some(step) = queue.pop() {
        let before = sources.get(&step).map(Vec::as_slice).unwrap_or_default();
        queue.extend(before.iter().filter(|source| ending.insert(**source)));
    }
    ending
}
