//! Containers: opening the next item, round or branch, and what their bodies come to.

use indexmap::IndexMap;
use serde_json::{Map, json};

use super::judge::{ask_operator, failed, not_satisfied, succeeded};
use super::start::broken;
use super::{Decision, Planner};
use crate::Json;
use crate::eval::{self, Manner, Names};
use crate::event::{End, Ended, Event, Failure};
use crate::path::StepPath;
use crate::plan::{ErrorClass, Form, OnExhausted, OnItemError, Outcome, UnitIx};
use crate::state::{BodyNo, Scope, State, StepInst, StepNo};

pub(super) fn inside(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    match &step.form {
        Form::ForEach { item, index, on_item_error, .. } => {
            let stop = *on_item_error == OnItemError::Fail && inst.broken > 0;
            match inst.items.get(inst.opened as usize).filter(|_| !stop) {
                Some(value) => {
                    let bound = [(item.as_str(), value.clone()), (index.as_str(), json!(inst.opened))];
                    open(inst.path.clone(), inst.opened, bound)
                }
                None if stop => inner_failure(planner, state, at),
                None => collected(planner, state, at, *on_item_error),
            }
        }
        Form::Repeat { until, max, on_exhausted, .. } => {
            round(planner, state, at, (until.0.as_str(), *max, *on_exhausted))
        }
        Form::Parallel { branches } if (inst.opened as usize) < branches.len() => {
            open(inst.path.clone(), inst.opened, [])
        }
        Form::Workflow { unit, .. } => returned(planner, state, at, *unit),
        _ if broken_child(state, inst).is_some() => inner_failure(planner, state, at),
        _ => {
            let names = inst.left.iter().flat_map(names_left).collect();
            succeeded(planner, state, at, End { names, ..End::plain(Ended::Succeeded) })
        }
    }
}

fn open<'k>(path: StepPath, index: u32, bound: impl IntoIterator<Item = (&'k str, Json)>) -> Decision {
    let bound = bound.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Decision::of([Event::BodyOpened { path, index, bound }])
}

fn broken_child(state: &State, inst: &StepInst) -> Option<BodyNo> {
    inst.children.iter().copied().find(|child| state.body(*child).failed)
}

/// The names in what a body left.
fn names_left(left: &Json) -> impl Iterator<Item = (String, Json)> {
    left.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()))
}

/// A container fails for the first thing that failed inside it.
fn inner_failure(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let error = broken_child(state, inst).and_then(|body| first_failure(state, body));
    failed(planner, state, at, error.unwrap_or_else(|| Failure::new(ErrorClass::Failed, "something inside it failed")))
}

/// The first failure in a body, with its place.
pub(super) fn first_failure(state: &State, body: BodyNo) -> Option<Failure> {
    let steps = state.body(body).slots.iter().filter_map(|slot| slot.current).map(|at| state.step(at));
    let step = steps.into_iter().find(|step| step.ended == Some(Ended::Failed) && !step.ok)?;
    let error = step.error.as_ref()?;
    let message = if error.message.starts_with(&format!("`{}", step.path)) {
        error.message.clone()
    } else {
        format!("`{}`: {}", step.path, error.message)
    };
    Some(Failure { message, ..error.clone() })
}

fn collected(planner: Planner<'_>, state: &State, at: StepNo, on_item_error: OnItemError) -> Decision {
    let inst = state.step(at);
    let mut items = Vec::new();
    let mut names = IndexMap::new();
    for (child, left) in inst.children.iter().zip(&inst.left) {
        match (state.body(*child).failed, on_item_error) {
            (false, _) => {
                names = names_left(left).collect();
                items.push(left.clone());
            }
            (true, OnItemError::Collect) => items.push(json!({"error": first_failure(state, *child)})),
            (true, OnItemError::Skip | OnItemError::Fail) => {}
        }
    }
    succeeded(planner, state, at, End { names, output: Some(Json::Array(items)), ..End::plain(Ended::Succeeded) })
}

fn round(
    planner: Planner<'_>,
    state: &State,
    at: StepNo,
    (until, max, on_exhausted): (&str, u32, OnExhausted),
) -> Decision {
    let inst = state.step(at);
    let Some(last) = inst.children.last().copied() else { return inner_failure(planner, state, at) };
    if state.body(last).failed {
        return inner_failure(planner, state, at);
    }
    let unit = planner.plan.unit(state.body(inst.body).unit);
    let scope = Scope::in_body(planner.plan, planner.index, state, last);
    let names = || inst.left.last().into_iter().flat_map(names_left).collect();
    match eval::holds(until, Manner::of(&unit.compat), &scope) {
        Ok(true) => succeeded(planner, state, at, End { names: names(), ..End::plain(Ended::Succeeded) }),
        Ok(false) if inst.opened < max => another_round(inst),
        Ok(false) => {
            let text = not_satisfied(inst, inst.opened);
            match on_exhausted {
                OnExhausted::Continue => {
                    succeeded(planner, state, at, End { names: names(), ..End::plain(Ended::Succeeded) })
                }
                OnExhausted::Ask => ask_operator(inst, text, None),
                OnExhausted::Fail => failed(planner, state, at, Failure::new(ErrorClass::Failed, text)),
            }
        }
        Err(problem) => broken(planner, state, at, "`until` cannot be evaluated", &problem),
    }
}

pub(super) fn another_round(inst: &StepInst) -> Decision {
    open(inst.path.clone(), inst.opened, [("iteration", json!(inst.opened))])
}

fn returned(planner: Planner<'_>, state: &State, at: StepNo, unit: UnitIx) -> Decision {
    let inst = state.step(at);
    let Some(body) = inst.children.last().copied() else { return inner_failure(planner, state, at) };
    let ended_badly = match &state.body(body).verdict {
        Some((Outcome::Success, _)) => None,
        Some((_, message)) => {
            Some(Failure::new(ErrorClass::Failed, message.clone().unwrap_or_else(|| "it ended in failure".to_owned())))
        }
        None if state.body(body).failed => first_failure(state, body),
        None => None,
    };
    match (ended_badly, outputs(planner, state, body, unit)) {
        (Some(error), _) => failed(planner, state, at, error),
        (None, Ok(output)) => {
            let output = Some(Json::Object(output.into_iter().collect()));
            succeeded(planner, state, at, End { output, ..End::plain(Ended::Succeeded) })
        }
        (None, Err(problem)) => broken(planner, state, at, "`outputs` cannot be evaluated", &problem),
    }
}

/// What a unit returns: its `outputs`, or every name it set.
pub(super) fn outputs(
    planner: Planner<'_>,
    state: &State,
    body: BodyNo,
    unit: UnitIx,
) -> Result<IndexMap<String, Json>, eval::Problem> {
    let unit = planner.plan.unit(unit);
    if unit.outputs.is_empty() {
        let names = state.body(body).names.iter().filter(|(name, _)| *name != "inputs");
        return Ok(names.map(|(name, value)| (name.clone(), value.clone())).collect());
    }
    let scope = Scope::in_body(planner.plan, planner.index, state, body);
    let manner = Manner::of(&unit.compat);
    unit.outputs.iter().map(|(name, arg)| Ok((name.as_str().to_owned(), eval::arg(arg, manner, &scope)?))).collect()
}

/// The inputs of a sub-workflow: what is given, held to what is declared, then defaults; the task is handed down.
pub(super) fn inputs_of(
    planner: Planner<'_>,
    unit: UnitIx,
    given: Map<String, Json>,
    scope: &Scope<'_>,
) -> Result<Map<String, Json>, String> {
    let mut inputs = Map::new();
    inputs.insert("task".to_owned(), scope.root("task").unwrap_or_default());
    for (name, input) in &planner.plan.unit(unit).inputs {
        if let Some(why) = given.get(name.as_str()).and_then(|value| input.misfit(value)) {
            return Err(format!("the input `{name}` does not fit: {why}"));
        }
        inputs.insert(name.as_str().to_owned(), input.default.clone().unwrap_or_default());
    }
    inputs.extend(given);
    Ok(inputs)
}
