//! LH0313, LH0314 and LH0319: a template where a shell, or what it starts, would or may take its value for code.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::shell::{self, Finding, Kind};
use crate::sites::Purpose;
use crate::source::Span;

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
            out.push(said(&finding, span));
        }
    }
}

fn said(finding: &Finding, span: Span) -> Diagnostic {
    let (message, help) = words(&finding.kind);
    let diagnostic = match (&finding.kind, finding.is_certain) {
        (Kind::Tag(_), _) => Diagnostic::error("LH0314", span, message),
        (_, true) => Diagnostic::error("LH0313", span, message),
        (_, false) => Diagnostic::warning("LH0319", span, message),
    };
    diagnostic.label(label(finding)).help(help)
}

fn label(finding: &Finding) -> &'static str {
    match finding.kind {
        Kind::Tag(_) => "the command would depend on a value",
        Kind::QuotedHeredoc => "the shell would print this as it is",
        _ if finding.is_certain => "a hostile value would be run here",
        _ => "a hostile value may be run here",
    }
}

fn words(kind: &Kind) -> (&'static str, &'static str) {
    let number = "compute it in the template: `{{ n + 1 }}`; `{{ x | int }}` is always a number";
    match kind {
        Kind::Code(help) => ("a value must not become code: this text is run as a program", help),
        Kind::CommandWord => (
            "a value must not choose the program that runs",
            "name the program; use `switch` to choose between several",
        ),
        Kind::Script => (
            "a value must not choose the file that is run as a program",
            "name the file; use `switch` to choose between several",
        ),
        Kind::Arithmetic => ("a value must not stand in shell arithmetic, which evaluates it", number),
        Kind::VariableName => (
            "a value must not name a variable of the shell, which evaluates what is in its brackets",
            "name the variable; use `switch` or `case` to choose between several",
        ),
        Kind::RunVariable => (
            "a value must not be that of a variable which other programs run",
            "set it to a fixed text; put what differs into a script and pass the value in `args`",
        ),
        Kind::QuotedHeredoc => (
            "nothing is expanded in a quoted here-document, so the value would be missing",
            "write the delimiter without quotes",
        ),
        Kind::ParameterExpansion => ("a value must not stand inside `${…}`", "compute it in the template instead"),
        Kind::Tag(_) => {
            ("`{% %}` and `{# #}` cannot be used in a command", "use `when`, `if` or `switch`, or a script")
        }
        Kind::OptionLike => (
            "a value that begins with `-` would be an option here, and this program has options that run commands",
            "write `--` before it, or begin the word with fixed text such as `./`",
        ),
        Kind::Package => (
            "the value names a package, whose code is fetched and run",
            "name the package; use `switch` to choose between several",
        ),
        Kind::Searched => {
            ("the value says where programs are looked for", "name the folder, or run the program by its path")
        }
        Kind::Query(help) => ("a value in a query can make it read more than was meant", help),
        Kind::UnknownProgram => (
            "the program is not known before it runs; a shell would run this value",
            "name the program, or pass the value behind the fixed text",
        ),
    }
}
