//! The context text of a workflow. Agents here read it before every step; work-buddy shows it once, at the start.

use longhaul_core::Json;
use longhaul_core::eval::{self, EvalMode, Names};
use longhaul_core::plan::Plan;

/// Knows no values. A context that uses values of its run stays with each step.
struct Nothing;

impl Names for Nothing {
    fn root(&self, _: &str) -> Option<Json> {
        None
    }

    fn step(&self, _: &str) -> Option<Json> {
        None
    }

    fn step_ids(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The context before a prompt, if it has one, and the prompt without it.
pub(super) fn split<'p>(plan: &Plan, prompt: &'p str) -> (Option<String>, &'p str) {
    let unit = plan.main();
    let written = unit.context.as_ref();
    let context =
        written.and_then(|text| eval::text(&text.0, EvalMode::of(&unit.compat), &Nothing, &unit.templates).ok());
    let Some(context) = context else { return (None, prompt) };
    let context = context.trim_end().to_owned();
    match prompt.strip_prefix(&context).and_then(|rest| rest.strip_prefix("\n\n")) {
        Some(rest) => (Some(context), rest),
        None => (None, prompt),
    }
}
