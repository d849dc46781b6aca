//! Translates `condition` of an evaluator into an expression.
//!
//! The original inserts outputs into the text and then looks for an operator, so an output that contains ` equals `
//! changes the question. Here the operator is found first.

use super::super::compose::{concatenation, is_readable, quoted};
use super::wiring::Wiring;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// The order in which the original looks for them.
const OPERATORS: &[&str] = &[" contains ", " equals ", " starts_with ", " not_contains "];

/// Why a condition can never be true: the problem, and what to write instead.
struct Refusal(&'static str, &'static str);

const NO_OPERATOR: Refusal = Refusal(
    "the condition compares nothing",
    "write `{{name}} contains text`, or `equals`, `starts_with`, `not_contains`",
);
const FIXED: Refusal =
    Refusal("the condition tests fixed text", "name an output on the left: `{{name}} contains text`");
const NO_NAME: Refusal = Refusal(
    "the condition has braces around something that is not a name",
    "braces hold the name of an output: `{{name}}`",
);

/// The condition as an expression; `false` and a report if it can never be true.
pub(super) fn expression(condition: &Node, wiring: &Wiring<'_>, out: &mut Vec<Diagnostic>) -> String {
    asked(condition.as_text().unwrap_or_default(), wiring).unwrap_or_else(|Refusal(message, help)| {
        out.push(Diagnostic::error("LH0603", condition.span, message).label("never true").help(help));
        "false".to_owned()
    })
}

fn asked(text: &str, wiring: &Wiring<'_>) -> Result<String, Refusal> {
    let (operator, left, right) = split(text).ok_or(NO_OPERATOR)?;
    if !left.contains("{{") {
        return Err(FIXED);
    }
    let left = side(left, wiring).ok_or(NO_NAME)?;
    let right = side(right.trim().trim_matches(['"', '\'']), wiring).ok_or(NO_NAME)?;
    // A filter binds tighter than an operator, so the right side needs no parentheses.
    Ok(match operator {
        " contains " => format!("{right} in ({left})"),
        " not_contains " => format!("{right} not in ({left})"),
        " equals " => format!("({left} | trim) == {right}"),
        _ => format!("({left} | trim) is startingwith({right})"),
    })
}

fn split(text: &str) -> Option<(&'static str, &str, &str)> {
    let lower = text.to_ascii_lowercase();
    OPERATORS.iter().find_map(|operator| {
        let at = lower.find(operator)?;
        Some((*operator, text.get(..at)?, text.get(at + operator.len()..)?))
    })
}

/// One side, in lower case.
fn side(text: &str, wiring: &Wiring<'_>) -> Option<String> {
    let text = text.trim();
    if !text.contains("{{") {
        return Some(quoted(&text.to_lowercase()));
    }
    concatenation(&with_native_names(text, wiring)?).map(|joined| format!("{joined} | lower"))
}

fn with_native_names(text: &str, wiring: &Wiring<'_>) -> Option<String> {
    let mut native = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("{{") {
        let (name, after) = tail.split_once("}}")?;
        let name = wiring.name(name.trim());
        is_readable(name).then_some(())?;
        native.push_str(&format!("{before}{{{{{name}}}}}"));
        rest = after;
    }
    Some(native + rest)
}
