//! What a text of a step can read.

use serde_json::{Map, json};

use super::{BodyNo, State, StepNo};
use crate::Json;
use crate::eval::Names;
use crate::event::Ended;
use crate::index::Index;
use crate::plan::{Form, Plan, UnitIx};

/// The names that can be read at a step.
pub struct Scope<'a> {
    plan: &'a Plan,
    index: &'a Index,
    state: &'a State,
    body: BodyNo,
    /// Names that only this text sees.
    own: Option<&'a Map<String, Json>>,
}

impl<'a> Scope<'a> {
    /// The names at a step.
    pub(crate) fn at(plan: &'a Plan, index: &'a Index, state: &'a State, step: StepNo) -> Self {
        Self { plan, index, state, body: state.step(step).body, own: None }
    }

    /// The names in a body.
    pub(crate) fn in_body(plan: &'a Plan, index: &'a Index, state: &'a State, body: BodyNo) -> Self {
        Self { plan, index, state, body, own: None }
    }

    /// The same with names that only one text sees.
    pub(crate) fn with(self, own: &'a Map<String, Json>) -> Self {
        Self { own: Some(own), ..self }
    }

    /// The bodies from here outwards, up to the unit's own.
    fn bodies(&self) -> impl Iterator<Item = BodyNo> + '_ {
        std::iter::successors(Some(self.body), |body| {
            let owner = self.state.body(*body).owner?;
            let sub = matches!(self.plan.step(self.state.step(owner).step).form, Form::Workflow { .. });
            (!sub).then(|| self.state.step(owner).body)
        })
    }

    fn inputs(&self) -> Map<String, Json> {
        let outermost = self.bodies().last().unwrap_or(self.body);
        let started = self.state.started.as_ref();
        if self.state.body(outermost).unit == UnitIx(0) && self.state.body(outermost).owner.is_none() {
            let mut inputs: Map<String, Json> = Map::new();
            inputs.insert("task".to_owned(), json!(started.map(|started| &started.task)));
            inputs.extend(started.into_iter().flat_map(|started| started.inputs.clone()));
            return inputs;
        }
        match self.state.body(outermost).names.get("inputs") {
            Some(Json::Object(inputs)) => inputs.clone(),
            _ => Map::new(),
        }
    }
}

impl Names for Scope<'_> {
    fn root(&self, name: &str) -> Option<Json> {
        if let Some(value) = self.own.and_then(|own| own.get(name)) {
            return Some(value.clone());
        }
        match name {
            "inputs" => return Some(Json::Object(self.inputs())),
            "task" => return self.inputs().get("task").cloned().or_else(|| Some(json!(""))),
            "run" => return Some(json!(self.state.started.as_ref().map(|started| &started.about))),
            "trigger" => return self.state.started.as_ref().map(|started| started.trigger.clone()),
            _ => {}
        }
        let named = self.bodies().find_map(|body| self.state.body(body).names.get(name).cloned());
        named.or_else(|| self.inputs().get(name).cloned())
    }

    fn step(&self, id: &str) -> Option<Json> {
        self.bodies().find_map(|body| {
            let step = self.index.find(self.state.body(body).body, id)?;
            let current = self.state.body(body).slots[self.index.position(step)].current?;
            Some(left_by(self.state, current))
        })
    }

    fn step_ids(&self) -> Vec<String> {
        let steps = self.bodies().flat_map(|body| &self.plan.body(self.state.body(body).body).steps);
        steps.map(|step| self.plan.step(*step).id.as_str().to_owned()).collect()
    }
}

/// What `steps.<id>` is.
fn left_by(state: &State, at: StepNo) -> Json {
    let step = state.step(at);
    let status = match step.ended {
        None => "running",
        Some(Ended::Succeeded) => "succeeded",
        Some(Ended::Failed) => "failed",
        Some(Ended::Skipped) => "skipped",
        Some(Ended::Cancelled) => "cancelled",
    };
    let mut left = Map::new();
    left.insert("status".to_owned(), json!(status));
    left.insert("attempts".to_owned(), json!(step.attempts));
    left.insert("usage".to_owned(), json!(step.usage));
    left.insert("error".to_owned(), json!(step.error));
    if step.ended == Some(Ended::Skipped) {
        return Json::Object(left);
    }
    left.insert("output".to_owned(), step.result.output.clone());
    left.insert("items".to_owned(), Json::Array(step.left.clone()));
    left.insert("approved".to_owned(), json!(step.ended == Some(Ended::Succeeded)));
    left.insert("choice".to_owned(), json!(step.choice));
    if let Some(code) = step.result.exit_code {
        left.insert("exit_code".to_owned(), json!(code));
    }
    let stdout = step.result.stdout.clone().map_or_else(|| step.result.output.clone(), Json::String);
    left.insert("stdout".to_owned(), stdout);
    left.insert("stderr".to_owned(), json!(step.result.stderr.clone().unwrap_or_default()));
    Json::Object(left)
}
