//! What a text of a step can read.

use serde_json::{Map, json};

use super::{BodyNo, State, StepInst, StepNo};
use crate::Json;
use crate::eval::Names;
use crate::event::{End, Ended};
use crate::index::Index;
use crate::plan::{Form, Plan, UnitIx};
use crate::status::StepStatus;

/// The names that can be read at a step.
pub struct StateScope<'a> {
    plan: &'a Plan,
    index: &'a Index,
    state: &'a State,
    body: BodyNo,
    /// Names that only this text sees.
    own: Option<&'a Map<String, Json>>,
    /// A step that is about to end, and how.
    ending: Option<(StepNo, &'a End)>,
}

impl<'a> StateScope<'a> {
    /// The names at a step.
    pub(crate) fn at(plan: &'a Plan, index: &'a Index, state: &'a State, step: StepNo) -> Self {
        Self { plan, index, state, body: state.step(step).body, own: None, ending: None }
    }

    /// The names in a body.
    pub(crate) fn in_body(plan: &'a Plan, index: &'a Index, state: &'a State, body: BodyNo) -> Self {
        Self { plan, index, state, body, own: None, ending: None }
    }

    /// The same with names that only one text sees.
    pub(crate) fn with(self, own: &'a Map<String, Json>) -> Self {
        Self { own: Some(own), ..self }
    }

    /// The same as if a step had ended already.
    pub(crate) fn after(self, at: StepNo, end: &'a End) -> Self {
        Self { ending: Some((at, end)), ..self }
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

impl Names for StateScope<'_> {
    fn root(&self, name: &str) -> Option<Json> {
        if let Some(value) = self.own.and_then(|own| own.get(name)) {
            return Some(value.clone());
        }
        match name {
            "inputs" => return Some(Json::Object(self.inputs())),
            "task" => return self.inputs().get("task").cloned().or_else(|| Some(json!(""))),
            "run" => return Some(json!(self.state.started.as_ref().map(|started| &started.context))),
            "trigger" => return self.state.started.as_ref().map(|started| json!(started.trigger)),
            _ => {}
        }
        let named = self.bodies().find_map(|body| self.state.body(body).names.get(name).cloned());
        named.or_else(|| self.inputs().get(name).cloned())
    }

    fn step(&self, id: &str) -> Option<Json> {
        let known = |body: BodyNo| Some((body, self.index.find(self.state.body(body).body, id)?));
        let (body, step) = self.bodies().find_map(known)?;
        let current = self.state.body(body).slots[self.index.position(step)].current?;
        match self.ending.filter(|(at, _)| *at == current) {
            Some((at, end)) => Some(left_by(&as_ended(self.state.step(at), end))),
            None => Some(left_by(self.state.step(current))),
        }
    }

    fn step_ids(&self) -> Vec<String> {
        let steps = self.bodies().flat_map(|body| &self.plan.body(self.state.body(body).body).steps);
        steps.map(|step| self.plan.step(*step).id.as_str().to_owned()).collect()
    }
}

/// A step as it will be once it has ended.
fn as_ended(step: &StepInst, end: &End) -> StepInst {
    let mut step = step.clone();
    step.outcome.ended = Some(end.status);
    step.outcome.choice.clone_from(&end.choice);
    step.outcome.error = end.error.clone().or(step.outcome.error);
    if let Some(output) = &end.output {
        step.outcome.result.output = output.clone();
    }
    step
}

/// What `steps.<id>` is.
fn left_by(step: &StepInst) -> Json {
    let status = step.outcome.ended.map_or(StepStatus::Running, StepStatus::from);
    let mut left = Map::new();
    left.insert("status".to_owned(), json!(status));
    left.insert("attempts".to_owned(), json!(step.attempts));
    left.insert("usage".to_owned(), json!(step.usage));
    left.insert("error".to_owned(), json!(step.outcome.error));
    if step.outcome.ended == Some(Ended::Skipped) {
        return Json::Object(left);
    }
    left.insert("output".to_owned(), step.outcome.result.output.clone());
    let items = if step.container.items.is_empty() {
        Json::Array(step.container.left.clone())
    } else {
        step.outcome.result.output.clone()
    };
    left.insert("items".to_owned(), items);
    left.insert("approved".to_owned(), json!(step.outcome.ended == Some(Ended::Succeeded)));
    left.insert("choice".to_owned(), json!(step.outcome.choice));
    left.insert("comment".to_owned(), json!(step.outcome.comment));
    if let Some(code) = step.outcome.result.exit_code {
        left.insert("exit_code".to_owned(), json!(code));
    }
    left.insert("stdout".to_owned(), step.outcome.result.printed());
    left.insert("stderr".to_owned(), json!(step.outcome.result.stderr.clone().unwrap_or_default()));
    Json::Object(left)
}
