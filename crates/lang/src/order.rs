//! Computes the order of the steps in a body.
//!
//! For a graph: ancestors, as rows of bits, and the `next` choices on which a step depends. For a state machine:
//! dominators, so that "every way to A leads through B" is one comparison.

mod cycle;
mod dominators;
mod graph;

use longhaul_core::plan::{BodyIx, StepIx};

use crate::model::{Model, Order};

pub(crate) use cycle::find_cycle;

/// The most steps of one graph; the ancestors take one bit for each pair.
pub(crate) const GRAPH_STEPS_MAX: usize = 20_000;

/// Whether a producer has run when a reader starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// On every way.
    Always,
    /// On some ways, or in an earlier round.
    Maybe,
    /// Never.
    Never,
}

/// The order of every body.
pub(crate) struct Orders {
    bodies: Vec<BodyOrder>,
    /// The position of each step in its body.
    position: Vec<u32>,
}

enum BodyOrder {
    Sequence,
    Graph(graph::Ancestors),
    Machine(dominators::Dominators),
    /// Cyclic, too large, or without a start: the order is unknown, and another rule reports that.
    Unknown,
}

impl Orders {
    pub(crate) fn of(model: &Model<'_>) -> Self {
        let mut position = vec![0; model.steps.len()];
        for body in &model.bodies {
            for (at, step) in body.steps.iter().enumerate() {
                position[step.at()] = u32::try_from(at).unwrap_or(u32::MAX);
            }
        }
        let bodies = (0..model.bodies.len()).map(|at| body_order(model, at, &position)).collect();
        Self { bodies, position }
    }

    /// Whether `producer` has run when `reader`, of the same body, starts.
    pub(crate) fn before(&self, body: BodyIx, producer: StepIx, reader: StepIx) -> Before {
        let (p, r) = (self.position[producer.at()] as usize, self.position[reader.at()] as usize);
        match &self.bodies[body.at()] {
            BodyOrder::Sequence if p < r => Before::Always,
            BodyOrder::Sequence => Before::Never,
            BodyOrder::Graph(ancestors) if ancestors.has(r, p) => Before::Always,
            BodyOrder::Graph(_) => Before::Never,
            BodyOrder::Machine(dominators) if p != r && dominators.dominates(p, r) => Before::Always,
            BodyOrder::Machine(_) => Before::Maybe,
            BodyOrder::Unknown => Before::Always,
        }
    }

    /// Whether a reader can run only if every choice that led to the producer was taken.
    pub(crate) fn shares_choices(&self, body: BodyIx, producer: StepIx, reader: StepIx) -> bool {
        match &self.bodies[body.at()] {
            BodyOrder::Graph(ancestors) => {
                let at = |step: StepIx| self.position[step.at()] as usize;
                ancestors.choices(at(producer)).iter().all(|choice| ancestors.choices(at(reader)).contains(choice))
            }
            BodyOrder::Sequence | BodyOrder::Machine(_) | BodyOrder::Unknown => true,
        }
    }

    /// Whether the order of a body is unknown.
    pub(crate) fn is_unknown(&self, body: BodyIx) -> bool {
        matches!(self.bodies[body.at()], BodyOrder::Unknown)
    }
}

fn body_order(model: &Model<'_>, at: usize, position: &[u32]) -> BodyOrder {
    let body = &model.bodies[at];
    match body.order {
        Order::Sequence => BodyOrder::Sequence,
        Order::Graph if body.steps.len() > GRAPH_STEPS_MAX => BodyOrder::Unknown,
        Order::Graph => graph::Ancestors::of(model, body, position).map_or(BodyOrder::Unknown, BodyOrder::Graph),
        Order::Machine => match start_of(model, at) {
            Some(start) => BodyOrder::Machine(dominators::Dominators::of(
                &edges(model, at, position),
                position[start.at()] as usize,
            )),
            None => BodyOrder::Unknown,
        },
    }
}

/// The first node of a state machine, if it exists.
pub(crate) fn start_of(model: &Model<'_>, body: usize) -> Option<StepIx> {
    let body = &model.bodies[body];
    body.by_id.get(body.start?.as_text()?).copied()
}

/// The edges of a state machine, by position.
fn edges(model: &Model<'_>, body: usize, position: &[u32]) -> Vec<Vec<usize>> {
    let targets = |step: &StepIx| successors(model, *step).into_iter().map(|to| position[to.at()] as usize).collect();
    model.bodies[body].steps.iter().map(targets).collect()
}

/// The nodes that can follow a node.
pub(crate) fn successors(model: &Model<'_>, step: StepIx) -> Vec<StepIx> {
    let step = model.step(step);
    let by_id = &model.body(step.body).by_id;
    let goto = |key: &str| step.node.get(key)?.get("goto")?.as_text().and_then(|id| by_id.get(id)).copied();
    let mut targets: Vec<StepIx> = step.next.iter().map(|route| route.to).collect();
    targets.extend(goto("on_error"));
    targets.extend(goto("on_deny"));
    targets
}
