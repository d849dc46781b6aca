//! What is rendered beside the steps: what is said when a run has failed, and which runs count together.

use indexmap::IndexMap;
use serde_json::{Map, json};

use super::Planner;
use crate::Json;
use crate::eval::{self, Manner, Problem};
use crate::event::RunStarted;
use crate::plan::Plan;
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
    let manner = Manner::of(&unit.compat);
    let rendered = work.params.iter().map(|(name, arg)| Ok((name.clone(), eval::arg(arg, manner, &scope)?)));
    Some(rendered.collect())
}

/// The group whose runs count together; `None` if the workflow has none. It depends on nothing but the start, so it stays
/// what it is for as long as the run lives.
pub fn group(plan: &Plan, started: &RunStarted) -> Option<Result<String, Problem>> {
    let unit = plan.main();
    let concurrency = unit.concurrency.as_ref()?;
    Some(eval::text(&concurrency.group.0, Manner::of(&unit.compat), &AtStart(started), &IndexMap::new()))
}

/// The names that are set when a run starts.
struct AtStart<'a>(&'a RunStarted);

impl eval::Names for AtStart<'_> {
    fn root(&self, name: &str) -> Option<Json> {
        let mut inputs = Map::from_iter([("task".to_owned(), json!(self.0.task))]);
        inputs.extend(self.0.inputs.clone());
        match name {
            "inputs" => Some(Json::Object(inputs)),
            "run" => Some(json!(self.0.context)),
            "trigger" => Some(json!(self.0.trigger)),
            _ => inputs.remove(name),
        }
    }

    fn step(&self, _id: &str) -> Option<Json> {
        None
    }

    fn step_ids(&self) -> Vec<String> {
        Vec::new()
    }
}
