//! LH0207: a step depends on one that does not exist.

use super::Context;
use crate::diagnostic::{Diagnostic, suggests};
use crate::model::Order;
use crate::model::build::one_or_many;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let body = context.model.body(step.body);
        let Some(deps) = step.node.get("depends_on").filter(|_| body.order == Order::Graph) else { continue };
        for dep in one_or_many(deps) {
            let Some(id) = dep.as_text().filter(|id| !body.by_id.contains_key(*id)) else { continue };
            let message = format!("step `{}` depends on `{id}`, which does not exist", step.id);
            let problem = Diagnostic::error("LH0207", dep.span, message).label("no step of this body has this id");
            if !suggests(out) {
                out.push(problem);
                continue;
            }
            out.push(problem.did_you_mean(
                id,
                body.by_id.keys().map(String::as_str).filter(|known| *known != step.id),
                |known| (known.len() <= 12).then(|| format!("the steps here are: {}", sorted(known).join(", "))),
            ));
        }
    }
}

fn sorted<'a>(known: &[&'a str]) -> Vec<&'a str> {
    let mut known = known.to_vec();
    known.sort_unstable();
    known
}
