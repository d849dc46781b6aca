//! Which bodies and steps of the new plan are those of the old one.
//!
//! A step is recognised by its id in its body, or by the id that its `was` names. Each step of the old plan is taken at most once.

use std::collections::{HashSet, VecDeque};

use super::meaning::{differing, effects, errors};
use crate::event::{BodyMatch, StepMatch};
use crate::plan::{BodyIx, Form, Plan, Step, StepIx};

/// The bodies that belong together.
pub(super) struct Matching {
    pub(super) bodies: Vec<BodyMatch>,
    /// Steps of the old plan that were found in the new one.
    pub(super) taken: HashSet<StepIx>,
    /// Steps that a person says come from a step in another place.
    pub(super) moved: Vec<StepMatch>,
    /// Steps of the new plan whose `was` names nothing.
    pub(super) unknown: Vec<StepIx>,
}

/// The bodies that belong together, from the outside in.
pub(super) fn matching(old: &Plan, new: &Plan) -> Matching {
    let mut found = Matching { bodies: Vec::new(), taken: HashSet::new(), moved: Vec::new(), unknown: Vec::new() };
    let mut queue = VecDeque::from([(new.main().body, old.main().body)]);
    let mut known = HashSet::from([(new.main().body, old.main().body)]);
    while let Some((new_body, old_body)) = queue.pop_front() {
        let steps = found.steps(old, new, (new_body, old_body));
        for entry in &steps {
            let pairs = inner(old, new, entry).into_iter().filter(|pair| known.insert(*pair));
            queue.extend(pairs.collect::<Vec<_>>());
        }
        found.bodies.push(BodyMatch { new: new_body, old: old_body, steps });
    }
    found
}

impl Matching {
    fn steps(&mut self, old: &Plan, new: &Plan, (new_body, old_body): (BodyIx, BodyIx)) -> Vec<StepMatch> {
        let mut pairs: Vec<(StepIx, StepIx)> = Vec::new();
        let mut used: HashSet<StepIx> = HashSet::new();
        let in_old = |id: &str| old.body(old_body).steps.iter().copied().find(|at| old.step(*at).id.as_str() == id);
        for at in &new.body(new_body).steps {
            let step = new.step(*at);
            let Some(was) = &step.was else { continue };
            // The file keeps its `was` after the rename: once is enough.
            let is_done = in_old(step.id.as_str()).is_some_and(|same| old.step(same).was.as_ref() == Some(was));
            match in_old(was.as_str()).filter(|_| !is_done) {
                Some(found) if used.insert(found) => pairs.push((*at, found)),
                _ if !is_done => self.unknown.push(*at),
                _ => {}
            }
        }
        for at in &new.body(new_body).steps {
            let same = in_old(new.step(*at).id.as_str());
            if let Some(same) = same.filter(|same| !used.contains(same) && !pairs.iter().any(|(known, _)| known == at))
            {
                used.insert(same);
                pairs.push((*at, same));
            }
        }
        self.taken.extend(used);
        pairs.into_iter().map(|pair| entry(old, new, pair)).collect()
    }
}

pub(super) fn entry(old: &Plan, new: &Plan, (at, was): (StepIx, StepIx)) -> StepMatch {
    let (step, before) = (new.step(at), old.step(was));
    StepMatch {
        new: at,
        old: was,
        changed: !changes(old, new, (at, was)).is_empty(),
        errors: errors(new, step) != errors(old, before),
        review: step.review != before.review,
    }
}

/// The parts of a step that differ, of those that its result depends on.
pub(super) fn changes(old: &Plan, new: &Plan, (at, was): (StepIx, StepIx)) -> Vec<String> {
    let (before, after) = (effects(old, old.step(was)), effects(new, new.step(at)));
    // Another kind has other parts; to name them all would say nothing.
    if before.get("kind") != after.get("kind") {
        return vec!["kind".to_owned()];
    }
    let mut parts: Vec<String> = differing(&before, &after).iter().map(|part| shown(part).to_owned()).collect();
    parts.dedup();
    parts
}

/// A part as the author writes it.
fn shown(part: &str) -> &str {
    if part == "bindings" { "command" } else { part }
}

/// The bodies inside two containers that belong together.
fn inner(old: &Plan, new: &Plan, entry: &StepMatch) -> Vec<(BodyIx, BodyIx)> {
    let (step, before): (&Step, &Step) = (new.step(entry.new), old.step(entry.old));
    match (&step.form, &before.form) {
        (Form::If { then, otherwise, .. }, Form::If { then: old_then, otherwise: old_otherwise, .. }) => {
            [(*then, *old_then)].into_iter().chain(otherwise.zip(*old_otherwise)).collect()
        }
        (Form::Switch { cases, default, .. }, Form::Switch { cases: old_cases, default: old_default, .. }) => {
            let same = |case: &crate::plan::Case| {
                let old = old_cases.iter().find(|old| old.value == case.value)?;
                Some((case.body, old.body))
            };
            cases.iter().filter_map(same).chain(default.zip(*old_default)).collect()
        }
        (Form::ForEach { body, .. }, Form::ForEach { body: old_body, .. })
        | (Form::Repeat { body, .. }, Form::Repeat { body: old_body, .. }) => vec![(*body, *old_body)],
        (Form::Parallel { branches }, Form::Parallel { branches: old_branches }) => {
            branches.iter().filter_map(|(name, body)| Some((*body, *old_branches.get(name)?))).collect()
        }
        (Form::Workflow { unit, .. }, Form::Workflow { unit: old_unit, .. }) => {
            vec![(new.unit(*unit).body, old.unit(*old_unit).body)]
        }
        _ => Vec::new(),
    }
}
