//! Finds the names that a text can read, their types, and whether they are certainly set.
//!
//! A step exports names: the alias of its output, the fields that it spreads, the names of `set`, and the exports of
//! its inner bodies. A reader searches its own body, then the body around it, and so on outwards to the inputs.

mod exports;
mod lookup;

use std::collections::HashMap;

use longhaul_core::catalog::names::RESERVED;
use longhaul_core::plan::{BodyIx, StepIx, UnitIx};
use longhaul_core::types::Type;

use crate::model::Model;
use crate::order::Orders;
use crate::sites::Position;
use crate::source::Node;

pub(crate) use exports::schema_of_input;

/// A name that a step exports.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    pub(crate) name: String,
    pub(crate) value: Type,
    /// Whether it is set whenever the step succeeds.
    pub(crate) sure: bool,
}

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a step.
    Step(StepIx, Position),
    /// Before the first step of a unit.
    Header(UnitIx),
    /// After the last step of a unit.
    End(UnitIx),
}

/// Why a name may not be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A later step of a loop sets it: undefined in the first round.
    Round,
    /// The producer has a `when`.
    When,
    /// The producer may fail without failing the run.
    Optional,
    /// Only some routes lead through the producer.
    Choice,
    /// The reader also runs after failures.
    Failure,
}

/// The result of looking up a name.
#[derive(Debug, Clone)]
pub(crate) enum Lookup {
    /// Set on every route.
    Sure(Type),
    /// Set on some routes, by this step.
    Unsure(Type, StepIx, Doubt),
    /// Set by a step that does not run before the reader.
    NotBefore(StepIx),
    /// No step sets it.
    Unknown,
}

impl Lookup {
    /// The same answer without the type, which can be large.
    pub(crate) fn without_type(self) -> Self {
        match self {
            Self::Sure(_) => Self::Sure(Type::Any),
            Self::Unsure(_, step, doubt) => Self::Unsure(Type::Any, step, doubt),
            other => other,
        }
    }
}

/// The names of a whole model.
pub(crate) struct Scopes<'m, 'n> {
    model: &'m Model<'n>,
    orders: &'m Orders,
    exports: Vec<Vec<Export>>,
    /// The steps of a body that export a name.
    producers: Vec<HashMap<String, Vec<StepIx>>>,
    /// The type of the items of each `for_each`.
    items: HashMap<StepIx, Type>,
    /// The declared inputs of each unit.
    inputs: Vec<HashMap<&'n str, &'n Node>>,
    /// The first step with too many names.
    overfull: Option<StepIx>,
}

impl<'m, 'n> Scopes<'m, 'n> {
    pub(crate) fn new(model: &'m Model<'n>, orders: &'m Orders) -> Self {
        let inputs = model.units.iter().map(|unit| exports::inputs(unit).collect()).collect();
        let (exports, overfull) = exports::all(model, orders);
        let mut scopes =
            Self { model, orders, exports, producers: Vec::new(), items: HashMap::new(), inputs, overfull };
        scopes.producers = model.bodies.iter().map(|body| scopes.producers_of(&body.steps)).collect();
        scopes
    }

    fn producers_of(&self, steps: &[StepIx]) -> HashMap<String, Vec<StepIx>> {
        let mut producers: HashMap<String, Vec<StepIx>> = HashMap::new();
        for step in steps {
            for export in &self.exports[step.at()] {
                producers.entry(export.name.clone()).or_default().push(*step);
            }
        }
        producers
    }

    /// Sets the type of the items of a `for_each`, once its list was analysed.
    pub(crate) fn set_item(&mut self, step: StepIx, item: Type) {
        self.items.insert(step, item);
    }

    /// A step with so many names that some were dropped.
    pub(crate) fn overfull(&self) -> Option<StepIx> {
        self.overfull
    }

    /// The exports of a step.
    pub(crate) fn exports(&self, step: StepIx) -> &[Export] {
        &self.exports[step.at()]
    }

    /// The names that are readable at a place, for "did you mean".
    pub(crate) fn known(&self, place: Place) -> Vec<String> {
        let mut names: Vec<String> = RESERVED.iter().map(|(name, _)| (*name).to_owned()).collect();
        let unit = self.unit_of(place);
        names.extend(exports::inputs(self.model.unit(unit)).map(|(name, _)| name.to_owned()));
        let mut body = self.body_of(place);
        while let Some(at) = body {
            names.extend(self.producers[at.at()].keys().cloned());
            let parent = self.model.body(at).parent;
            names.extend(parent.into_iter().flat_map(|parent| self.bound(parent)).map(|(name, _)| name));
            body = parent.map(|parent| self.model.step(parent).body);
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    fn unit_of(&self, place: Place) -> UnitIx {
        match place {
            Place::Step(step, _) => self.model.body(self.model.step(step).body).unit,
            Place::Header(unit) | Place::End(unit) => unit,
        }
    }

    /// The innermost body whose names are visible at a place.
    fn body_of(&self, place: Place) -> Option<BodyIx> {
        match place {
            Place::Step(step, Position::Round) => self.model.step(step).inner.first().map(|(_, body)| *body),
            Place::Step(step, _) => Some(self.model.step(step).body),
            Place::Header(_) => None,
            Place::End(unit) => self.model.unit(unit).body,
        }
    }

    /// Names that a container defines for its inner steps.
    fn bound(&self, container: StepIx) -> Vec<(String, Type)> {
        let step = self.model.step(container);
        let named =
            |key: &str, default: &str| step.node.get(key).and_then(|node| node.as_text()).unwrap_or(default).to_owned();
        match step.action.key() {
            "for_each" => {
                let item = self.items.get(&container).cloned().unwrap_or_default();
                vec![(named("as", "item"), item), (named("index", "index"), Type::Integer)]
            }
            "repeat" => vec![("iteration".to_owned(), Type::Integer)],
            _ => Vec::new(),
        }
    }
}
