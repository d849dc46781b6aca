//! Who may be running in the same folder at the same time as a step.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use longhaul_core::plan::{BodyIx, StepIx, UnitIx};

use super::setting;
use crate::check::{Context, abilities};
use crate::model::{Order, Step, step_ix};
use crate::order::Before;
use crate::source::Node;

/// The first step that may change the same files at the same time.
pub(super) fn find(context: &Context<'_, '_>, ix: StepIx) -> Option<StepIx> {
    let mut search = Search { context, ix, seen: HashSet::new() };
    search.around(ix)
}

struct Search<'a, 'c, 'n> {
    context: &'a Context<'c, 'n>,
    ix: StepIx,
    /// Workflows whose users were looked at.
    seen: HashSet<UnitIx>,
}

impl<'n> Search<'_, '_, 'n> {
    /// Looks at what stands beside a step, then beside what it stands in.
    fn around(&mut self, at: StepIx) -> Option<StepIx> {
        let body = self.context.model.step(at).body;
        let beside = self.siblings(body, at).into_iter().find_map(|other| self.inside(other, &mut HashSet::new()));
        if beside.is_some() {
            return beside;
        }
        match self.context.model.body(body).parent {
            Some(container) => self.within(container, body).or_else(|| self.around(container)),
            None => self.users(self.context.model.body(body).unit),
        }
    }

    /// Steps of a graph of which neither comes before the other.
    fn siblings(&self, body: BodyIx, at: StepIx) -> Vec<StepIx> {
        let found = self.context.model.body(body);
        if found.order != Order::Graph {
            return Vec::new();
        }
        let before = |first, second| self.context.orders.before(body, first, second) != Before::Never;
        let apart = |other: &StepIx| *other != at && !before(*other, at) && !before(at, *other);
        found.steps.iter().copied().filter(apart).collect()
    }

    /// Other branches, or other items.
    fn within(&self, container: StepIx, body: BodyIx) -> Option<StepIx> {
        let step = self.context.model.step(container);
        match step.action.key() {
            "parallel" => {
                let others = step.inner.iter().filter(|(_, other)| *other != body);
                others
                    .flat_map(|(_, other)| &self.context.model.body(*other).steps)
                    .find_map(|other| self.inside(*other, &mut HashSet::new()))
            }
            "for_each" if at_once(step) && self.shares_folder(self.ix) => Some(self.ix),
            _ => None,
        }
    }

    /// Whoever uses a workflow has something beside that use.
    fn users(&mut self, unit: UnitIx) -> Option<StepIx> {
        if !self.seen.insert(unit) {
            return None;
        }
        let all = self.context.model.steps.iter().enumerate().map(|(at, step)| (step_ix(at), step));
        let users: Vec<StepIx> =
            all.filter(|(ix, step)| self.used(*ix, step) == Some(unit)).map(|(ix, _)| ix).collect();
        users.into_iter().find_map(|user| self.around(user))
    }

    fn used(&self, ix: StepIx, step: &Step<'n>) -> Option<UnitIx> {
        let name = step.action.value().filter(|_| step.action.key() == "workflow")?.as_text()?;
        self.context.model.unit_of(ix).known.get(name).copied()
    }

    /// Work in the same folder: the step itself, or something in it.
    fn inside(&self, at: StepIx, seen: &mut HashSet<UnitIx>) -> Option<StepIx> {
        let step = self.context.model.step(at);
        if self.changes_files(at, step) && self.shares_folder(at) {
            return Some(at);
        }
        let used = self.used(at, step).filter(|unit| seen.insert(*unit));
        let used = used.and_then(|unit| self.context.model.unit(unit).body);
        let bodies = step.inner.iter().map(|(_, body)| *body).chain(used);
        let steps: Vec<StepIx> = bodies.flat_map(|body| self.context.model.body(body).steps.clone()).collect();
        steps.into_iter().find_map(|inner| self.inside(inner, seen))
    }

    fn changes_files(&self, at: StepIx, step: &Step<'n>) -> bool {
        match step.action.key() {
            "run" | "tool" => true,
            "prompt" => !abilities::only_looks(self.context, at),
            _ => false,
        }
    }

    /// Whether a step works where the first one does, above it or below it. Of folders that are made up later nobody knows.
    fn shares_folder(&self, other: StepIx) -> bool {
        let (Some(one), Some(other)) = (self.folder(self.ix), self.folder(other)) else { return false };
        one.starts_with(&other) || other.starts_with(&one)
    }

    fn folder(&self, at: StepIx) -> Option<PathBuf> {
        let written = setting(self.context, at, "cwd").and_then(Node::as_text).unwrap_or_default();
        let parts = Path::new(written).components().filter(|part| *part != Component::CurDir);
        (!written.contains("{{") && !written.contains("{%")).then(|| parts.collect())
    }
}

/// Whether several items are worked on at once.
fn at_once(step: &Step<'_>) -> bool {
    let parallel = step.node.get("parallel").and_then(Node::scalar_json).and_then(|count| count.as_u64());
    parallel.is_some_and(|count| count > 1)
}
