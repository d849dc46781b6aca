//! LH0313 and LH0314: a template where a shell would take its value for code.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::shell::{self, Kind};
use crate::sites::Purpose;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts().filter(|text| text.site.purpose == Purpose::Shell) {
        let Ok(analysis) = &text.outcome else { continue };
        let lowered = shell::lower(&text.source, &analysis.emits, &analysis.tags);
        let mut tagged = false;
        for finding in lowered.findings {
            // `{% if %}` and its `{% endif %}` are one mistake.
            let is_tag = matches!(finding.kind, Kind::Tag(_));
            if is_tag && std::mem::replace(&mut tagged, true) {
                continue;
            }
            let span = text.span(context.sources, finding.range.clone());
            let (code, message, help) = words(&finding.kind);
            out.push(Diagnostic::error(code, span, message).label(label(&finding.kind)).help(help));
        }
    }
}

fn label(kind: &Kind) -> &'static str {
    match kind {
        Kind::Tag(_) => "the command would depend on a value",
        Kind::QuotedHeredoc => "the shell would print this as it is",
        _ => "the shell would interpret this",
    }
}

fn words(kind: &Kind) -> (&'static str, &'static str, &'static str) {
    let script = "put the logic into a script and pass the value in `args`";
    match kind {
        Kind::Eval => ("LH0313", "a value must not become code: this text is evaluated again", script),
        Kind::CommandWord => (
            "LH0313",
            "a value must not choose the program that runs",
            "name the program; use `switch` to choose between several",
        ),
        Kind::Arithmetic => (
            "LH0313",
            "a value must not stand in shell arithmetic, which evaluates it",
            "compute it in the template: `{{ n + 1 }}`",
        ),
        Kind::QuotedHeredoc => (
            "LH0313",
            "nothing is expanded in a quoted here-document, so the value would be missing",
            "write the delimiter without quotes",
        ),
        Kind::ParameterExpansion => {
            ("LH0313", "a value must not stand inside `${…}`", "compute it in the template instead")
        }
        Kind::Tag(_) => {
            ("LH0314", "`{% %}` and `{# #}` can not be used in a command", "use `when`, `if` or `switch`, or a script")
        }
    }
}
