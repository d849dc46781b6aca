//! Estimates the agent turns and the cost of a list of items before it starts.
//!
//! **Invariant:** the cost is an estimate from turns with a known cost. If the cost of any coming turn is unknown,
//! there is no estimate.

use std::collections::HashMap;

use serde::Serialize;

use super::Limit;
use crate::decide::PARALLEL;
use crate::index::Index;
use crate::plan::{BodyIx, Form, Order, Plan, StepIx};
use crate::state::{State, StepInst};

/// The expected work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// The number of agent turns, if every step succeeds and choices take the longest way.
    pub turns: u64,
    /// Whether there may be more, because a step inside repeats.
    pub or_more: bool,
    /// The most turns at once.
    pub at_once: u64,
    /// The estimated cost in US dollars, from the cost of such turns in this run so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The limits on their spending.
    pub limit: Limit,
}

/// The expected work of the items of a `for_each`, on an engine with `slots` permits. `None` if no agent is involved.
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

/// The expected agent turns of one pass through a body.
#[derive(Debug, Clone, Copy)]
struct Ask {
    turns: u64,
    at_once: u64,
    or_more: bool,
    /// `None` if unknown.
    usd: Option<f64>,
}

impl Default for Ask {
    fn default() -> Self {
        Self { turns: 0, at_once: 0, or_more: false, usd: Some(0.0) }
    }
}

impl Ask {
    /// First this, then `next`.
    fn then(self, next: Self) -> Self {
        Self { at_once: self.at_once.max(next.at_once), ..self.beside(next) }
    }

    /// Both at the same time.
    fn beside(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            at_once: self.at_once.saturating_add(other.at_once),
            or_more: self.or_more || other.or_more,
            usd: self.usd.zip(other.usd).map(|(one, other)| one + other),
        }
    }

    /// One of the two: the larger counts.
    fn or(self, other: Self) -> Self {
        let usd = self.usd.zip(other.usd).map(|(one, other)| one.max(other));
        Self { turns: self.turns.max(other.turns), usd, ..self.then(other) }
    }
}

/// The known cost of turns: of each step, and of each agent.
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
    /// A step counts with all its attempts: the next one may need as many.
    fn of(plan: &Plan, state: &State) -> Self {
        let mut known = Self { steps: HashMap::new(), agents: HashMap::new() };
        let over = |inst: &&StepInst| inst.outcome.ended.is_some() && plan.step(inst.step).is_agent();
        for inst in state.steps().iter().filter(over).filter(|inst| inst.usage.usd > 0.0 && inst.usage.is_all()) {
            known.steps.entry(inst.step).or_default().add(inst.usage.usd);
            known.agents.entry(plan.step(inst.step).named_agent()).or_default().add(inst.usage.usd);
        }
        known
    }

    /// The expected cost of a step: as before, or as other steps of the same agent.
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

    /// Whether the steps of a body run one after the other.
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

/// A body that repeats an unknown number of times.
fn several(once: Ask, at_once: u64) -> Ask {
    Ask { at_once: once.at_once.saturating_mul(at_once), or_more: once.turns > 0, ..once }
}
