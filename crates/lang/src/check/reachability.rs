//! LH0209: a node of a state machine that cannot be reached.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::Context;
use super::dead_ends::has_dead_end;
use super::routes::has_broken;
use crate::diagnostic::Diagnostic;
use crate::model::{Body, Model, Order};
use crate::order::{start_of, successors};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, body) in context.model.own_bodies().filter(|(_, body)| body.order == Order::Machine) {
        let Some(start) = start_of(context.model, ix.at()) else {
            unknown_start(body, out);
            continue;
        };
        // A missing or broken transition may be the one that leads here.
        if has_broken(context.model, body) || has_dead_end(context.model, body) {
            continue;
        }
        let reached = reachable(context.model, start);
        for step in body.steps.iter().filter(|step| !reached.contains(step)) {
            let step = context.model.step(*step);
            out.push(
                Diagnostic::error("LH0209", step.span, format!("no path leads to `{}`", step.id))
                    .label("never visited")
                    .help("name it in the `next` of another node, or remove it"),
            );
        }
    }
}

/// All nodes that a run can reach.
pub(super) fn reachable(model: &Model<'_>, start: StepIx) -> HashSet<StepIx> {
    let mut reached = HashSet::from([start]);
    let mut queue = vec![start];
    while let Some(step) = queue.pop() {
        queue.extend(successors(model, step).into_iter().filter(|to| reached.insert(*to)));
    }
    reached
}

fn unknown_start(body: &Body<'_>, out: &mut Vec<Diagnostic>) {
    let Some((node, id)) = body.start.and_then(|node| Some((node, node.as_text()?))) else { return };
    out.push(
        Diagnostic::error("LH0214", node.span, format!("the state machine starts at `{id}`, which does not exist"))
            .label("no node has this id")
            .did_you_mean(id, body.by_id.keys().map(String::as_str), |_| None),
    );
}
