//! LH0211: `next`, `goto` or `rewind` names a step that does not exist.

use super::Context;
use crate::diagnostic::{Diagnostic, suggests};
use crate::model::Step;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let body = context.model.body(step.body);
        for (key, target) in targets(step) {
            let Some(id) = target.as_text().filter(|id| !body.by_id.contains_key(*id)) else { continue };
            let message = format!("`{key}` of `{}` leads to `{id}`, which does not exist", step.id);
            let problem = Diagnostic::error("LH0211", target.span, message).label("no step of this body has this id");
            let known = suggests(out).then(|| body.by_id.keys().map(String::as_str));
            out.push(problem.did_you_mean(id, known.into_iter().flatten(), |_| None));
        }
    }
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
