//! LH0211: `next`, `goto` or `rewind` names a step that does not exist.

use super::Context;
use crate::diagnostic::{Diagnostic, suggests};
use crate::model::{Body, Model, Step};
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let body = context.model.body(step.body);
        for (key, target) in targets(step) {
            let Some(id) = target.as_text().filter(|id| !body.by_id.contains_key(*id)) else { continue };
            let message = format!("`{key}` of `{}` leads to `{id}`, which does not exist", step.id);
            let problem = Diagnostic::error("LH0211", target.span, message).label("no step of this body has this id");
            if !suggests(out) {
                out.push(problem);
                continue;
            }
            out.push(problem.did_you_mean(id, body.by_id.keys().map(String::as_str), |known| {
                let mut known = known.to_vec();
                known.sort_unstable();
                (known.len() <= 12).then(|| format!("the steps here are: {}", known.join(", ")))
            }));
        }
    }
}

/// Whether a step of a body leads to an unknown step. Then its transitions are not known.
pub(super) fn has_broken(model: &Model<'_>, body: &Body<'_>) -> bool {
    let broken = |id: &str| !body.by_id.contains_key(id);
    let mut steps = body.steps.iter().map(|step| model.step(*step));
    steps.any(|step| targets(step).iter().any(|(_, target)| target.as_text().is_none_or(broken)))
}

fn targets<'n>(step: &Step<'n>) -> Vec<(&'static str, &'n Node)> {
    let mut targets = Vec::new();
    match step.node.get("next") {
        Some(next) if next.items().is_some() => {
            targets
                .extend(next.items().unwrap_or_default().iter().filter_map(|route| Some(("next", route.get("to")?))));
        }
        Some(next) => targets.push(("next", next)),
        None => {}
    }
    for key in ["on_error", "on_deny"] {
        targets.extend(step.node.get(key).and_then(|node| Some((key, node.get("goto")?))));
    }
    targets.extend(step.node.get("rewind").and_then(|node| Some(("rewind", node.get("to")?))));
    targets
}
