//! Starting a failed or cancelled run again without doing anything twice.
//!
//! **Invariant:** what succeeded stays, unless a step before it is named as the one to start from. No address
//! is used twice: whatever starts over does so as another visit.

use std::collections::HashSet;

use super::apply::{Apply, Error, needs_permit};
use super::{BodyNo, Phase, StepNo};
use crate::event::Ended;
use crate::path::StepPath;
use crate::plan::{ErrorClass, Form, OnItemError, Order, Outcome, StepIx};

impl Apply<'_> {
    pub(super) fn reopen(&mut self, from: Option<&StepPath>) -> Result<(), Error> {
        let well = self.state.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Success);
        if well && from.is_none() {
            return Err(Error("the run succeeded: say from which step it is to start again".to_owned()));
        }
        let from = from.map(|path| self.startable(path)).transpose()?;
        self.state.finished = None;
        // Where it has ended well, nobody has kept its files for other machines.
        self.state.placement.carried.take_if(|_| well);
        self.state.on_failure.open = false;
        self.stop_spinning();
        (self.state.cancelling, self.state.paused, self.state.root_ended) = (false, false, false);
        self.state.stopped = None;
        self.state.paused_at = None;
        self.resume_stopped();
        if let Some(at) = from {
            // Before anything is revived: a container that failed would start over as another visit.
            self.open_again(self.state.step(at).body);
        }
        self.revive(BodyNo(0));
        if let Some(at) = from {
            self.again_from(at);
            self.keeps_to_caps(at)?;
        }
        if self.state.body(BodyNo(0)).live == 0 {
            return Err(Error("no step failed: say from which one the run is to start again".to_owned()));
        }
        self.state.body_mut(BodyNo(0)).ended = false;
        Ok(())
    }

    /// A step that counts: not one that was replaced by a later visit or round.
    fn startable(&self, path: &StepPath) -> Result<StepNo, Error> {
        let found = self.find(path)?;
        let mut at = found;
        loop {
            let step = self.state.step(at);
            let body = self.state.body(step.body);
            let current = body.slots[self.index.position(step.step)].current == Some(at);
            let Some(owner) = body.owner.filter(|_| current) else {
                return if current { Ok(found) } else { Err(Error(format!("`{path}` was replaced by a later one"))) };
            };
            let rounds = matches!(self.plan.step(self.state.step(owner).step).form, Form::Repeat { .. });
            if rounds && self.state.step(owner).container.children.last() != Some(&step.body) {
                return Err(Error(format!("`{path}` was replaced by a later round")));
            }
            at = owner;
        }
    }

    /// An item that starts over counts as one that is running.
    fn keeps_to_caps(&self, at: StepNo) -> Result<(), Error> {
        let mut owner = self.state.body(self.state.step(at).body).owner;
        while let Some(container) = owner {
            let step = self.state.step(container);
            if let Form::ForEach { parallel, .. } = &self.plan.step(step.step).form
                && step.container.opened - step.container.closed > *parallel
            {
                return Err(Error(format!("`{}` is running on other items", step.path)));
            }
            owner = self.state.body(step.body).owner;
        }
        Ok(())
    }

    /// Attempts that the end of the run stopped are made again, and an `end` is decided again.
    fn resume_stopped(&mut self) {
        let open: Vec<StepNo> = self.state.agenda.open.iter().copied().collect();
        let queued: Vec<StepNo> = self.state.agenda.queued.iter().copied().collect();
        queued.into_iter().for_each(|at| self.offer_again(at));
        // Whether its machine is there is found out again.
        self.state.placement.lost = None;
        let stopped = |at: &StepNo| {
            let step = self.state.step(*at);
            let fresh = step.phase == Phase::Judge && step.answered.is_none() && step.outcome.error.is_some();
            fresh && needs_permit(&self.plan.step(step.step).form)
        };
        let judged: Vec<StepNo> = self.state.agenda.undecided.iter().copied().filter(stopped).collect();
        let ended = |step: &super::StepInst| step.live && step.phase == Phase::Done;
        let steps = (0u32..).map(StepNo).zip(&self.state.steps);
        let ends: Vec<StepNo> = steps.filter(|(_, step)| ended(step)).map(|(at, _)| at).collect();
        for at in open.into_iter().chain(judged).chain(ends) {
            self.state.step_mut(at).outcome.ended = None;
            self.interrupted(at);
            self.enter(at, Phase::Ready);
        }
    }

    /// Forgets a step and what came after it, in its body and in the bodies around it.
    fn again_from(&mut self, at: StepNo) {
        let (step, body) = (self.state.step(at).step, self.state.step(at).body);
        match self.plan.body(self.state.body(body).body).order {
            Order::Machine { .. } => {
                self.abandon_body(body);
                self.supersede_since(body, at);
                self.state.body_mut(body).failed = false;
                self.reach(body, step);
            }
            Order::Graph => {
                let set = self.downstream(step);
                self.supersede(body, &set);
                self.forget(body, &set);
                if self.state.body(body).slots[self.index.position(step)].pending == 0 {
                    self.reach(body, step);
                }
            }
        }
        let mut inner = body;
        while let Some(owner) = self.state.body(inner).owner {
            inner = self.state.step(owner).body;
            self.forget_after(owner);
        }
    }

    /// What came after a container starts over, since what is in it does.
    fn forget_after(&mut self, owner: StepNo) {
        let (step, body) = (self.state.step(owner).step, self.state.step(owner).body);
        match self.plan.body(self.state.body(body).body).order {
            Order::Machine { .. } => {
                let current: Vec<StepNo> = self.state.body(body).slots.iter().filter_map(|slot| slot.current).collect();
                current.into_iter().filter(|other| *other != owner).for_each(|other| self.abandon(other));
                self.supersede_since(body, StepNo(owner.0 + 1));
                self.state.step_mut(owner).outcome.chosen = None;
            }
            Order::Graph => {
                let mut set = self.downstream(step);
                set.remove(&step);
                self.supersede(body, &set);
                self.forget(body, &set);
            }
        }
    }

    /// The results that steps of a graph have now do not count any more.
    fn supersede(&mut self, body: BodyNo, set: &HashSet<StepIx>) {
        let current = |step: &StepIx| self.state.body(body).slots[self.index.position(*step)].current;
        let current: Vec<StepNo> = set.iter().filter_map(current).collect();
        current.into_iter().for_each(|at| self.state.step_mut(at).origin.superseded = true);
    }

    /// What a state machine did from a visit on does not count any more.
    fn supersede_since(&mut self, body: BodyNo, since: StepNo) {
        let later = self.state.steps.iter_mut().skip(since.at()).filter(|step| step.body == body);
        later.for_each(|step| step.origin.superseded = true);
    }

    /// A body that was over is running again, and so is everything around it.
    fn open_again(&mut self, body: BodyNo) {
        let inst = self.state.body_mut(body);
        let owner = inst.owner;
        let failed = std::mem::take(&mut inst.failed);
        inst.verdict = None;
        if inst.account.is_some() {
            self.state.agenda.limited.insert(body);
        }
        let inst = self.state.body_mut(body);
        if !std::mem::take(&mut inst.ended) {
            return;
        }
        let Some(owner) = owner else { return };
        let step = self.state.step_mut(owner);
        step.container.closed -= 1;
        step.container.broken -= u32::from(failed);
        self.inside_again(owner);
    }

    fn inside_again(&mut self, owner: StepNo) {
        let body = self.state.step(owner).body;
        self.enter(owner, Phase::Inside);
        let step = self.state.step_mut(owner);
        (step.outcome.ended, step.outcome.ended_at, step.outcome.ok) = (None, None, false);
        (step.outcome.error, step.answered) = (None, None);
        self.revived(owner);
        self.open_again(body);
        self.wants(owner);
    }

    /// In a body that failed: what failed is tried again, what waited for it waits again.
    fn revive(&mut self, body: BodyNo) {
        let slots = self.state.body(body).slots.clone();
        let current: Vec<StepNo> = slots.iter().filter_map(|slot| slot.current).collect();
        for at in &current {
            let inside = self.state.step(*at).phase == Phase::Inside;
            let children = self.state.step(*at).container.children.clone();
            let unfinished = |child: &BodyNo| !self.state.body(*child).ended || self.has_broken(*at, *child);
            let children: Vec<BodyNo> = children.into_iter().filter(|child| inside && unfinished(child)).collect();
            children.into_iter().for_each(|child| self.revive(child));
        }
        let over = |at: &StepNo| self.state.step(*at).phase == Phase::Done && !self.state.step(*at).outcome.ok;
        let failed: Vec<StepNo> = current.into_iter().filter(over).collect();
        if failed.is_empty() {
            return;
        }
        self.open_again(body);
        let (blocked, again): (Vec<StepNo>, Vec<StepNo>) =
            failed.into_iter().partition(|at| self.state.step(*at).outcome.ended == Some(Ended::Skipped));
        let waiting: HashSet<StepIx> = blocked.into_iter().map(|at| self.state.step(at).step).collect();
        for at in again {
            self.try_again(at);
        }
        self.forget(body, &waiting);
    }

    /// Whether a body inside a container ended badly, and that was not what the container allows.
    fn has_broken(&self, owner: StepNo, child: BodyNo) -> bool {
        let allowed = match &self.plan.step(self.state.step(owner).step).form {
            Form::ForEach { on_item_error, .. } => *on_item_error != OnItemError::Fail,
            _ => false,
        };
        self.state.body(child).failed && !allowed
    }

    /// A step that failed is done again. Of a container, what failed inside it; if nothing did, all of it.
    pub(super) fn try_again(&mut self, at: StepNo) {
        let children = self.state.step(at).container.children.clone();
        let broken: Vec<BodyNo> = children.iter().copied().filter(|child| self.has_broken(at, *child)).collect();
        if broken.is_empty() && !children.is_empty() {
            let (step, body) = (self.state.step(at).step, self.state.step(at).body);
            self.abandon(at);
            self.state.step_mut(at).origin.superseded = true;
            self.reach(body, step);
            return;
        }
        self.revived(at);
        if self.state.step(at).outcome.error.as_ref().is_some_and(|error| error.class == ErrorClass::Lost) {
            self.interrupted(at);
        }
        let step = self.state.step_mut(at);
        (step.outcome.ended, step.outcome.ended_at, step.outcome.chosen, step.lost) = (None, None, None, 0);
        (step.outcome.error, step.answered) = (None, None);
        self.enter(at, if broken.is_empty() { Phase::Ready } else { Phase::Inside });
        broken.into_iter().for_each(|child| self.revive(child));
    }
}
