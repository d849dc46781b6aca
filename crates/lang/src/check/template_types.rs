//! LH0307, LH0308, LH0310, LH0316, LH0317, LH0321: fields that do not exist, values of the wrong type, comparisons that are
//! never true, unknown filters and functions, and text compared with a boolean or a number.

use longhaul_core::types::Type;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr::{ExprFinding, FindingKind};
use crate::source::Span;
use crate::texts::Text;

/// The most findings for one text: locating each one takes time.
const FINDINGS_MAX: usize = 100;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts() {
        let Ok(analysis) = &text.outcome else { continue };
        for finding in analysis.findings.iter().take(FINDINGS_MAX) {
            let span = text.span(context.sources, finding.range.clone());
            out.extend(diagnostic(finding, span));
        }
        out.extend(not_a_list(context, text, &analysis.value));
    }
}

/// Reports a `for_each` over a value that is not a list.
fn not_a_list(context: &Context<'_, '_>, text: &Text<'_>, value: &Type) -> Option<Diagnostic> {
    let items = text.site.key == "for_each" && text.site.language == crate::expr::Language::Expression;
    let wrong = items && value.item().is_none();
    wrong.then(|| {
        let span = text.span(context.sources, 0..text.source.len());
        Diagnostic::error("LH0308", span, format!("`{}` is not a list: it is {value}", text.source.trim()))
            .label("`for_each` needs a list")
            .help(match value {
                Type::String => {
                    "text can be split: `x | lines`, `x | split(',')`; a step can say `output: {parse: lines}`"
                }
                _ => "name the field that holds the list, or change the schema",
            })
    })
}

fn diagnostic(finding: &ExprFinding, span: Span) -> Option<Diagnostic> {
    let diagnostic = match &finding.kind {
        FindingKind::UnknownField { on, field, known } => {
            Diagnostic::error("LH0307", span, format!("`{on}` has no field `{field}`"))
                .label("unknown field")
                .did_you_mean(field, known.iter().map(String::as_str), |known| {
                    (!known.is_empty()).then(|| format!("it has: {}", known.join(", ")))
                })
        }
        FindingKind::MayBeItemError { on, field } if field == "error" => {
            Diagnostic::error("LH0321", span, format!("`{on}` may be a result without `error`"))
                .label("only a failed item has it")
                .help(format!("test first: `{on}.error is defined`"))
        }
        FindingKind::MayBeItemError { on, field } => {
            Diagnostic::error("LH0321", span, format!("`{on}` may be a failed item without `{field}`"))
                .label("`on_item_error: collect` puts an error in the place of a failed item")
                .help(format!(
                    "test first: `{on}.error is undefined`; or `selectattr('error', 'undefined')` for the list"
                ))
        }
        FindingKind::NotIterable { what, found } => {
            Diagnostic::error("LH0308", span, format!("`{what}` is not a list: it is {found}"))
                .label("needs a list")
                .help("name the field that holds the list, or change the schema")
        }
        FindingKind::NeverEqual { left, left_type, right } => {
            let values: Vec<&str> =
                left_type.enum_values().unwrap_or_default().iter().filter_map(|value| value.as_str()).collect();
            let word = right.as_str().unwrap_or_default();
            Diagnostic::error("LH0310", span, format!("`{left}` can never be {right}"))
                .label(format!("it is {left_type}"))
                .did_you_mean(word, values, |_| Some("compare it with a value that its schema allows".to_owned()))
        }
        FindingKind::TextForBoolean { left, right } => Diagnostic::error(
            "LH0317",
            span,
            format!("`{left}` is a boolean, and '{right}' is text: they are never equal"),
        )
        .label("text, not a boolean")
        .help(format!("write `{left}` alone, or `not {left}`")),
        FindingKind::TextForNumber { left, right } => Diagnostic::error(
            "LH0317",
            span,
            format!("`{left}` is a number, and '{right}' is text: they are never equal"),
        )
        .label("text, not a number")
        .help(format!("write {right} without quotes")),
        FindingKind::UnknownFilter { name, known } => unknown(span, "filter", name, known),
        FindingKind::UnknownTest { name, known } => unknown(span, "test", name, known),
        FindingKind::UnknownFunction { name, known } => unknown(span, "function", name, known),
        FindingKind::TooCostly { .. } => return None,
    };
    Some(diagnostic)
}

fn unknown(span: Span, what: &str, name: &str, known: &[String]) -> Diagnostic {
    Diagnostic::error("LH0316", span, format!("there is no {what} `{name}`"))
        .label(format!("unknown {what}"))
        .did_you_mean(name, known.iter().map(String::as_str), |known| Some(format!("known are: {}", known.join(", "))))
}
