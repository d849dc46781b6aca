//! LH0216: a `repeat` without a limit.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "repeat") {
        let Some(repeat) = step.action.value().filter(|value| value.entries().is_some()) else { continue };
        if repeat.get("max").is_none() {
            out.push(
                Diagnostic::error("LH0216", repeat.span, format!("`{}` could repeat for ever", step.id))
                    .label("no `max` here")
                    .help("add `max:`, and `on_exhausted: ask` if a person should decide then"),
            );
        }
        let never = repeat.get("until").and_then(Node::scalar).filter(|until| *until == "false");
        if never.is_some() && repeat.get("on_exhausted").is_none() {
            out.push(
                Diagnostic::warning("LH0216", repeat.span, format!("`{}` can only end by failing", step.id))
                    .label("`until: false` is never true")
                    .help("write `on_exhausted: continue` to run a fixed number of rounds"),
            );
        }
    }
}
