//! Which runs count together.

use indexmap::IndexMap;
use serde_json::{Map, json};

use crate::Json;
use crate::eval::{self, EvalMode, Problem};
use crate::event::RunStarted;
use crate::plan::Plan;

/// The group whose runs count together; `None` if the workflow has none. It depends on nothing but the start, so it stays
/// what it is for as long as the run lives.
pub fn group(plan: &Plan, started: &RunStarted) -> Option<Result<String, Problem>> {
    let unit = plan.main();
    let concurrency = unit.concurrency.as_ref()?;
    Some(eval::text(&concurrency.group.0, EvalMode::of(&unit.compat), &AtStart(started), &IndexMap::new()))
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
