//! What is rendered beside the steps: what is said when a run has failed.

use serde_json::Map;

use super::Planner;
use super::start::Outside;
use crate::Json;
use crate::eval::{self, Manner, Problem};
use crate::state::{BodyNo, Scope, State};

/// The parameters of what is done because a run has failed, rendered; `None` if the workflow says nothing.
pub fn on_failure(planner: Planner<'_>, state: &State) -> Option<Result<Map<String, Json>, Problem>> {
    let unit = planner.plan.main();
    let work = unit.on_failure.as_ref()?;
    let scope = Scope::in_body(planner.plan, planner.index, state, BodyNo(0));
    let manner = Manner::of(&unit.compat);
    let rendered = work.params.iter().map(|(name, arg)| Ok((name.clone(), eval::arg(arg, manner, &Outside(&scope))?)));
    Some(rendered.collect())
}
