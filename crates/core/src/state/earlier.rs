//! What a run had under the plan before: the results that may be kept.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{BodyInst, BodyNo, StepInst, StepNo};
use crate::Json;
use crate::event::{BodyMatch, StepMatch};
use crate::path::StepPath;
use crate::plan::{BodyIx, StepIx};

/// What a run had under the plan before. Its indexes are those of that plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Earlier {
    pub(crate) bodies: Vec<BodyInst>,
    pub(crate) steps: Vec<StepInst>,
    /// The steps of each body, in the order in which they were reached.
    pub(crate) inside: Vec<Vec<StepNo>>,
    /// Which bodies and steps of the new plan are those of the old one.
    pub(crate) matches: Vec<BodyMatch>,
    /// Steps that come from a step in another place.
    pub(crate) moved: Vec<StepMatch>,
    /// What each step had been given: a hash by address.
    pub(crate) seen: IndexMap<String, String>,
    /// Steps whose results a person wants to keep.
    pub(crate) keep: Vec<String>,
    /// Steps that a person wants to run again.
    pub(crate) redo: Vec<String>,
    /// The number of the last attempt of each address, over all plans. No number is used twice.
    pub(crate) numbers: HashMap<String, u32>,
}

impl Earlier {
    /// How the bodies of the two plans belong together.
    pub(crate) fn body_match(&self, new: BodyIx, old: BodyNo) -> Option<&BodyMatch> {
        let old = self.bodies.get(old.at())?.body;
        self.matches.iter().find(|entry| entry.new == new && entry.old == old)
    }

    /// How a step of a body belongs to a step of the old plan.
    pub(crate) fn step_match(&self, body: &BodyInst, step: StepIx) -> Option<&StepMatch> {
        let beside = body.from.and_then(|from| self.body_match(body.body, from));
        let found = beside.and_then(|beside| beside.steps.iter().find(|entry| entry.new == step));
        found.or_else(|| self.moved.iter().find(|entry| entry.new == step))
    }

    /// The step that a visit comes from: the visit with the same number, without those that were started over.
    pub(crate) fn visit(&self, entry: &StepMatch, body: Option<BodyNo>, visit: u32) -> Option<StepNo> {
        let counts = |at: &&StepNo| {
            let step = &self.steps[at.at()];
            step.step == entry.old && !step.origin.superseded
        };
        if self.moved.contains(entry) {
            let mut all = self.inside.iter().flatten().filter(counts);
            let only = all.next().filter(|_| visit == 1)?;
            return all.next().is_none().then_some(*only);
        }
        self.inside.get(body?.at())?.iter().filter(counts).nth(visit.checked_sub(1)? as usize).copied()
    }

    /// The body of a loop's item: of equal items, the one at the same place among them.
    pub(crate) fn item(&self, owner: &StepInst, items: &[Json], index: usize) -> Option<BodyNo> {
        let wanted = items.get(index)?;
        let nth = items[..index].iter().filter(|item| *item == wanted).count();
        let mut equal = owner.container.items.iter().enumerate().filter(|(_, item)| *item == wanted);
        let (place, _) = equal.nth(nth)?;
        self.child(owner, |child| child.index as usize == place)
    }

    /// The last body inside a step that fits.
    pub(crate) fn child(&self, owner: &StepInst, fits: impl Fn(&BodyInst) -> bool) -> Option<BodyNo> {
        owner.container.children.iter().rev().copied().find(|child| fits(&self.bodies[child.at()]))
    }

    /// Whether a person named a step: by its address, or by its ids alone.
    pub(crate) fn is_named(names: &[String], path: &StepPath) -> bool {
        !names.is_empty() && names.iter().any(|name| *name == path.to_string() || *name == ids(path))
    }
}

/// The ids of an address, without items, rounds and visits.
fn ids(path: &StepPath) -> String {
    path.segments().iter().map(|segment| segment.id.as_str()).collect::<Vec<_>>().join("/")
}
