//! What a list of items will ask of agents, before it does.

use serde::Serialize;

use super::Limit;
use crate::decide::PARALLEL;
use crate::index::Index;
use crate::plan::{BodyIx, Form, Order, Plan, StepIx};

/// What is to come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// Turns of agents, if everything goes well and choices take the longest way.
    pub turns: u64,
    /// Whether there may be more, because something inside is done several times.
    pub or_more: bool,
    /// How many of them at once at the most.
    pub at_once: u64,
    /// How much they may spend.
    pub limit: Limit,
}

/// What the items of a `for_each` will ask of agents, on an engine that makes so many attempts at once. `None` if
/// nothing.
pub fn forecast(plan: &Plan, index: &Index, step: StepIx, items: u64, slots: u64) -> Option<Forecast> {
    let Form::ForEach { body, parallel, .. } = &plan.step(step).form else { return None };
    let inside = Look { plan, index }.body(*body);
    if inside.turns == 0 {
        return None;
    }
    let turns = inside.turns.saturating_mul(items);
    let allowed = slots.min(plan.main().limits.parallel.unwrap_or(PARALLEL).into());
    let at_once = inside.at_once.saturating_mul(items.min((*parallel).into()));
    Some(Forecast { turns, or_more: inside.or_more, at_once: at_once.min(allowed), limit: Limit::of(plan) })
}

/// What one pass through something asks of agents.
#[derive(Debug, Clone, Copy, Default)]
struct Ask {
    turns: u64,
    at_once: u64,
    or_more: bool,
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
        }
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        Self { turns: self.turns.max(other.turns), ..self.then(other) }
    }
}

struct Look<'a> {
    plan: &'a Plan,
    index: &'a Index,
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
            Form::Work(_) => Ask { turns: found.is_agent().into(), at_once: found.is_agent().into(), or_more: false },
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
