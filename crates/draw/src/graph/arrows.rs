//! The arrows between steps: dependencies and choices.

use std::collections::HashSet;

use longhaul_core::plan::{Form, OnDeny, OnError, Plan, Rewind, Route, Step, StepIx};

use super::walk::Walk;
use super::{Edge, EdgeKind};

/// All arrows, in the order of the nodes.
pub(super) fn edges(plan: &Plan, walk: &Walk) -> Vec<Edge> {
    // A dependency that is chosen by `next` is drawn once, as the choice.
    let chosen: HashSet<(StepIx, StepIx)> =
        walk.keys.keys().flat_map(|from| plan.step(*from).next.iter().map(|route| (*from, route.to))).collect();
    let mut arrows = Arrows { walk, edges: Vec::new() };
    for &ix in walk.keys.keys() {
        let step = plan.step(ix);
        for dep in step.deps.iter().filter(|dep| !chosen.contains(&(**dep, ix))) {
            arrows.add(*dep, ix, None, EdgeKind::Dependency);
        }
        arrows.routes(ix, &step.next);
        arrows.backwards(ix, step);
    }
    arrows.edges
}

struct Arrows<'a> {
    walk: &'a Walk,
    edges: Vec<Edge>,
}

impl Arrows<'_> {
    fn add(&mut self, from: StepIx, to: StepIx, label: Option<String>, kind: EdgeKind) {
        if let (Some(from), Some(to)) = (self.walk.keys.get(&from), self.walk.keys.get(&to)) {
            self.edges.push(Edge { from: from.clone(), to: to.clone(), label, kind });
        }
    }

    fn routes(&mut self, from: StepIx, routes: &[Route]) {
        let mut conditional = false;
        for route in routes {
            let label = match &route.when {
                Some(when) => Some(when.0.clone()),
                None => conditional.then(|| "else".to_owned()),
            };
            conditional |= route.when.is_some();
            self.add(from, route.to, label, EdgeKind::Next);
        }
    }

    fn backwards(&mut self, from: StepIx, step: &Step) {
        if let Some(rewind) = &step.rewind {
            self.add(from, rewind.to, Some(rewind_label(rewind)), EdgeKind::Rewind);
        }
        if let OnError::Goto(to) = step.on_error {
            self.add(from, to, Some("on error".to_owned()), EdgeKind::Goto);
        }
        if let Form::Approve(approve) = &step.form
            && let OnDeny::Goto(to) = approve.on_deny
        {
            self.add(from, to, Some("deny".to_owned()), EdgeKind::Goto);
        }
    }
}

fn rewind_label(rewind: &Rewind) -> String {
    format!("rewind until {}, at most {}×", rewind.until.0, rewind.max)
}
