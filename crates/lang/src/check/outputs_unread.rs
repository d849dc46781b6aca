//! LH0306: a named output that no step reads.

use std::collections::HashSet;

use longhaul_core::plan::{StepIx, UnitIx};

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr::ChainLink;
use crate::model::{Order, Step};
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let read = Reads::of(context);
    let waited_for: HashSet<StepIx> =
        context.model.steps.iter().flat_map(|step| step.deps.iter().map(|(dep, _)| *dep)).collect();
    for (ix, step) in context.model.own_steps() {
        let unit = context.model.body(step.body).unit;
        let Some(alias) = alias(step).filter(|_| !context.model.unit(unit).is_lenient()) else { continue };
        let Some(name) = alias.as_text() else { continue };
        let used = read.names.contains(&(unit, name.to_owned())) || read.steps.contains(&(unit, step.id.clone()));
        if used || is_result(context, ix, step, &waited_for) {
            continue;
        }
        out.push(
            Diagnostic::warning("LH0306", alias.span, format!("no step reads `{name}`"))
                .label("the name is not used")
                .help("read it in a later step, list it under `outputs`, or remove the name"),
        );
    }
}

fn alias<'n>(step: &Step<'n>) -> Option<&'n Node> {
    let output = step.node.get("output")?;
    if output.entries().is_some() { output.get("as") } else { Some(output) }
}

/// Whether the output of a step is the result of its body: it is a last step, a person reviews it, or it
/// rewinds.
fn is_result(context: &Context<'_, '_>, ix: StepIx, step: &Step<'_>, waited_for: &HashSet<StepIx>) -> bool {
    let body = context.model.body(step.body);
    let last = match body.order {
        Order::Sequence => body.steps.last() == Some(&ix),
        Order::Graph => !waited_for.contains(&ix),
        Order::Machine => step.next.iter().any(|route| context.model.step(route.to).action.key() == "end"),
    };
    last || step.node.get("review").is_some() || step.node.get("rewind").is_some()
}

struct Reads {
    names: HashSet<(UnitIx, String)>,
    steps: HashSet<(UnitIx, String)>,
}

impl Reads {
    fn of(context: &Context<'_, '_>) -> Self {
        let mut reads = Self { names: HashSet::new(), steps: HashSet::new() };
        for text in &context.texts.all {
            let unit = context.unit_ix_of(text.place);
            let found = text.outcome.as_ref().map(|analysis| analysis.reads.as_slice()).unwrap_or_default();
            for read in found {
                match (read.root.as_str(), read.path.first()) {
                    ("steps", Some(ChainLink::Field(id, _))) => drop(reads.steps.insert((unit, id.clone()))),
                    (root, _) => drop(reads.names.insert((unit, root.to_owned()))),
                }
            }
        }
        reads
    }
}
