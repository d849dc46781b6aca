//! LH0212: a node of a state machine that leads nowhere and is no end.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Body, Model, Order, Step};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let machine = context.model.body(step.body).order == Order::Machine;
        if !machine {
            continue;
        }
        if let Some((key, _)) = step.node.entry("next").filter(|_| step.action.key() == "end") {
            out.push(
                Diagnostic::error("LH0206", key.span, "`next` has no meaning after `end`")
                    .label("the run is over here")
                    .help("remove `next`, or make this a node that continues"),
            );
        }
        if leads_nowhere(step) {
            out.push(
                Diagnostic::error("LH0212", step.span, format!("`{}` does not say where to go next", step.id))
                    .label("no `next` here")
                    .help("add `next:` with the id of a node; to stop here, go to a node with `end: success`"),
            );
        }
    }
}

/// Whether a node of a state machine forgets to say where to go.
pub(super) fn has_dead_end(model: &Model<'_>, body: &Body<'_>) -> bool {
    body.steps.iter().any(|step| leads_nowhere(model.step(*step)))
}

fn leads_nowhere(step: &Step<'_>) -> bool {
    let ends = matches!(step.action, Action::None) || step.action.key() == "end";
    !ends && step.node.get("next").is_none()
}
