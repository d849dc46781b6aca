//! Finds the critical path of a run.

use std::collections::HashSet;

use crate::event::Ended;
use crate::path::StepPath;
use crate::plan::{Order, Plan};
use crate::state::{State, StepNo};

/// The critical path: the leaf steps, in order, that delayed the end. It starts at the step that ended last, and goes
/// back each time to the dependency that ended last.
pub fn critical_path(plan: &Plan, state: &State) -> Vec<StepPath> {
    let fold = Fold { plan, state, leaves: leaves(state) };
    let mut steps: Vec<StepNo> = Vec::new();
    let mut seen = HashSet::new();
    let mut next = fold.last(|_| true);
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        steps.push(at);
        next = fold.before(at);
    }
    steps.iter().rev().map(|at| state.step(*at).path.clone()).collect()
}

/// Steps without inner steps that are over and were not skipped.
fn leaves(state: &State) -> Vec<StepNo> {
    let all = (0u32..).map(StepNo).zip(state.steps());
    let over = all.filter(|(_, step)| step.container.children.is_empty() && step.outcome.ended_at.is_some());
    over.filter(|(_, step)| step.outcome.ended != Some(Ended::Skipped)).map(|(at, _)| at).collect()
}

struct Fold<'a> {
    plan: &'a Plan,
    state: &'a State,
    leaves: Vec<StepNo>,
}

impl Fold<'_> {
    /// The matching leaf that ended last; of several at the same time, the one that was reached last.
    fn last(&self, fits: impl Fn(StepNo) -> bool) -> Option<StepNo> {
        self.leaves.iter().copied().filter(|at| fits(*at)).max_by_key(|at| (self.state.step(*at).outcome.ended_at, *at))
    }

    /// The dependency of a step that ended last.
    fn before(&self, at: StepNo) -> Option<StepNo> {
        let step = self.state.step(at);
        let is_earlier = |leaf: StepNo| leaf != at && self.state.step(leaf).outcome.ended_at <= Some(step.since);
        let needed = self.needed(at);
        if let Some(found) = self.last(|leaf| is_earlier(leaf) && needed.iter().any(|dep| self.is_within(leaf, *dep))) {
            return Some(found);
        }
        let body = self.state.body(step.body);
        let is_machine = matches!(self.plan.body(body.body).order, Order::Machine { .. });
        let beside = |leaf: StepNo| match body.owner {
            // Earlier rounds and items, and earlier nodes.
            Some(owner) => self.is_within(leaf, owner),
            None => is_machine,
        };
        self.last(|leaf| leaf < at && is_earlier(leaf) && beside(leaf)).or_else(|| self.before(body.owner?))
    }

    /// The instances that a step depends on.
    fn needed(&self, at: StepNo) -> Vec<StepNo> {
        let step = self.state.step(at);
        let body = self.state.body(step.body);
        let slots = self.plan.body(body.body).steps.iter().zip(&body.slots);
        let deps = &self.plan.step(step.step).deps;
        slots.filter(|(step, _)| deps.contains(step)).filter_map(|(_, slot)| slot.current).collect()
    }

    fn is_within(&self, leaf: StepNo, container: StepNo) -> bool {
        let mut at = Some(leaf);
        while let Some(step) = at {
            if step == container {
                return true;
            }
            at = self.state.body(self.state.step(step).body).owner;
        }
        false
    }
}
