//! The checked plan that the engine executes.
//!
//! A plan is flat. Units (the workflow and its sub-workflows), bodies and steps are in three tables and refer to each
//! other by index, so that a run can keep its state in arrays of the same shape. The forms that the planner must
//! understand are a closed enum. A leaf step is opaque [`Work`].
//!
//! **Invariant:** every index in a plan is valid, every graph body is acyclic, and every name that a template reads
//! can have been set. The checker of the language guarantees this.

mod form;
mod retry;
mod step;
mod unit;
mod value;
mod work;

use serde::{Deserialize, Serialize};

pub use crate::compat::Compat;
pub use form::{Approve, Case, Form, Items, OnDeny, OnExhausted, OnItemError, OnTimeout, Outcome, Wait};
pub use retry::{Backoff, Budget, ErrorClass, Retry};
pub use step::{Body, Cache, Consent, OnError, OnInterrupt, Order, Rewind, Risk, Route, RunIf, Step, Timeout};
pub use unit::{Concurrency, Degrade, Input, Limits, OnExceed, Unit, WhenFull};
pub use value::{Arg, Expr, Output, Parse, Show, Text};
pub use work::{Work, WorkKind};

/// The version of the semantics of plans. A run keeps the version it started with.
pub const SEMANTICS: u32 = 1;

macro_rules! index {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $type(pub u32);

        impl $type {
            /// The position in its table.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// An index into [`Plan::units`].
    UnitIx
);
index!(
    /// An index into [`Plan::bodies`].
    BodyIx
);
index!(
    /// An index into [`Plan::steps`].
    StepIx
);

/// A workflow, checked and complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// See [`SEMANTICS`].
    pub semantics: u32,
    /// The workflow itself first, then the sub-workflows it can reach.
    pub units: Vec<Unit>,
    /// All bodies of all units.
    pub bodies: Vec<Body>,
    /// All steps of all bodies.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The workflow that the plan is for.
    pub fn main(&self) -> &Unit {
        self.unit(UnitIx(0))
    }

    /// A unit by index.
    pub fn unit(&self, ix: UnitIx) -> &Unit {
        &self.units[ix.at()]
    }

    /// A body by index.
    pub fn body(&self, ix: BodyIx) -> &Body {
        &self.bodies[ix.at()]
    }

    /// The roles of its agents, in order, each with the file of the project that plays it; without one, a persona does.
    pub fn roles(&self) -> Vec<(String, Option<String>)> {
        let mut roles: Vec<_> = self.steps.iter().filter_map(Step::role).collect();
        roles.sort();
        roles.dedup();
        roles
    }

    /// A step by index.
    pub fn step(&self, ix: StepIx) -> &Step {
        &self.steps[ix.at()]
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
