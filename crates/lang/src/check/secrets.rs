//! LH0312: `env` or `secrets` where an agent or a person would read them.

use super::Context;
use crate::diagnostic::Diagnostic;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts().filter(|text| !text.site.secrets) {
        let Ok(analysis) = &text.outcome else { continue };
        for read in analysis.reads.iter().filter(|read| matches!(read.root.as_str(), "env" | "secrets")) {
            let span = text.span(context.sources, read.range.clone());
            out.push(
                Diagnostic::error("LH0312", span, format!("`{}` can not be read in `{}`", read.root, text.site.key))
                    .label("would leave the machine, or stand in the journal")
                    .help("read it in a `run`, `http` or `tool` step, or pass it with `env:`"),
            );
        }
    }
}
