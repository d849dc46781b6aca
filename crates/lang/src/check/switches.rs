//! LH0309, LH0310, LH0311: a `switch` that misses a value, has a case that cannot match, or a `default` that is never
//! taken.

use longhaul_core::Json;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Step;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "switch") {
        let Some(on) = step.action.value() else { continue };
        let Some((cases_key, cases)) = step.node.entry("cases") else { continue };
        let Some(analysis) = context.texts.of_node(on).and_then(|text| text.outcome.as_ref().ok()) else { continue };
        let Some(values) = analysis.value.enum_values() else {
            open_ended(step, cases_key, out);
            continue;
        };
        exhaustive(step, (cases_key, cases), values, out);
    }
}

/// The set of values is open, so the `switch` needs a `default`.
fn open_ended(step: &Step<'_>, cases: &Node, out: &mut Vec<Diagnostic>) {
    if step.node.get("default").is_none() {
        out.push(
            Diagnostic::error("LH0309", cases.span, "this `switch` has no branch for a value that no case names")
                .label("no `default`, and no schema that lists the values")
                .help("add `default:`, or give the value a schema that lists its possible values"),
        );
    }
}

fn exhaustive(step: &Step<'_>, (key, cases): (&Node, &Node), values: &[Json], out: &mut Vec<Diagnostic>) {
    let given: Vec<(&Node, Json)> =
        cases.entries().unwrap_or_default().iter().filter_map(|(case, _)| Some((case, case.scalar_json()?))).collect();
    for (case, value) in given.iter().filter(|(_, value)| !values.contains(value)) {
        let words: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
        let word = case.scalar().unwrap_or_default();
        out.push(
            Diagnostic::error("LH0310", case.span, format!("the value can never be {value}"))
                .label("this case is never taken")
                .did_you_mean(word, words, |known| Some(format!("it can be: {}", known.join(", ")))),
        );
    }
    let missing: Vec<String> =
        values.iter().filter(|value| !given.iter().any(|(_, case)| case == *value)).map(plain).collect();
    match (missing.is_empty(), step.node.entry("default")) {
        (false, None) => out.push(
            Diagnostic::error("LH0309", key.span, format!("this `switch` has no case for {}", missing.join(", ")))
                .label("not every value has a case")
                .help("add the missing cases, or a `default:`"),
        ),
        (true, Some((default, _))) => out.push(
            Diagnostic::warning("LH0311", default.span, "this `default` is never taken")
                .label("every value has a case of its own")
                .help("remove it; when the schema grows, the checker will ask for the new case"),
        ),
        _ => {}
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |word| format!("`{word}`"))
}
