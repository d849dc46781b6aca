//! The rules for a workflow, one in each file.
//!
//! Every rule sees the same numbered model, orders and parsed texts, and adds its findings. A rule never depends on
//! the success of another rule.

mod abilities;
mod agents;
mod approvals;
mod channels;
mod cycles;
mod dead_ends;
mod dependencies;
mod endings;
mod endless;
mod fallbacks;
mod files;
mod idle_loops;
mod inputs;
mod interrupts;
mod meant;
mod no_effect;
mod output_defaults;
mod output_names;
mod outputs_unread;
mod placement;
mod reachability;
mod repeats;
mod rewinds;
mod routes;
mod routes_shadowed;
mod schemas;
mod secrets;
mod shell;
mod skills;
mod switches;
mod template_cost;
mod template_names;
mod template_syntax;
mod template_types;
mod threads;
mod timeouts;
mod tools;
mod triggers;
mod workflows;

use longhaul_core::plan::{BodyIx, StepIx, UnitIx};

use crate::diagnostic::Diagnostic;
use crate::model::{Forest, Model, Unit};
use crate::order::Orders;
use crate::scope::{Place, Scopes};
use crate::source::Sources;
use crate::texts::{Text, Texts};
use crate::world::World;

/// Everything that a rule can use.
pub(crate) struct Context<'a, 'n> {
    pub(crate) model: &'a Model<'n>,
    pub(crate) forest: &'n Forest,
    pub(crate) orders: &'a Orders,
    pub(crate) scopes: &'a Scopes<'a, 'n>,
    pub(crate) texts: &'a Texts<'n>,
    pub(crate) sources: &'a Sources,
    pub(crate) world: &'a dyn World,
}

impl<'n> Context<'_, 'n> {
    /// The texts of the checked file. Those of other files are checked there.
    fn own_texts(&self) -> impl Iterator<Item = &Text<'n>> {
        self.texts.all.iter().filter(|text| self.unit_of(text.place).own)
    }

    fn unit_ix_of(&self, place: Place) -> UnitIx {
        match place {
            Place::Step(step, _) => self.model.body(self.model.step(step).body).unit,
            Place::Header(unit) | Place::End(unit) => unit,
        }
    }

    fn unit_of(&self, place: Place) -> &Unit<'n> {
        self.model.unit(self.unit_ix_of(place))
    }

    /// The step of a body that contains a step, or is that step.
    fn ancestor_in(&self, step: StepIx, body: BodyIx) -> Option<StepIx> {
        let mut at = Some(step);
        while let Some(step) = at {
            if self.model.step(step).body == body {
                return Some(step);
            }
            at = self.model.body(self.model.step(step).body).parent;
        }
        None
    }
}

type Rule = fn(&Context<'_, '_>, &mut Vec<Diagnostic>);

/// Every rule, in the order of the codes.
const RULES: &[Rule] = &[
    placement::check,
    dependencies::check,
    cycles::check,
    reachability::check,
    endings::check,
    routes::check,
    dead_ends::check,
    routes_shadowed::check,
    repeats::check,
    idle_loops::check,
    endless::check,
    rewinds::check,
    template_syntax::check,
    template_names::check,
    outputs_unread::check,
    template_types::check,
    switches::check,
    secrets::check,
    shell::check,
    output_names::check,
    template_cost::check,
    files::check,
    agents::check,
    tools::check,
    channels::check,
    workflows::check,
    skills::check,
    abilities::check,
    fallbacks::check,
    threads::check,
    interrupts::check,
    schemas::check,
    timeouts::check,
    approvals::check,
    output_defaults::check,
    inputs::check,
    triggers::check,
    no_effect::check,
];

/// The findings of all rules.
pub(crate) fn run(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for rule in RULES {
        rule(context, out);
    }
}
