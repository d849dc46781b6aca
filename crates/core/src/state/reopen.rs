//! Starting a failed or cancelled run again without doing anything twice.

use std::collections::HashSet;

use super::apply::{Apply, Illegal};
use super::{BodyNo, Phase, StepNo};
use crate::event::Ended;
use crate::path::StepPath;
use crate::plan::{Order, StepIx};

impl Apply<'_> {
    pub(super) fn reopen(&mut self, from: Option<&StepPath>) -> Result<(), Illegal> {
        self.state.finished = None;
        self.state.cancelling = false;
        self.state.root_ended = false;
        if let Some(path) = from {
            let at = self.find(path)?;
            self.again_from(at);
        }
        self.revive(BodyNo(0));
        for at in 0..self.state.steps.len() {
            let at = StepNo(super::apply::number(at));
            if self.state.step(at).phase == Phase::Judge && !self.state.agenda.contains(&at) {
                self.stopped_attempt(at);
            }
        }
        Ok(())
    }

    /// An attempt that was stopped is made again; anything else is judged as it would have been.
    fn stopped_attempt(&mut self, at: StepNo) {
        let stopped = self.state.step(at).error.is_some();
        if stopped { self.line_up(at) } else { self.state.agenda.push_back(at) }
    }

    /// Forgets a step and what came after it in its body; the bodies around it are at work again.
    fn again_from(&mut self, at: StepNo) {
        let (step, body) = (self.state.step(at).step, self.state.step(at).body);
        let order = self.plan.body(self.state.body(body).body).order;
        self.open_again(body);
        match order {
            Order::Machine { .. } => drop(self.reach(body, step)),
            Order::Graph => {
                let set = self.downstream(step);
                self.forget(body, &set);
                self.reach(body, step);
            }
        }
    }

    fn open_again(&mut self, body: BodyNo) {
        let inst = self.state.body_mut(body);
        if inst.ended {
            inst.ended = false;
            inst.failed = false;
            if let Some(owner) = inst.owner {
                let step = self.state.step_mut(owner);
                step.closed = step.closed.saturating_sub(1);
                self.inside_again(owner);
            }
        }
    }

    fn inside_again(&mut self, owner: StepNo) {
        let body = self.state.step(owner).body;
        let was_over = self.state.step(owner).phase == Phase::Done;
        let step = self.state.step_mut(owner);
        (step.phase, step.ended) = (Phase::Inside, None);
        if was_over {
            self.state.body_mut(body).live += 1;
        }
        self.open_again(body);
    }

    /// In a body that failed: what failed is tried again, what waited for it waits again.
    fn revive(&mut self, body: BodyNo) {
        let slots = self.state.body(body).slots.clone();
        let steps = self.plan.body(self.state.body(body).body).steps.clone();
        let mut failed: Vec<(StepIx, StepNo)> = Vec::new();
        for (step, slot) in steps.iter().zip(&slots) {
            let Some(at) = slot.current else { continue };
            let inst = self.state.step(at);
            match inst.phase {
                Phase::Inside => inst.children.clone().into_iter().for_each(|child| self.revive(child)),
                Phase::Done if !inst.ok => failed.push((*step, at)),
                _ => {}
            }
        }
        if failed.is_empty() {
            return;
        }
        self.open_again(body);
        self.state.body_mut(body).failed = false;
        let blocked = |at: &StepNo| self.state.step(*at).ended == Some(Ended::Skipped);
        let waiting: HashSet<StepIx> = failed.iter().filter(|(_, at)| blocked(at)).map(|(step, _)| *step).collect();
        let again: Vec<StepNo> = failed.iter().map(|(_, at)| *at).filter(|at| !blocked(at)).collect();
        for at in again {
            self.try_again(at);
        }
        self.forget(body, &waiting);
    }

    fn try_again(&mut self, at: StepNo) {
        let body = self.state.step(at).body;
        self.state.body_mut(body).live += 1;
        let step = self.state.step_mut(at);
        (step.ended, step.answer, step.question, step.lost) = (None, None, None, 0);
        let children = step.children.clone();
        let broken: Vec<BodyNo> = children.into_iter().filter(|child| self.state.body(*child).failed).collect();
        if broken.is_empty() {
            let step = self.state.step_mut(at);
            (step.opened, step.closed) = (0, 0);
            (step.children, step.left, step.items) = (Vec::new(), Vec::new(), Vec::new());
            self.line_up(at);
            return;
        }
        self.state.step_mut(at).phase = Phase::Inside;
        for child in broken {
            self.revive(child);
        }
    }
}
