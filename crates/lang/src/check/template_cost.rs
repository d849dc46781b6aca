//! LH0318: a template that would use too much time or memory.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr::FindingKind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts() {
        let Ok(analysis) = &text.outcome else { continue };
        let mut last = None;
        for finding in &analysis.findings {
            let FindingKind::TooCostly { why } = &finding.kind else { continue };
            // One place can be too costly in several ways; one finding is enough.
            if last.replace(&finding.range) == Some(&finding.range) {
                continue;
            }
            let span = text.span(context.sources, finding.range.clone());
            out.push(
                Diagnostic::error("LH0318", span, format!("this template is too costly: {why}"))
                    .label("refused")
                    .help("produce large texts in a step, and let the template read its output"),
            );
        }
    }
}
