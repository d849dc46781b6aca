//! A run continues with another plan.
//!
//! The run starts over under the new plan. What it had is put aside, and every step that is reached again is told where it comes
//! from. Which results are kept is decided like everything else, and recorded: see [`crate::decide`].
//!
//! **Invariant:** costs, limits and the numbers of attempts continue. No attempt has the address of an earlier one.

use std::mem::take;

use super::apply::{Apply, Error};
use super::{Agenda, BodyNo, Earlier, Hints, Phase, State, StepNo};
use crate::Json;
use crate::event::{PlanReplaced, QuestionKind, Usage};
use crate::path::StepPath;
use crate::plan::{BodyIx, Form, Order, StepIx};

impl Apply<'_> {
    pub(super) fn plan_replaced(&mut self, replaced: &PlanReplaced) -> Result<(), Error> {
        if !self.state.is_finished() && !self.state.agenda.open.is_empty() {
            return Err(Error("an attempt is under way".to_owned()));
        }
        self.pay_reserves();
        let earlier = put_aside(self.state, replaced);
        self.state.earlier = Some(Box::new(earlier));
        start_over(self.state, replaced);
        self.open_body(self.plan.main().body, None, 0, Some(BodyNo(0)));
        Ok(())
    }

    /// Of attempts that the end of the run stopped, nobody tells the cost.
    fn pay_reserves(&mut self) {
        let begun = self.state.open_attempts().chain(self.state.hosted());
        let reserved = begun.filter_map(|step| step.phase.reserve()).fold(Usage::default(), |mut sum, reserve| {
            sum += reserve;
            sum
        });
        self.state.account.assumed += reserved;
    }

    /// The body under the plan before that a body comes from.
    pub(super) fn earlier_body(&self, owner: StepNo, body: BodyIx, index: u32) -> Option<BodyNo> {
        let earlier = self.state.earlier.as_deref()?;
        let inst = self.state.step(owner);
        let before = &earlier.steps[inst.origin.from?.at()];
        let found = match &self.plan.step(inst.step).form {
            Form::ForEach { .. } => earlier.item(before, &inst.container.items, index as usize),
            Form::Repeat { .. } => earlier.child(before, |child| child.index == index),
            _ => {
                let fits = |child: &super::BodyInst| {
                    earlier.matches.iter().any(|entry| entry.new == body && entry.old == child.body)
                };
                earlier.child(before, fits)
            }
        };
        found.filter(|found| earlier.body_match(body, *found).is_some())
    }

    /// Whether a body is opened after work that was done under this plan.
    pub(super) fn opens_after(&self, owner: StepNo) -> bool {
        let inst = self.state.step(owner);
        let rounds = matches!(self.plan.step(inst.step).form, Form::Repeat { .. });
        let fresh = |child: &BodyNo| self.state.body(*child).fresh || self.state.body(*child).after;
        inst.origin.after || (rounds && inst.container.children.iter().any(fresh))
    }

    /// Tells a step that was reached where it comes from.
    pub(super) fn with_origin(&mut self, at: StepNo, visit: u32) {
        if self.state.earlier.is_none() {
            return;
        }
        let (step, body) = (self.state.step(at).step, self.state.step(at).body);
        let after = self.comes_after(body, step);
        let found = self.comes_from(body, step, visit);
        let Some(earlier) = self.state.earlier.as_deref() else { return };
        let before = earlier.numbers.get(&self.state.step(at).path.to_string()).copied().unwrap_or_default();
        let old = found.map(|(from, changed)| (&earlier.steps[from.at()], changed));
        // A changed step has all its retries; what it cost stays counted.
        let (usage, lost, stopped) = match old {
            Some((old, false)) => {
                (old.usage, old.lost, before.saturating_sub(old.attempts.saturating_sub(old.stopped)))
            }
            Some((old, true)) => (old.usage, 0, before),
            None => (Usage::default(), 0, before),
        };
        let hints = old.and_then(|(old, _)| old.hints.clone());
        let inst = self.state.step_mut(at);
        let early = inst.hints.take();
        inst.hints = all_hints(hints, early);
        (inst.attempts, inst.lost, inst.stopped, inst.usage) = (before, lost, stopped, usage);
        inst.origin.before = before;
        inst.origin.after = after;
        inst.origin.from = found.map(|(from, _)| from);
    }

    fn comes_from(&self, body: BodyNo, step: StepIx, visit: u32) -> Option<(StepNo, bool)> {
        let earlier = self.state.earlier.as_deref()?;
        let inst = self.state.body(body);
        let entry = earlier.step_match(inst, step)?;
        Some((earlier.visit(entry, inst.from, visit)?, entry.changed))
    }

    fn comes_after(&self, body: BodyNo, step: StepIx) -> bool {
        let inst = self.state.body(body);
        let fresh = |at: StepNo| {
            let origin = self.state.step(at).origin;
            origin.fresh || origin.after
        };
        inst.after
            || match self.plan.body(inst.body).order {
                Order::Machine { .. } => inst.fresh,
                Order::Graph => {
                    let deps = self.plan.step(step).deps.iter();
                    deps.filter_map(|dep| inst.slots[self.index.position(*dep)].current).any(fresh)
                }
            }
    }

    /// A step does something under this plan: what comes after it does so too.
    pub(super) fn freshened(&mut self, at: StepNo) {
        if self.state.earlier.is_none() || self.state.step(at).origin.kept {
            return;
        }
        let mut next = Some(at);
        while let Some(at) = next.filter(|at| !self.state.step(*at).origin.fresh) {
            self.state.step_mut(at).origin.fresh = true;
            let body = self.state.step(at).body;
            self.state.body_mut(body).fresh = true;
            next = self.state.body(body).owner;
        }
    }

    pub(super) fn result_kept(&mut self, path: &StepPath) -> Result<(), Error> {
        let at = self.undecided(path)?;
        let entry = self.match_of(at).ok_or_else(|| Error(format!("`{path}` has nothing to keep")))?;
        let (old, asks_again) = entry;
        let is_glob = matches!(self.plan.step(self.state.step(at).step).form, Form::ForEach { .. });
        let step = self.state.step_mut(at);
        (step.origin.kept, step.origin.after) = (true, false);
        step.attempts = step.attempts.max(old.attempts);
        (step.usage, step.lost, step.stopped) = (old.usage, old.lost, old.stopped);
        (step.started_at, step.recovery) = (old.started_at, old.recovery);
        let reviewed = old.answered.as_ref().is_some_and(|answered| answered.kind == QuestionKind::Review);
        step.answered = old.answered.filter(|_| !(reviewed && asks_again));
        step.outcome = super::StepOutcome { ended: None, ok: false, chosen: None, ..old.outcome };
        if is_glob {
            step.outcome.result.output = Json::Array(old.container.items);
        }
        self.enter(at, Phase::Judge);
        Ok(())
    }

    /// The step that a step comes from, and whether it asks for another review.
    fn match_of(&self, at: StepNo) -> Option<(super::StepInst, bool)> {
        let earlier = self.state.earlier.as_deref()?;
        let inst = self.state.step(at);
        let body = self.state.body(inst.body);
        let old = earlier.steps.get(inst.origin.from?.at())?.clone();
        Some((old, earlier.step_match(body, inst.step)?.review))
    }
}

/// What the agent of a step was told under the plan before, and what it was told before the step was reached.
fn all_hints(told: Option<Box<Hints>>, early: Option<Box<Hints>>) -> Option<Box<Hints>> {
    let Some(mut told) = told else { return early };
    told.carried.clear();
    told.all.extend(early.into_iter().flat_map(|early| early.all));
    Some(told)
}

/// Puts aside what a run has.
fn put_aside(state: &mut State, replaced: &PlanReplaced) -> Earlier {
    let mut numbers = state.earlier.take().map(|earlier| earlier.numbers).unwrap_or_default();
    let (steps, bodies) = (take(&mut state.steps), take(&mut state.bodies));
    let mut inside = vec![Vec::new(); bodies.len()];
    for (number, step) in (0u32..).zip(&steps) {
        let last = numbers.entry(step.path.to_string()).or_default();
        *last = (*last).max(step.attempts);
        inside[step.body.at()].push(StepNo(number));
    }
    Earlier {
        bodies,
        steps,
        inside,
        matches: replaced.bodies.clone(),
        moved: replaced.moved.clone(),
        seen: replaced.seen.clone(),
        keep: replaced.keep.clone(),
        redo: replaced.redo.clone(),
        numbers,
    }
}

/// What a run is that has just begun, but for what it has used and what it was told.
fn start_over(state: &mut State, replaced: &PlanReplaced) {
    (state.finished, state.spinning, state.placement.lost) = (None, None, None);
    (state.paused, state.cancelling, state.root_ended, state.on_failure.open) = (false, false, false, false);
    (state.stopped, state.paused_at) = (None, None);
    state.succeeded = 0;
    state.by_path.clear();
    state.agenda = Agenda::default();
    state.account.visits_most = 0;
    state.account.deadline_passed = false;
    if replaced.limits {
        state.account.limits_reached.clear();
        state.account.over_budget = false;
        state.limits = None;
    }
    if let Some(started) = &mut state.started {
        started.plan.clone_from(&replaced.plan);
        started.semantics = replaced.semantics;
        started.workflow.clone_from(&replaced.workflow);
        started.inputs.clone_from(&replaced.inputs);
        started.source.clone_from(&replaced.source);
        started.consent = replaced.consent.clone().or(started.consent.take());
    }
}
