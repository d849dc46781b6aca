//! Turns the checked model into the plan.
//!
//! It runs only without errors, so every shape is valid and every name is known. A missing value gets its default;
//! nothing panics.

mod agent;
mod form;
mod modifiers;
mod unit;
mod values;
mod work;

use longhaul_core::id::StepId;
use longhaul_core::plan::{self, Plan};

use crate::model::{Body, Model, Order, Step, step_ix};
use crate::order::start_of;
use crate::source::Node;
use crate::texts::Texts;
use crate::world::World;

/// The plan of a model without errors.
pub(crate) fn lower(model: &Model<'_>, texts: &Texts<'_>, world: &dyn World) -> Option<Plan> {
    let lowering = Lowering { model, texts, world };
    Some(Plan {
        semantics: plan::SEMANTICS,
        units: (0..model.units.len()).map(|at| lowering.unit(at)).collect::<Option<_>>()?,
        bodies: (0..model.bodies.len()).map(|at| lowering.body(at)).collect::<Option<_>>()?,
        steps: (0..model.steps.len()).map(|at| lowering.step(at)).collect::<Option<_>>()?,
    })
}

struct Lowering<'a, 'n> {
    model: &'a Model<'n>,
    texts: &'a Texts<'n>,
    world: &'a dyn World,
}

impl<'n> Lowering<'_, 'n> {
    fn body(&self, at: usize) -> Option<plan::Body> {
        let Body { unit, parent, order, steps, .. } = &self.model.bodies[at];
        let order = match order {
            Order::Graph | Order::Sequence => plan::Order::Graph,
            Order::Machine => plan::Order::Machine { start: start_of(self.model, at)? },
        };
        Some(plan::Body { parent: *parent, unit: *unit, order, steps: steps.clone() })
    }

    fn step(&self, at: usize) -> Option<plan::Step> {
        let step = &self.model.steps[at];
        let node = step.node;
        let defaults = self.defaults(step);
        Some(plan::Step {
            id: StepId::new(step.id.clone())?,
            name: text_of(node.get("name")),
            was: node.get("was").and_then(Node::as_text).and_then(StepId::new),
            body: step.body,
            form: self.form(step_ix(at), step)?,
            deps: step.deps.iter().map(|(dep, _)| *dep).collect(),
            next: step
                .next
                .iter()
                .map(|route| plan::Route { when: route.when.map(values::expr), to: route.to })
                .collect(),
            rewind: self.rewind(step),
            when: node.get("when").map(values::expr),
            run_if: modifiers::run_if(node),
            optional: node.get("optional").and_then(Node::as_bool).unwrap_or_default(),
            requires: values::texts(node.get("requires")),
            uses: values::texts(node.get("uses")),
            timeout: modifiers::timeout(node.get("timeout").or_else(|| defaults?.get("timeout"))),
            retry: node.get("retry").or_else(|| defaults?.get("retry")).map(modifiers::retry),
            budget: node.get("budget").map(modifiers::budget),
            on_error: self.on_error(step),
            on_interrupt: modifiers::on_interrupt(step, defaults),
            output: modifiers::output(node.get("output")),
            review: modifiers::review(node.get("review"), &step.id),
            approvals: node.get("approvals").or_else(|| defaults?.get("approvals")).and_then(modifiers::approvals),
            consent: modifiers::consent(node),
            risk: modifiers::risk(node.get("risk").or_else(|| defaults?.get("risk"))),
            cache: modifiers::cache(node.get("cache")),
            env: values::merged(defaults.and_then(|defaults| defaults.get("env")), node.get("env")),
            cwd: node.get("cwd").or_else(|| defaults?.get("cwd")).map(values::text),
            writes: values::texts(node.get("writes")),
            runs_on: values::texts(node.get("runs_on").or_else(|| defaults?.get("runs_on"))),
            anywhere: text_of(node.get("workspace")).as_deref() == Some("any"),
            progress: node.get("progress").map(values::expr),
        })
    }

    /// The `defaults` of the unit that a step belongs to.
    fn defaults(&self, step: &Step<'n>) -> Option<&'n Node> {
        self.model.unit(self.model.body(step.body).unit).node.get("defaults")
    }
}

fn text_of(node: Option<&Node>) -> Option<String> {
    node.and_then(Node::as_text).map(str::to_owned)
}
