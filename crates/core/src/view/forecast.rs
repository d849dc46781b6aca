//! What a list of items will ask of agents, before it does.
//!
//! **Invariant:** money is an estimate from turns whose cost is known. Where nothing is known of a turn to come, nothing is
//! said of the money.

use std::collections::HashMap;

use serde::Serialize;

use super::Limit;
use crate::decide::PARALLEL;
use crate::index::Index;
use crate::plan::{BodyIx, Form, Order, Plan, StepIx};
use crate::state::{State, StepInst};

/// What is to come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// Turns of agents, if everything goes well and choices take the longest way.
    pub turns: u64,
    /// Whether there may be more, because something inside is done several times.
    pub or_more: bool,
    /// How many of them at once at the most.
    pub at_once: u64,
    /// What they will cost if they cost what such turns have cost so far in the run: an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// How much they may spend.
    pub limit: Limit,
}

/// What the items of a `for_each` will ask of agents, on an engine that makes so many attempts at once. `None` if
/// nothing.
pub fn forecast(
    (plan, index): (&Plan, &Index),
    state: &State,
    step: StepIx,
    items: u64,
    slots: u64,
) -> Option<Forecast> {
    let Form::ForEach { body, parallel, .. } = &plan.step(step).form else { return None };
    let inside = Look { plan, index, known: Known::of(plan, state) }.body(*body);
    if inside.turns == 0 {
        return None;
    }
    let turns = inside.turns.saturating_mul(items);
    let allowed = slots.min(plan.main().limits.parallel.unwrap_or(PARALLEL).into());
    let at_once = inside.at_once.saturating_mul(items.min((*parallel).into()));
    let usd = inside.usd.map(|usd| usd * items as f64);
    Some(Forecast { turns, or_more: inside.or_more, at_once: at_once.min(allowed), usd, limit: Limit::of(plan) })
}

/// What one pass through something asks of agents.
#[derive(Debug, Clone, Copy)]
struct Ask {
    turns: u64,
    at_once: u64,
    or_more: bool,
    /// `None` if nobody knows.
    usd: Option<f64>,
}

impl Default for Ask {
    fn default() -> Self {
        Self { turns: 0, at_once: 0, or_more: false, usd: Some(0.0) }
    }
}

impl Ask {
    /// One after the other.
    fn then(self, next: Self) -> Self {
        Self { at_once: self.at_once.max(next.at_once), ..self.beside(next) }
    }

    /// Both at once.
    fn beside(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            at_once: self.at_once.saturating_add(other.at_once),
            or_more: self.or_more || other.or_more,
            usd: self.usd.zip(other.usd).map(|(one, other)| one + other),
        }
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        let usd = self.usd.zip(other.usd).map(|(one, other)| one.max(other));
        Self { turns: self.turns.max(other.turns), usd, ..self.then(other) }
    }
}

/// What turns have cost: of each step, and of each agent.
struct Known {
    steps: HashMap<StepIx, Mean>,
    agents: HashMap<Option<String>, Mean>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    usd: f64,
    turns: f64,
}

impl Mean {
    fn add(&mut self, usd: f64) {
        (self.usd, self.turns) = (self.usd + usd, self.turns + 1.0);
    }
}

impl Known {
    /// A step counts with all its attempts: those to come may need as many.
    fn of(plan: &Plan, state: &State) -> Self {
        let mut known = Self { steps: HashMap::new(), agents: HashMap::new() };
        let over = |inst: &&StepInst| inst.outcome.ended.is_some() && plan.step(inst.step).is_agent();
        for inst in state.steps().iter().filter(over).filter(|inst| inst.usage.usd > 0.0 && inst.usage.is_all()) {
            known.steps.entry(inst.step).or_default().add(inst.usage.usd);
            known.agents.entry(plan.step(inst.step).named_agent()).or_default().add(inst.usage.usd);
        }
        known
    }

    /// What a step will cost: as it did before, or as others did by the same agent.
    fn cost(&self, plan: &Plan, step: StepIx) -> Option<f64> {
        let mean = self.steps.get(&step).or_else(|| self.agents.get(&plan.step(step).named_agent()))?;
        Some(mean.usd / mean.turns)
    }
}

struct Look<'a> {
    plan: &'a Plan,
    index: &'a Index,
    known: Known,
}

impl Look<'_> {
    fn body(&self, body: BodyIx) -> Ask {
        let steps = self.plan.body(body).steps.iter().map(|step| self.step(*step));
        if self.is_line(body) { steps.fold(Ask::default(), Ask::then) } else { steps.fold(Ask::default(), Ask::beside) }
    }

    /// Whether the steps of a body come one after the other.
    fn is_line(&self, body: BodyIx) -> bool {
        let body = self.plan.body(body);
        let follows = |pair: &[StepIx]| self.plan.step(pair[1]).deps.contains(&pair[0]);
        body.order != Order::Graph || body.steps.windows(2).all(follows)
    }

    fn step(&self, step: StepIx) -> Ask {
        let found = self.plan.step(step);
        let mut inner = self.index.inner(step).iter().map(|body| self.body(*body));
        match &found.form {
            Form::Work(_) if found.is_agent() => {
                Ask { turns: 1, at_once: 1, or_more: false, usd: self.known.cost(self.plan, step) }
            }
            Form::If { .. } | Form::Switch { .. } => inner.fold(Ask::default(), Ask::or),
            Form::ForEach { parallel, .. } => several(inner.next().unwrap_or_default(), (*parallel).into()),
            Form::Repeat { .. } => several(inner.next().unwrap_or_default(), 1),
            _ => inner.fold(Ask::default(), Ask::beside),
        }
    }
}

/// Done nobody knows how often.
fn several(once: Ask, at_once: u64) -> Ask {
    Ask { at_once: once.at_once.saturating_mul(at_once), or_more: once.turns > 0, ..once }
}
