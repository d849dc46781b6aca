//! LH0301 and LH0302: templates and expressions that cannot be read.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr::{self, Language};
use crate::sites::Purpose;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts() {
        if text.site.purpose == Purpose::Condition && expr::is_template(&text.source) {
            let span = text.span(context.sources, 0..text.source.len());
            out.push(
                Diagnostic::error(
                    "LH0302",
                    span,
                    format!("`{}` is an expression, and there are braces inside it", text.site.key),
                )
                .label("write it without braces")
                .help("as in `when: steps.check.exit_code == 0`; names need no `{{ }}` here"),
            );
            continue;
        }
        let Err(error) = &text.outcome else { continue };
        let (code, what) = match text.site.language {
            Language::Template => ("LH0301", "this template cannot be read"),
            Language::Expression => ("LH0302", "this expression cannot be read"),
        };
        let span = text.span(context.sources, error.range.clone());
        let diagnostic = Diagnostic::error(code, span, format!("{what}: {}", error.message)).label("here");
        let quotes = "to write text, put quotes inside the quotes: \"'…'\"".to_owned();
        out.push(match (&error.help, text.is_computed()) {
            (Some(help), true) => diagnostic.help(format!("{help}; {quotes}")),
            (Some(help), false) => diagnostic.help(help),
            (None, true) => diagnostic.help(quotes),
            (None, false) => diagnostic,
        });
    }
}
