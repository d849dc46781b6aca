//! LH0217: a `rewind` that does not go back.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Order;
use crate::order::Before;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, step) in context.model.own_steps() {
        let body = context.model.body(step.body);
        let Some(to) = step.node.get("rewind").and_then(|rewind| rewind.get("to")) else { continue };
        let Some(target) = to.as_text().and_then(|id| body.by_id.get(id)) else { continue };
        let back = *target == ix || context.orders.before(step.body, *target, ix) == Before::Always;
        if body.order == Order::Graph && !back {
            out.push(
                Diagnostic::error(
                    "LH0217",
                    to.span,
                    format!("`{}` does not come before `{}`", context.model.step(*target).id, step.id),
                )
                .label("a rewind goes back")
                .help(format!("name a step that `{}` depends on, directly or not", step.id)),
            );
        }
    }
}
