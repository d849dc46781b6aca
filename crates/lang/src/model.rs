//! The numbered model of a workflow: flat tables that the checks and the lowering share.
//!
//! Units, bodies and steps get the indices that the plan will use. Everything borrows from the trees. Invalid parts
//! are left out, because [`crate::conform`] has reported them.

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
    /// The folder of its files.
    pub(crate) dir: &'n str,
    pub(crate) body: Option<BodyIx>,
    /// The workflows that its `workflow:` steps can name.
    pub(crate) known: Rc<HashMap<String, UnitIx>>,
    /// Whether it belongs to the checked file.
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

/// A body: steps and their order.
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
    /// The place of the id if it is written, otherwise of the step.
    pub(crate) span: Span,
    pub(crate) body: BodyIx,
    pub(crate) action: Action<'n>,
    /// Dependencies that exist, with their places; in a sequence the step before.
    pub(crate) deps: Vec<(StepIx, Span)>,
    /// Routes with targets that exist.
    pub(crate) next: Vec<Route<'n>>,
    /// The bodies inside it, with their names.
    pub(crate) inner: Vec<(&'n str, BodyIx)>,
}

/// The action of a step.
#[derive(Clone, Copy)]
pub(crate) enum Action<'n> {
    /// No valid action.
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

    /// The value of the action key.
    pub(crate) fn value(&self) -> Option<&'n Node> {
        match self {
            Self::None | Self::Decide => None,
            Self::Is(_, value) => Some(value),
        }
    }
}

/// One route.
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

    /// Steps of the checked file, with their indices.
    pub(crate) fn own_steps(&self) -> impl Iterator<Item = (StepIx, &Step<'n>)> {
        let own = |step: &Step<'n>| self.unit(self.body(step.body).unit).own;
        self.steps.iter().enumerate().filter(move |(_, step)| own(step)).map(|(at, step)| (step_ix(at), step))
    }

    /// Bodies of the checked file.
    pub(crate) fn own_bodies(&self) -> impl Iterator<Item = (BodyIx, &Body<'n>)> {
        let bodies = self.bodies.iter().enumerate().filter(|(_, body)| self.unit(body.unit).own);
        bodies.map(|(at, body)| (BodyIx(u32::try_from(at).unwrap_or(u32::MAX)), body))
    }

    /// Whether `next` of a step chooses among its targets, so that it may leave one out.
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
