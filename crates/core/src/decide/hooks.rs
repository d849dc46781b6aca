//! What is done when a run has failed.

use serde_json::Map;

use super::Planner;
use crate::Json;
use crate::eval::{self, EvalMode, Problem};
use crate::state::{BodyNo, Scope, State};

/// The next attempt at what is done because a run has failed; `None` if it has not, or the workflow says nothing.
pub(super) fn owes(planner: Planner<'_>, state: &State) -> Option<u32> {
    let said = planner.plan.main().on_failure.is_some() && state.has_failed();
    said.then_some(state.on_failure.attempts + 1)
}

/// The parameters of what is done because a run has failed, rendered; `None` if the workflow says nothing.
pub fn on_failure(planner: Planner<'_>, state: &State) -> Option<Result<Map<String, Json>, Problem>> {
    let unit = planner.plan.main();
    let work = unit.on_failure.as_ref()?;
    let scope = Scope::in_body(planner.plan, planner.index, state, BodyNo(0));
    let mode = EvalMode::of(&unit.compat);
    let rendered = work.params.iter().map(|(name, arg)| Ok((name.clone(), eval::arg(arg, mode, &scope)?)));
    Some(rendered.collect())
}
