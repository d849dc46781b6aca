//! What follows in a body when a step is over: who may start, and when the body is done.

use std::collections::HashSet;

use super::apply::{Apply, Error, is_ok, number};
use super::{BodyNo, Phase, Slot, StepNo};
use crate::Json;
use crate::event::{End, Ended, Skip};
use crate::id::StepId;
use crate::path::StepPath;
use crate::plan::{Form, OnItemError, Order, Outcome, RunIf, StepIx};

impl Apply<'_> {
    pub(super) fn skip(&mut self, at: StepNo, why: Skip) {
        self.state.step_mut(at).outcome.skipped = Some(why);
        let ok = !matches!(why, Skip::Upstream | Skip::Cancelled);
        self.settle(at, Ended::Skipped, ok);
    }

    pub(super) fn step_ended(&mut self, at: StepNo, end: &End) {
        let step = self.state.step_mut(at);
        if let Some(output) = &end.output {
            step.outcome.result.output = output.clone();
        }
        if let Some(error) = &end.error {
            step.outcome.error = Some(error.clone());
        }
        step.outcome.choice.clone_from(&end.choice);
        step.outcome.defaulted = end.defaulted;
        self.charge_excess(at);
        if end.progress.is_some() && end.progress != self.state.progress {
            self.state.progress.clone_from(&end.progress);
            let body = self.state.step(at).body;
            self.for_accounts(body, |account| account.idle = 0);
        }
        self.publish(at, end);
        let ok = end.tolerated || is_ok(end.status);
        match &end.verdict {
            Some(verdict) => {
                self.done(at, end.status, ok);
                self.close_unit(at, verdict);
            }
            None => self.settle(at, end.status, ok),
        }
    }

    /// An `end` closes its sub-workflow at once: what is under way is given up. Where there is none it closes
    /// the run, which is an event of its own; until then the step is held, so that nothing continues behind it.
    fn close_unit(&mut self, at: StepNo, verdict: &(Outcome, Option<String>)) {
        let mut body = self.state.step(at).body;
        while let Some(owner) = self.state.body(body).owner {
            if matches!(self.plan.step(self.state.step(owner).step).form, Form::Workflow { .. }) {
                self.drop_live(at);
                self.abandon_body(body);
                self.state.body_mut(body).verdict = Some(verdict.clone());
                return self.body_ended(body);
            }
            body = self.state.step(owner).body;
        }
    }

    /// The names that a step sets become readable.
    fn publish(&mut self, at: StepNo, end: &End) {
        let step = self.state.step(at);
        let output = &self.plan.step(step.step).output;
        let body = step.body;
        let value = step.outcome.result.output.clone();
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
        while let Some((at, ended, ok)) = over.pop() {
            self.done(at, ended, ok);
            self.drop_live(at);
            self.state.body_mut(body).failed |= !ok;
            match self.plan.body(self.state.body(body).body).order {
                Order::Machine { .. } => self.move_on(at, ok),
                Order::Graph => over.extend(self.count_down(self.state.step(at).step, body)),
            }
        }
        if self.state.body(body).live == 0 {
            self.body_ended(body);
        }
    }

    fn done(&mut self, at: StepNo, ended: Ended, ok: bool) {
        self.enter(at, Phase::Done);
        let now = self.state.now;
        self.state.succeeded += u64::from(ended == Ended::Succeeded);
        let step = self.state.step_mut(at);
        // What is kept ended when it ended.
        let ended_at = step.outcome.ended_at.filter(|_| step.origin.kept).unwrap_or(now);
        (step.outcome.ended, step.outcome.ok, step.outcome.ended_at) = (Some(ended), ok, Some(ended_at));
    }

    /// A step that its body does not count on any more.
    fn drop_live(&mut self, at: StepNo) {
        let step = self.state.step_mut(at);
        if std::mem::take(&mut step.live) {
            let body = step.body;
            self.state.body_mut(body).live -= 1;
        }
    }

    /// In a state machine: the node that was chosen is next.
    fn move_on(&mut self, at: StepNo, ok: bool) {
        let step = self.state.step(at);
        let body = step.body;
        let ix = self.state.body(body).body;
        let target = step.outcome.chosen.as_ref().and_then(|id| self.index.find(ix, id.as_str()));
        if let Some(target) = target {
            // Going on from a failure means that it is dealt with.
            self.state.body_mut(body).failed &= ok;
            self.reach(body, target);
        }
    }

    /// In a graph: dependents that now have nothing left to wait for; those that cannot run are over too.
    fn count_down(&mut self, ix: StepIx, body: BodyNo) -> Vec<(StepNo, Ended, bool)> {
        let mut over = Vec::new();
        for dependent in self.index.dependents(ix) {
            let slot = &mut self.state.body_mut(body).slots[self.index.position(*dependent)];
            slot.pending = slot.pending.saturating_sub(1);
            if slot.pending == 0 && slot.current.is_none() {
                over.extend(self.arrive(*dependent, body));
            }
        }
        over
    }

    /// A step that has nothing left to wait for; what it comes to if it cannot run.
    pub(super) fn arrive(&mut self, step: StepIx, body: BodyNo) -> Option<(StepNo, Ended, bool)> {
        match self.may_run(step, body) {
            Arrival::Runs => {
                self.reach(body, step);
                None
            }
            Arrival::Skipped => Some((self.passed_over(step, body, Skip::RunIf), Ended::Skipped, true)),
            Arrival::Blocked => Some((self.passed_over(step, body, Skip::Upstream), Ended::Skipped, false)),
        }
    }

    fn passed_over(&mut self, step: StepIx, body: BodyNo, why: Skip) -> StepNo {
        let at = self.add(body, step);
        self.state.step_mut(at).outcome.skipped = Some(why);
        at
    }

    fn may_run(&self, step: StepIx, body: BodyNo) -> Arrival {
        let deps = self.plan.step(step).deps.iter();
        let deps: Vec<_> = deps.filter_map(|dep| self.current(body, *dep)).map(|at| self.state.step(at)).collect();
        match self.plan.step(step).run_if {
            RunIf::Always => Arrival::Runs,
            RunIf::Settled if deps.iter().all(|dep| dep.outcome.ok) => Arrival::Runs,
            RunIf::Settled => Arrival::Blocked,
            RunIf::Succeeded if deps.iter().all(|dep| dep.outcome.ended == Some(Ended::Succeeded)) => Arrival::Runs,
            RunIf::Succeeded if deps.iter().all(|dep| dep.outcome.ok) => Arrival::Skipped,
            RunIf::Succeeded => Arrival::Blocked,
            RunIf::Failed if deps.iter().any(|dep| dep.outcome.ended == Some(Ended::Failed)) => Arrival::Runs,
            RunIf::Failed => Arrival::Skipped,
        }
    }

    fn current(&self, body: BodyNo, step: StepIx) -> Option<StepNo> {
        self.state.body(body).slots[self.index.position(step)].current
    }

    pub(super) fn body_ended(&mut self, body: BodyNo) {
        self.state.agenda.limited.remove(&body);
        if std::mem::replace(&mut self.state.body_mut(body).ended, true) {
            return;
        }
        let Some(owner) = self.state.body(body).owner else {
            self.state.root_ended = true;
            return;
        };
        let left = self.left(body, owner);
        let (index, failed) = (self.state.body(body).index as usize, self.state.body(body).failed);
        let step = self.state.step_mut(owner);
        step.container.closed += 1;
        step.container.broken += u32::from(failed);
        if step.container.left.len() <= index {
            step.container.left.resize(index + 1, Json::Null);
        }
        step.container.left[index] = left;
        self.wants(owner);
    }

    /// The names that a body set, without those that its container had bound.
    fn left(&self, body: BodyNo, owner: StepNo) -> Json {
        let body = self.state.body(body);
        let bound: &[&str] = match &self.plan.step(self.state.step(owner).step).form {
            Form::ForEach { item, index, .. } => &[item.as_str(), index.as_str()],
            Form::Repeat { .. } => &["iteration"],
            Form::Workflow { .. } => &["inputs"],
            _ => &[],
        };
        let own = body.names.iter().filter(|(name, _)| !bound.contains(&name.as_str()));
        Json::Object(own.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Puts a container on the agenda if there is something to decide about it.
    pub(super) fn wants(&mut self, at: StepNo) {
        let step = self.state.step(at);
        let active = step.container.opened - step.container.closed;
        let more = match &self.plan.step(step.step).form {
            Form::ForEach { parallel, on_item_error, .. } => {
                let stop = *on_item_error == OnItemError::Fail && step.container.broken > 0;
                !stop && active < *parallel && (step.container.opened as usize) < step.container.items.len()
            }
            Form::Parallel { branches } => (step.container.opened as usize) < branches.len(),
            _ => false,
        };
        if step.phase == Phase::Inside && (more || active == 0) && !self.state.agenda.undecided.contains(&at) {
            self.state.agenda.undecided.push_back(at);
        }
    }

    /// A graph goes back: a step and everything downstream of it is as if it had not been reached.
    pub(super) fn rewound(&mut self, path: &StepPath, to: &StepId) -> Result<(), Error> {
        let at = self.undecided(path)?;
        let target = self.target(at, to)?;
        let (step, body) = (self.state.step(at).step, self.state.step(at).body);
        let rounds = self.state.body(body).slots[self.index.position(step)].rounds;
        self.publish(at, &End::plain(Ended::Succeeded));
        self.done(at, Ended::Succeeded, true);
        self.drop_live(at);
        self.forget(body, &self.downstream(target));
        self.state.body_mut(body).slots[self.index.position(step)].rounds = rounds + 1;
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
            let slot = self.state.body(body).slots[position];
            if let Some(current) = slot.current {
                self.abandon(current);
            }
            let blocked = |at: &StepNo| self.state.step(*at).outcome.skipped == Some(Skip::Upstream);
            let spare = slot.current.filter(blocked).or(slot.spare);
            self.state.body_mut(body).slots[position] = Slot { visits: slot.visits, spare, ..Slot::default() };
        }
        self.recount(body);
    }

    /// Counts again what every unreached step waits for, and whether something in the body has failed.
    fn recount(&mut self, body: BodyNo) {
        let steps = &self.plan.body(self.state.body(body).body).steps;
        for (position, step) in steps.iter().enumerate() {
            if self.state.body(body).slots[position].current.is_none() {
                let deps = self.plan.step(*step).deps.iter();
                let waits = deps.filter(|dep| self.current(body, **dep).is_none_or(|at| self.state.step(at).live));
                let pending = number(waits.count());
                self.state.body_mut(body).slots[position].pending = pending;
            }
        }
        let current = self.state.body(body).slots.iter().filter_map(|slot| slot.current);
        let failed = current.map(|at| self.state.step(at)).any(|step| step.phase == Phase::Done && !step.outcome.ok);
        self.state.body_mut(body).failed = failed;
    }

    /// Gives up a step that is not over, and everything inside it.
    pub(super) fn abandon(&mut self, at: StepNo) {
        if !self.state.step(at).live {
            return;
        }
        self.drop_live(at);
        if self.state.step(at).phase != Phase::Done {
            self.done(at, Ended::Cancelled, false);
        }
        for child in self.state.step(at).container.children.clone() {
            self.abandon_body(child);
        }
    }

    pub(super) fn abandon_body(&mut self, body: BodyNo) {
        self.state.agenda.limited.remove(&body);
        if self.state.body(body).ended {
            return;
        }
        for current in self.state.body(body).slots.clone().into_iter().filter_map(|slot| slot.current) {
            self.abandon(current);
        }
    }
}

enum Arrival {
    Runs,
    Skipped,
    Blocked,
}
