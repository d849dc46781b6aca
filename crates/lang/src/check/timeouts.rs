//! LH0506: a step that may take longer than the whole run.

use longhaul_core::duration::parse_ms;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, step) in context.model.own_steps() {
        let limit = context.model.unit_of(ix).node.get("limits").and_then(|limits| limits.get("duration"));
        let Some((limit_node, limit_ms)) = limit.and_then(span_ms) else { continue };
        let waits = step.action.value().filter(|_| step.action.key() == "wait");
        for node in [step.node.get("timeout"), waits].into_iter().flatten() {
            let Some((node, _)) = span_ms(node).filter(|(_, ms)| *ms > limit_ms) else { continue };
            let (own, run) = (node.scalar().unwrap_or_default(), limit_node.scalar().unwrap_or_default());
            out.push(
                Diagnostic::error(
                    "LH0506",
                    node.span,
                    format!("`{}` may take {own}, but the run ends after {run}", step.id),
                )
                .label("longer than the run")
                .related(limit_node.span, "the run's limit")
                .help("shorten it, or raise `limits.duration`"),
            );
        }
    }
}

fn span_ms(node: &Node) -> Option<(&Node, u64)> {
    Some((node, parse_ms(node.as_text()?)?))
}
