//! Computes the exports of steps and bodies.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use longhaul_core::catalog::top::TYPE_NAMES;
use longhaul_core::plan::{BodyIx, StepIx};
use longhaul_core::types::Type;

use super::Export;
use crate::model::{Body, Model, Order, Step, Unit, step_ix};
use crate::order::{Before, Orders};
use crate::schema;
use crate::source::Node;

/// The most names, counted again for each container that passes them on.
const EXPORTS_MAX: usize = 300_000;

/// The exports of every step, by index; and the first step whose names exceed the limit. Each level of nesting copies
/// all names inside it.
pub(super) fn all(model: &Model<'_>, orders: &Orders) -> (Vec<Vec<Export>>, Option<StepIx>) {
    let mut exports: Vec<Vec<Export>> = vec![Vec::new(); model.steps.len()];
    let (mut count, mut overfull) = (0, None);
    // Inner steps have higher numbers than their container, so the reverse order is inside out.
    for at in (0..model.steps.len()).rev() {
        let mut own = of_step((model, orders), &exports, step_ix(at));
        count += own.len();
        if count > EXPORTS_MAX {
            overfull = Some(step_ix(at));
            own = Vec::new();
        }
        exports[at] = own;
    }
    (exports, overfull)
}

fn of_step((model, orders): (&Model<'_>, &Orders), known: &[Vec<Export>], at: StepIx) -> Vec<Export> {
    let step = model.step(at);
    let mut exports = own(model, step);
    let bodies: Vec<Vec<Export>> = step.inner.iter().map(|(_, body)| of_body((model, orders), known, *body)).collect();
    let inner = match step.action.key() {
        "if" => merge(bodies, step.node.get("else").is_some()),
        "switch" => merge(bodies, step.node.get("default").is_some()),
        "for_each" => merge(bodies, false),
        _ => bodies.into_iter().flatten().collect(),
    };
    let taken: HashSet<String> = exports.iter().map(|own| own.name.clone()).collect();
    let mut seen: HashSet<String> = HashSet::new();
    exports
        .extend(inner.into_iter().filter(|export| !taken.contains(&export.name) && seen.insert(export.name.clone())));
    exports
}

/// The exports of the branches of a choice: sure if every branch is sure to set them.
fn merge(branches: Vec<Vec<Export>>, exhaustive: bool) -> Vec<Export> {
    let count = branches.len();
    let mut merged: IndexMap<String, (Export, usize)> = IndexMap::new();
    for export in branches.into_iter().flatten() {
        match merged.get_mut(&export.name) {
            Some((known, hits)) => {
                known.value = std::mem::take(&mut known.value).or(export.value);
                known.sure &= export.sure;
                *hits += 1;
            }
            None => drop(merged.insert(export.name.clone(), (export, 1))),
        }
    }
    merged
        .into_values()
        .map(|(export, hits)| Export { sure: export.sure && exhaustive && hits == count, ..export })
        .collect()
}

/// The exports of a body: sure if a step that always runs is sure to set them.
pub(super) fn of_body((model, orders): (&Model<'_>, &Orders), known: &[Vec<Export>], body: BodyIx) -> Vec<Export> {
    of_steps((model, orders), known, body, &model.body(body).steps)
}

/// The exports of some steps of a body.
pub(super) fn of_steps(
    (model, orders): (&Model<'_>, &Orders),
    known: &[Vec<Export>],
    body: BodyIx,
    steps: &[StepIx],
) -> Vec<Export> {
    let Body { order, .. } = model.body(body);
    let mut exports: Vec<Export> = Vec::new();
    let mut position: HashMap<&str, usize> = HashMap::new();
    for step in steps {
        let always = match order {
            Order::Machine => always_visited(model, orders, *step),
            Order::Graph | Order::Sequence => always_runs(model, *step),
        };
        for export in &known[step.at()] {
            match position.get(export.name.as_str()) {
                Some(at) => {
                    let before: &mut Export = &mut exports[*at];
                    before.value = std::mem::take(&mut before.value).or(export.value.clone());
                    before.sure |= export.sure && always;
                }
                None => {
                    position.insert(&export.name, exports.len());
                    exports.push(Export { sure: export.sure && always, ..export.clone() });
                }
            }
        }
    }
    exports
}

/// Whether a step always runs, unless the body fails.
fn always_runs(model: &Model<'_>, step: StepIx) -> bool {
    let this = model.step(step);
    let chosen = this.deps.iter().any(|(dep, _)| model.is_conditional(model.step(*dep)));
    this.node.get("when").is_none() && !may_fail_quietly(this) && !chosen
}

/// Whether every successful way through a state machine visits a node.
fn always_visited(model: &Model<'_>, orders: &Orders, at: StepIx) -> bool {
    let step = model.step(at);
    let jumps = step.node.get("on_error").and_then(|node| node.get("goto")).is_some();
    let succeeds = |end: &&StepIx| {
        model.step(**end).action.value().filter(|_| model.step(**end).action.key() == "end").and_then(Node::as_text)
            == Some("success")
    };
    let mut ends = model.body(step.body).steps.iter().filter(succeeds).peekable();
    let some = ends.peek().is_some();
    let all = ends.all(|end| orders.before(step.body, at, *end) == Before::Always);
    some && all && !jumps && step.node.get("when").is_none() && !may_fail_quietly(step)
}

/// Whether the run continues if the step fails without an output.
pub(super) fn may_fail_quietly(step: &Step<'_>) -> bool {
    let optional = step.node.get("optional").and_then(Node::as_bool) == Some(true);
    match step.node.get("on_error").and_then(Node::as_text) {
        Some("skip") => true,
        // A failed command still has its output.
        Some("continue") => step.action.key() != "run",
        _ => optional,
    }
}

fn own(model: &Model<'_>, step: &Step<'_>) -> Vec<Export> {
    let mut exports = Vec::new();
    if step.action.key() == "set" {
        for (key, value) in step.action.value().and_then(Node::entries).unwrap_or_default() {
            let written = value.as_text().is_none() && value.scalar().is_some();
            let value = if written { Type::of(&value.to_json()) } else { Type::Any };
            exports.extend(key.scalar().map(|name| Export { name: name.to_owned(), value, sure: true }));
        }
    }
    let Some(output) = step.node.get("output") else { return exports };
    let value = output_type(model, step);
    let alias = output.as_text().or_else(|| output.get("as")?.as_text());
    if output.get("spread").and_then(Node::as_bool) == Some(true)
        && let Type::Object(fields) = &value
    {
        exports.extend(fields.known.iter().map(|(name, value)| Export {
            name: name.clone(),
            value: value.clone(),
            sure: true,
        }));
    }
    exports.extend(alias.map(|name| Export { name: name.to_owned(), value, sure: true }));
    exports
}

/// The type of a step's output.
pub(super) fn output_type(model: &Model<'_>, step: &Step<'_>) -> Type {
    let output = step.node.get("output");
    if let Some(schema) = output.and_then(|output| output.get("schema")) {
        return Type::from_schema(&schema::to_json(schema));
    }
    match output.and_then(|output| output.get("parse")).and_then(Node::as_text) {
        Some("json") => return Type::Any,
        Some("lines") => return Type::array(Type::String),
        Some("text") => return Type::String,
        _ => {}
    }
    match step.action.key() {
        "prompt" | "run" => Type::String,
        "ask" => step.node.get("answer").map_or(Type::String, |schema| Type::from_schema(&schema::to_json(schema))),
        "for_each" if collects_errors(step) => Type::array(Type::open_object().or(Type::item_error())),
        "for_each" => Type::array(Type::open_object()),
        "workflow" => workflow_type(model, step),
        _ => Type::Any,
    }
}

/// Whether the results of a loop can hold errors in the place of failed items.
pub(super) fn collects_errors(step: &Step<'_>) -> bool {
    step.action.key() == "for_each" && step.node.get("on_item_error").and_then(Node::as_text) == Some("collect")
}

/// The type of a sub-workflow's outputs, which have known names.
fn workflow_type(model: &Model<'_>, step: &Step<'_>) -> Type {
    let name = step.action.value().and_then(Node::as_text).unwrap_or_default();
    let unit = model.unit(model.body(step.body).unit).known.get(name);
    let outputs = unit.and_then(|unit| model.unit(*unit).node.get("outputs")).and_then(Node::entries);
    match outputs {
        Some(outputs) => {
            Type::closed(outputs.iter().filter_map(|(key, _)| Some((key.scalar()?.to_owned(), Type::Any))))
        }
        None => Type::Any,
    }
}

/// The declared inputs of a unit.
pub(super) fn inputs<'n>(unit: &Unit<'n>) -> impl Iterator<Item = (&'n str, &'n Node)> + use<'n> {
    let entries = unit.node.get("inputs").and_then(Node::entries).unwrap_or_default();
    entries.iter().filter_map(|(key, value)| Some((key.scalar()?, value)))
}

/// The type of an input.
pub(super) fn input_type(input: &Node) -> Type {
    let schema = schema_of_input(input);
    let value = Type::from_schema(&schema);
    let may_be_null = input.get("required").and_then(Node::as_bool) == Some(false) && input.get("default").is_none();
    if may_be_null { value.or(Type::Null) } else { value }
}

/// The JSON Schema of an input: its keys without those that only inputs have.
pub(crate) fn schema_of_input(input: &Node) -> longhaul_core::Json {
    let type_schema =
        |word: &str| if word == "any" { serde_json::json!({}) } else { serde_json::json!({"type": word}) };
    if let Some(word) = input.scalar() {
        return if TYPE_NAMES.contains(&word) { type_schema(word) } else { serde_json::json!({}) };
    }
    let mut map = serde_json::Map::new();
    for (key, value) in input.entries().unwrap_or_default() {
        match key.scalar() {
            Some("type") => match value.scalar() {
                Some(word) if word != "any" => drop(map.insert("type".to_owned(), serde_json::json!(word))),
                _ => {}
            },
            Some("enum") => drop(map.insert("enum".to_owned(), value.to_json())),
            Some("items") => drop(map.insert("items".to_owned(), schema::to_json(value))),
            Some("properties") => {
                let fields = value.entries().unwrap_or_default();
                let fields: serde_json::Map<_, _> = fields
                    .iter()
                    .filter_map(|(key, value)| Some((key.scalar()?.to_owned(), schema::to_json(value))))
                    .collect();
                map.insert("properties".to_owned(), fields.into());
            }
            _ => {}
        }
    }
    map.into()
}
