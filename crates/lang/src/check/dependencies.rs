//! LH0207: a step depends on one that does not exist.

use longhaul_core::plan::BodyIx;

use super::Context;
use crate::diagnostic::{Diagnostic, suggests};
use crate::model::Order;
use crate::model::build::one_or_many;
use crate::source::Node;

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
                |known| {
                    named(context, step.body, id).or_else(|| inside(context, step.body, id)).or_else(|| {
                        (known.len() <= 12).then(|| format!("the steps here are: {}", sorted(known).join(", ")))
                    })
                },
            ));
        }
    }
}

/// The id of the step with this name. A step is referred to by its id, not by its name.
fn named(context: &Context<'_, '_>, body: BodyIx, name: &str) -> Option<String> {
    let mut steps = context.model.body(body).steps.iter().map(|step| context.model.step(*step));
    let step = steps.find(|step| step.node.get("name").and_then(Node::as_text) == Some(name))?;
    Some(format!("`{name}` is only the `name` of `{}`: give that step an `id`, and depend on it", step.id))
}

/// The container of the step with this id. Other steps must depend on the container.
fn inside(context: &Context<'_, '_>, body: BodyIx, id: &str) -> Option<String> {
    let mut inner = context.model.own_steps().filter(|(_, step)| step.id == id);
    let container = inner.find_map(|(ix, _)| context.ancestor_in(ix, body))?;
    let container = &context.model.step(container).id;
    Some(format!("`{id}` is inside `{container}`: depend on `{container}`"))
}

fn sorted<'a>(known: &[&'a str]) -> Vec<&'a str> {
    let mut known = known.to_vec();
    known.sort_unstable();
    known
}
