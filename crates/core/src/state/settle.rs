//! What follows in a body when a step is over: who may start, and when the body is done.

use std::collections::HashSet;

use serde_json::json;

use super::apply::{Apply, Illegal, is_ok, number};
use super::{BodyNo, Phase, Slot, StepNo};
use crate::Json;
use crate::event::{End, Ended, Skip};
use crate::id::StepId;
use crate::path::StepPath;
use crate::plan::{Form, Order, Outcome, RunIf, StepIx};

impl Apply<'_> {
    pub(super) fn skip(&mut self, at: StepNo, why: Skip) {
        self.off_agenda(at);
        let step = self.state.step_mut(at);
        step.dead = matches!(why, Skip::Route | Skip::Denied);
        let ok = !matches!(why, Skip::Upstream | Skip::Cancelled);
        self.settle(at, Ended::Skipped, ok);
    }

    pub(super) fn step_ended(&mut self, at: StepNo, end: &End) {
        self.off_agenda(at);
        let step = self.state.step_mut(at);
        if let Some(output) = &end.output {
            step.result.output = output.clone();
        }
        if let Some(error) = &end.error {
            step.error = Some(error.clone());
        }
        step.choice.clone_from(&end.choice);
        step.defaulted = end.defaulted;
        if end.progress.is_some() && end.progress != self.state.progress {
            self.state.progress.clone_from(&end.progress);
            self.state.steps_idle = 0;
        }
        if let Some(verdict) = &end.verdict {
            self.close_unit(at, verdict);
        }
        self.publish(at, end);
        self.settle(at, end.status, end.tolerated || is_ok(end.status));
    }

    /// An `end` closes every body of its sub-workflow: what has not begun will not.
    fn close_unit(&mut self, at: StepNo, verdict: &(Outcome, Option<String>)) {
        let mut body = Some(self.state.step(at).body);
        while let Some(here) = body {
            self.state.body_mut(here).verdict = Some(verdict.clone());
            let owner = self.state.body(here).owner;
            let inside = owner
                .filter(|owner| !matches!(self.plan.step(self.state.step(*owner).step).form, Form::Workflow { .. }));
            body = inside.map(|owner| self.state.step(owner).body);
        }
    }

    /// The names that a step sets become readable.
    fn publish(&mut self, at: StepNo, end: &End) {
        let step = self.state.step(at);
        let output = &self.plan.step(step.step).output;
        let body = step.body;
        let value = step.result.output.clone();
        let left_something = end.status == Ended::Succeeded || (end.tolerated && !value.is_null());
        let names = &mut self.state.body_mut(body).names;
        if left_something {
            if output.spread
                && let Json::Object(fields) = &value
            {
                names.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            if let Some(alias) = &output.alias {
                names.insert(alias.as_str().to_owned(), value);
            }
        }
        names.extend(end.names.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Ends a step and lets everybody know who waited for it.
    fn settle(&mut self, at: StepNo, ended: Ended, ok: bool) {
        let mut over = vec![(at, ended, ok)];
        let body = self.state.step(at).body;
        self.state.body_mut(body).live = self.state.body(body).live.saturating_sub(1);
        while let Some((at, ended, ok)) = over.pop() {
            let now = self.state.now;
            self.state.waiting.remove(&at);
            self.state.succeeded += u64::from(ended == Ended::Succeeded);
            let step = self.state.step_mut(at);
            (step.phase, step.ended, step.ok, step.ended_at) = (Phase::Done, Some(ended), ok, Some(now));
            let (ix, body) = (step.step, step.body);
            if !ok {
                self.state.body_mut(body).failed = true;
            }
            match self.plan.body(self.state.body(body).body).order {
                Order::Machine { .. } => self.move_on(at, ok),
                Order::Graph => over.extend(self.count_down(ix, body)),
            }
        }
        if self.state.body(body).live == 0 {
            self.body_ended(body);
        }
    }

    /// In a state machine: the node that was chosen is next.
    fn move_on(&mut self, at: StepNo, ok: bool) {
        let step = self.state.step(at);
        let body = step.body;
        let ix = self.state.body(body).body;
        let target = step.chosen.as_ref().and_then(|id| self.index.find(ix, id.as_str()));
        if let Some(target) = target {
            // Going on from a failure means that it is dealt with.
            self.state.body_mut(body).failed &= ok;
            self.reach(body, target);
        }
    }

    /// In a graph: dependents that now have nothing left to wait for; those that can not run are over too.
    fn count_down(&mut self, ix: StepIx, body: BodyNo) -> Vec<(StepNo, Ended, bool)> {
        let mut blocked = Vec::new();
        for dependent in self.index.dependents(ix) {
            let position = self.index.position(*dependent);
            let slot = &mut self.state.body_mut(body).slots[position];
            slot.pending = slot.pending.saturating_sub(1);
            if slot.pending > 0 || slot.current.is_some() {
                continue;
            }
            match self.may_run(*dependent, body) {
                Arrival::Runs => drop(self.reach(body, *dependent)),
                Arrival::Skipped => blocked.push((self.add(body, *dependent), Ended::Skipped, true)),
                Arrival::Blocked => blocked.push((self.add(body, *dependent), Ended::Skipped, false)),
            }
        }
        blocked
    }

    fn may_run(&self, step: StepIx, body: BodyNo) -> Arrival {
        let deps = self.plan.step(step).deps.iter();
        let deps: Vec<_> = deps.filter_map(|dep| self.current(body, *dep)).map(|at| self.state.step(at)).collect();
        match self.plan.step(step).run_if {
            RunIf::Always => Arrival::Runs,
            RunIf::Settled if deps.iter().all(|dep| dep.ok) => Arrival::Runs,
            RunIf::Settled => Arrival::Blocked,
            RunIf::Succeeded if deps.iter().all(|dep| dep.ended == Some(Ended::Succeeded)) => Arrival::Runs,
            RunIf::Succeeded if deps.iter().all(|dep| dep.ok) => Arrival::Skipped,
            RunIf::Succeeded => Arrival::Blocked,
            RunIf::Failed if deps.iter().any(|dep| dep.ended == Some(Ended::Failed)) => Arrival::Runs,
            RunIf::Failed => Arrival::Skipped,
        }
    }

    fn current(&self, body: BodyNo, step: StepIx) -> Option<StepNo> {
        self.state.body(body).slots[self.index.position(step)].current
    }

    pub(super) fn body_ended(&mut self, body: BodyNo) {
        self.state.body_mut(body).ended = true;
        let Some(owner) = self.state.body(body).owner else {
            self.state.root_ended = true;
            return;
        };
        let left = self.left(body, owner);
        let index = self.state.body(body).index as usize;
        let step = self.state.step_mut(owner);
        step.closed += 1;
        if step.left.len() <= index {
            step.left.resize(index + 1, Json::Null);
        }
        step.left[index] = left;
        self.wants(owner);
    }

    /// The names that a body set, without those that its container had bound, and how it ended.
    fn left(&self, body: BodyNo, owner: StepNo) -> Json {
        let body = self.state.body(body);
        let bound: &[&str] = match &self.plan.step(self.state.step(owner).step).form {
            Form::ForEach { item, index, .. } => &[item.as_str(), index.as_str()],
            Form::Repeat { .. } => &["iteration"],
            Form::Workflow { .. } => &["inputs"],
            _ => &[],
        };
        let own = body.names.iter().filter(|(name, _)| !bound.contains(&name.as_str()));
        let mut left: serde_json::Map<String, Json> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        left.insert("status".to_owned(), json!(if body.failed { "failed" } else { "succeeded" }));
        Json::Object(left)
    }

    /// Puts a container on the agenda if there is something to decide about it.
    pub(super) fn wants(&mut self, at: StepNo) {
        let step = self.state.step(at);
        let active = step.opened - step.closed.min(step.opened);
        let more = match &self.plan.step(step.step).form {
            Form::ForEach { parallel, .. } => active < *parallel && (step.opened as usize) < step.items.len(),
            Form::Parallel { branches } => (step.opened as usize) < branches.len(),
            _ => false,
        };
        if (more || active == 0) && !self.state.agenda.contains(&at) {
            self.state.agenda.push_back(at);
        }
    }

    /// A graph goes back: a step and everything downstream of it is as if it had not been reached.
    pub(super) fn rewound(&mut self, path: &StepPath, to: &StepId) -> Result<(), Illegal> {
        let at = self.find(path)?;
        let body = self.state.step(at).body;
        let target = self.index.find(self.state.body(body).body, to.as_str());
        let target = target.ok_or_else(|| Illegal(format!("`{path}` can not go back to `{to}`")))?;
        self.off_agenda(at);
        self.state.step_mut(at).phase = Phase::Done;
        let set = self.downstream(target);
        self.forget(body, &set);
        self.reach(body, target);
        Ok(())
    }

    pub(super) fn downstream(&self, from: StepIx) -> HashSet<StepIx> {
        let mut set = HashSet::from([from]);
        let mut queue = vec![from];
        while let Some(step) = queue.pop() {
            queue.extend(self.index.dependents(step).iter().copied().filter(|dependent| set.insert(*dependent)));
        }
        set
    }

    /// Makes steps of a body unreached again and counts what each of them has to wait for.
    pub(super) fn forget(&mut self, body: BodyNo, set: &HashSet<StepIx>) {
        for step in set {
            let position = self.index.position(*step);
            let current = self.state.body(body).slots[position].current;
            if let Some(current) = current {
                self.off_agenda(current);
                let open = self.state.step(current).phase != Phase::Done || self.state.step(current).ended.is_none();
                self.state.waiting.remove(&current);
                if open {
                    self.state.step_mut(current).phase = Phase::Done;
                    let live = &mut self.state.body_mut(body).live;
                    *live = live.saturating_sub(1);
                }
            }
            let visits = self.state.body(body).slots[position].visits;
            self.state.body_mut(body).slots[position] = Slot { current: None, pending: 0, visits };
        }
        for step in set {
            let waits = self.plan.step(*step).deps.iter().filter(|dep| {
                set.contains(dep) || self.current(body, **dep).is_none_or(|at| self.state.step(at).phase != Phase::Done)
            });
            let pending = number(waits.count());
            let position = self.index.position(*step);
            self.state.body_mut(body).slots[position].pending = pending;
        }
    }
}

enum Arrival {
    Runs,
    Skipped,
    Blocked,
}
