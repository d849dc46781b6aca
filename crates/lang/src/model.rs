//! A workflow file with its steps numbered: the flat tables that checks and lowering share.
//!
//! Units, bodies and steps get the indices that the plan will use. Everything borrows from the trees it
//! was read from; what does not have the right shape is left out, since [`crate::conform`] has reported it.

pub(crate) mod build;
mod load;

use std::collections::HashMap;
use std::rc::Rc;

use longhaul_core::catalog::StepKindEntry;
use longhaul_core::plan::{BodyIx, Compat, StepIx, UnitIx};

use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span};

pub(crate) use load::{Forest, Tree, Use, WORKFLOWS_MAX, load};

/// All units of a workflow, the workflow itself first.
pub(crate) struct Model<'n> {
    pub(crate) units: Vec<Unit<'n>>,
    pub(crate) bodies: Vec<Body<'n>>,
    pub(crate) steps: Vec<Step<'n>>,
}

/// A workflow or sub-workflow.
pub(crate) struct Unit<'n> {
    pub(crate) node: &'n Node,
    pub(crate) name: String,
    /// Where its files are.
    pub(crate) dir: &'n str,
    pub(crate) body: Option<BodyIx>,
    /// What its `workflow:` steps can name.
    pub(crate) known: Rc<HashMap<String, UnitIx>>,
    /// Whether its file is the one being checked.
    pub(crate) own: bool,
    pub(crate) compat: Vec<Compat>,
}

impl Unit<'_> {
    pub(crate) fn is_lenient(&self) -> bool {
        self.compat.contains(&Compat::LenientNames)
    }
}

/// How the steps of a body are ordered, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Graph,
    Sequence,
    Machine,
}

/// Steps in an order.
pub(crate) struct Body<'n> {
    pub(crate) node: &'n Node,
    pub(crate) unit: UnitIx,
    pub(crate) parent: Option<StepIx>,
    pub(crate) order: Order,
    pub(crate) start: Option<&'n Node>,
    pub(crate) steps: Vec<StepIx>,
    /// The first step with each id.
    pub(crate) by_id: HashMap<String, StepIx>,
}

/// One step.
pub(crate) struct Step<'n> {
    pub(crate) node: &'n Node,
    pub(crate) id: String,
    /// The id where it is written, otherwise the step.
    pub(crate) span: Span,
    pub(crate) body: BodyIx,
    pub(crate) action: Action<'n>,
    /// Dependencies that exist, with the place that names them; in a sequence the step before.
    pub(crate) deps: Vec<(StepIx, Span)>,
    /// Ways on, with targets that exist.
    pub(crate) next: Vec<Route<'n>>,
    /// Bodies inside it, with what they are called.
    pub(crate) inner: Vec<(&'n str, BodyIx)>,
}

/// What a step does.
#[derive(Clone, Copy)]
pub(crate) enum Action<'n> {
    /// Nothing readable.
    None,
    /// Only `next`.
    Decide,
    /// One action key and its value.
    Is(&'static StepKindEntry, &'n Node),
}

impl<'n> Action<'n> {
    /// The action key.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Decide => "decision",
            Self::Is(kind, _) => kind.key,
        }
    }

    /// What the action key holds.
    pub(crate) fn value(&self) -> Option<&'n Node> {
        match self {
            Self::None | Self::Decide => None,
            Self::Is(_, value) => Some(value),
        }
    }
}

/// One way on.
pub(crate) struct Route<'n> {
    pub(crate) when: Option<&'n Node>,
    pub(crate) to: StepIx,
    pub(crate) span: Span,
}

impl<'n> Model<'n> {
    pub(crate) fn unit(&self, ix: UnitIx) -> &Unit<'n> {
        &self.units[ix.at()]
    }

    pub(crate) fn body(&self, ix: BodyIx) -> &Body<'n> {
        &self.bodies[ix.at()]
    }

    pub(crate) fn step(&self, ix: StepIx) -> &Step<'n> {
        &self.steps[ix.at()]
    }

    pub(crate) fn unit_of(&self, step: StepIx) -> &Unit<'n> {
        self.unit(self.body(self.step(step).body).unit)
    }

    /// Steps of the file being checked, with their indices.
    pub(crate) fn own_steps(&self) -> impl Iterator<Item = (StepIx, &Step<'n>)> {
        let own = |step: &Step<'n>| self.unit(self.body(step.body).unit).own;
        self.steps.iter().enumerate().filter(move |(_, step)| own(step)).map(|(at, step)| (step_ix(at), step))
    }

    /// Bodies of the file being checked.
    pub(crate) fn own_bodies(&self) -> impl Iterator<Item = (BodyIx, &Body<'n>)> {
        let bodies = self.bodies.iter().enumerate().filter(|(_, body)| self.unit(body.unit).own);
        bodies.map(|(at, body)| (BodyIx(u32::try_from(at).unwrap_or(u32::MAX)), body))
    }

    /// The conditional targets of `next` in a graph: those that another choice leaves out.
    pub(crate) fn is_conditional(&self, step: &Step<'n>) -> bool {
        step.next.len() > 1 || step.next.iter().any(|route| route.when.is_some())
    }
}

/// The index of the step at a position.
pub(crate) fn step_ix(at: usize) -> StepIx {
    StepIx(u32::try_from(at).unwrap_or(u32::MAX))
}

/// The units, bodies and steps of a file and of the workflows it uses.
pub(crate) fn build<'n>(forest: &'n Forest, out: &mut Vec<Diagnostic>) -> Model<'n> {
    build::build(forest, out)
}
