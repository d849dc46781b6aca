//! Looks up a name at a place.

use std::collections::HashSet;

use indexmap::IndexMap;
use longhaul_core::catalog::names::RUN_FIELDS;
use longhaul_core::plan::{BodyIx, StepIx};
use longhaul_core::types::{Fields, Type};
use serde_json::json;

use super::exports::{collects_errors, input_type, inputs, may_fail_quietly, of_steps, output_type};
use super::{Doubt, Lookup, Place, Scopes};
use crate::model::Order;
use crate::order::{Before, successors};
use crate::sites::Position;
use crate::source::Node;

/// Fields of `steps.<id>` that exist for every result of the step.
const ALWAYS_THERE: &[&str] = &["status", "error", "attempts", "usage"];

/// The most inputs in the type of `inputs`.
const INPUTS_TOLD_MAX: usize = 500;

impl Scopes<'_, '_> {
    /// Looks up a bare name.
    pub(crate) fn name(&self, place: Place, name: &str) -> Lookup {
        match name {
            "task" => return Lookup::Sure(Type::String),
            "run" => {
                return Lookup::Sure(Type::closed(RUN_FIELDS.iter().map(|field| ((*field).to_owned(), Type::String))));
            }
            "inputs" => return Lookup::Sure(self.inputs_type(place)),
            "steps" | "trigger" | "env" | "secrets" => return Lookup::Sure(Type::Any),
            _ => {}
        }
        let mut found = Lookup::Unknown;
        let mut frame = self.first_frame(place);
        if let Place::End(unit) = place {
            found = better(found, self.at_end(self.model.unit(unit).body, name));
        }
        while let Some(Frame { body, reader, position }) = frame {
            if position != Position::Before {
                found = better(found, self.own_result(reader, position, name));
            }
            found = better(found, self.in_body(body, reader, name));
            let parent = self.model.body(body).parent;
            if let Some(bound) =
                parent.and_then(|parent| self.bound(parent).into_iter().find(|(bound, _)| bound == name))
            {
                found = better(found, Lookup::Sure(bound.1));
            }
            frame = parent.map(|parent| Frame {
                body: self.model.step(parent).body,
                reader: parent,
                position: Position::Before,
            });
        }
        let input = self.inputs[self.unit_of(place).at()].get(name);
        better(found, input.map_or(Lookup::Unknown, |node| Lookup::Sure(input_type(node))))
    }

    /// Looks up `inputs.<field>`. With many inputs, the type contains only this one.
    pub(crate) fn input_field(&self, place: Place, field: &str) -> Lookup {
        match self.inputs[self.unit_of(place).at()].get(field) {
            Some(node) => Lookup::Sure(Type::closed([(field.to_owned(), input_type(node))])),
            None => Lookup::Sure(self.inputs_type(place)),
        }
    }

    /// Looks up `steps.<id>.<field>`.
    pub(crate) fn step_field(&self, place: Place, id: &str, field: Option<&str>) -> Lookup {
        let always = field.is_some_and(|field| ALWAYS_THERE.contains(&field));
        if let Place::End(unit) = place {
            let step = self.model.unit(unit).body.and_then(|body| self.model.body(body).by_id.get(id).copied());
            return step
                .map_or(Lookup::Unknown, |step| self.doubted(step, Self::quiet_doubt(self, step).filter(|_| !always)));
        }
        let mut frame = self.first_frame(place);
        while let Some(Frame { body, reader, position }) = frame {
            if position == Position::Round
                && let Some(step) = self.inner_step(reader, id)
            {
                return self.doubted(step, self.quiet_doubt(step).filter(|_| !always));
            }
            if let Some(step) = self.model.body(body).by_id.get(id) {
                if *step == reader && position != Position::Before {
                    return Lookup::Sure(self.step_type(*step));
                }
                return match self.relation(body, *step, reader) {
                    Relation::Before(doubt) => {
                        self.doubted(*step, doubt.filter(|doubt| !always || *doubt == Doubt::Round))
                    }
                    Relation::NotBefore => Lookup::NotBefore(*step),
                };
            }
            frame = self.model.body(body).parent.map(|parent| Frame {
                body: self.model.step(parent).body,
                reader: parent,
                position: Position::Before,
            });
        }
        Lookup::Unknown
    }

    /// Ids of the steps that `steps.` can reach at a place.
    pub(crate) fn known_steps(&self, place: Place) -> Vec<String> {
        let mut ids = Vec::new();
        let mut body = self.body_of(place);
        while let Some(at) = body {
            ids.extend(self.model.body(at).by_id.keys().cloned());
            body = self.model.body(at).parent.map(|parent| self.model.step(parent).body);
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn first_frame(&self, place: Place) -> Option<Frame> {
        match place {
            Place::Step(reader, position) => Some(Frame { body: self.model.step(reader).body, reader, position }),
            Place::Header(_) | Place::End(_) => None,
        }
    }

    fn inner_step(&self, step: StepIx, id: &str) -> Option<StepIx> {
        let (_, body) = self.model.step(step).inner.first()?;
        self.model.body(*body).by_id.get(id).copied()
    }

    /// A name that the reader itself has just set.
    fn own_result(&self, reader: StepIx, position: Position, name: &str) -> Lookup {
        if position == Position::Round {
            let body = self.model.step(reader).inner.first().map(|(_, body)| *body);
            if let Some(bound) = self.bound(reader).into_iter().find(|(bound, _)| bound == name) {
                return Lookup::Sure(bound.1);
            }
            return self.at_end(body, name);
        }
        let own = self.exports[reader.at()].iter().find(|export| export.name == name);
        own.map_or(Lookup::Unknown, |export| match export.sure {
            true => Lookup::Sure(export.value.clone()),
            false => Lookup::Unsure(export.value.clone(), reader, Doubt::Choice),
        })
    }

    /// A name that a body has set when it is done.
    fn at_end(&self, body: Option<BodyIx>, name: &str) -> Lookup {
        let Some(body) = body else { return Lookup::Unknown };
        let producers = self.producers[body.at()].get(name).map(Vec::as_slice).unwrap_or_default();
        let Some(producer) = producers.first() else { return Lookup::Unknown };
        let export = of_steps((self.model, self.orders), &self.exports, body, producers)
            .into_iter()
            .find(|export| export.name == name);
        export.map_or(Lookup::Unknown, |export| match export.sure {
            true => Lookup::Sure(export.value),
            false => Lookup::Unsure(export.value, *producer, Doubt::Choice),
        })
    }

    fn in_body(&self, body: BodyIx, reader: StepIx, name: &str) -> Lookup {
        let Some(producers) = self.producers[body.at()].get(name) else { return Lookup::Unknown };
        let mut found = Lookup::Unknown;
        for producer in producers.iter().filter(|producer| **producer != reader || self.loops(body)) {
            let export = self.exports[producer.at()].iter().find(|export| export.name == name);
            let Some(export) = export else { continue };
            let lookup = match self.relation(body, *producer, reader) {
                // This is the best possible answer; the other producers cannot change it.
                Relation::Before(None) if export.sure && !matches!(found, Lookup::Unsure(..)) => {
                    return Lookup::Sure(export.value.clone());
                }
                Relation::Before(None) if export.sure => Lookup::Sure(export.value.clone()),
                Relation::Before(doubt) => {
                    Lookup::Unsure(export.value.clone(), *producer, doubt.unwrap_or(Doubt::Choice))
                }
                Relation::NotBefore => Lookup::NotBefore(*producer),
            };
            found = better(found, lookup);
            if matches!(found, Lookup::Sure(_)) {
                break;
            }
        }
        match found {
            // The reader itself sets it, or another part of its container.
            Lookup::Unknown if producers.contains(&reader) => Lookup::NotBefore(reader),
            found => found,
        }
    }

    /// Whether a producer of the same body has certainly set its names for a reader.
    fn relation(&self, body: BodyIx, producer: StepIx, reader: StepIx) -> Relation {
        match self.orders.before(body, producer, reader) {
            Before::Always if producer != reader => Relation::Before(self.doubt(body, producer, reader)),
            Before::Always | Before::Maybe => Relation::Before(Some(Doubt::Round)),
            Before::Never if self.loops(body) => Relation::Before(Some(Doubt::Round)),
            Before::Never => Relation::NotBefore,
        }
    }

    fn doubted(&self, step: StepIx, doubt: Option<Doubt>) -> Lookup {
        let value = self.step_type(step);
        match doubt {
            None => Lookup::Sure(value),
            Some(doubt) => Lookup::Unsure(value, step, doubt),
        }
    }

    fn doubt(&self, body: BodyIx, producer: StepIx, reader: StepIx) -> Option<Doubt> {
        let (p, r) = (self.model.step(producer), self.model.step(reader));
        let text = |step: &crate::model::Step<'_>| {
            step.node.get("when").and_then(Node::scalar).map(|text| text.trim().to_owned())
        };
        let run_if = r.node.get("run_if").and_then(Node::as_text);
        if run_if == Some("succeeded") && r.deps.iter().any(|(dep, _)| *dep == producer) {
            return None;
        }
        if self.follows_failure(producer, reader) {
            return Some(Doubt::Failure);
        }
        if !self.orders.shares_choices(body, producer, reader) {
            return Some(Doubt::Choice);
        }
        match self.quiet_doubt(producer) {
            Some(Doubt::When) if text(p) == text(r) => None,
            None if matches!(run_if, Some("failed" | "always")) => Some(Doubt::Failure),
            doubt => doubt,
        }
    }

    /// Whether a node can be reached through another node's `on_error: goto`, without that node succeeding later.
    fn follows_failure(&self, producer: StepIx, reader: StepIx) -> bool {
        let step = self.model.step(producer);
        // A failed command still has its output.
        let goto = step.node.get("on_error").filter(|_| step.action.key() != "run");
        let target = goto.and_then(|node| self.model.body(step.body).by_id.get(node.get("goto")?.as_text()?));
        let mut queue: Vec<StepIx> = target.copied().into_iter().collect();
        let mut seen: HashSet<StepIx> = queue.iter().copied().chain([producer]).collect();
        while let Some(at) = queue.pop() {
            if at == reader {
                return true;
            }
            queue.extend(successors(self.model, at).into_iter().filter(|to| seen.insert(*to)));
        }
        false
    }

    /// Why a step may have no output although the run continued.
    fn quiet_doubt(&self, step: StepIx) -> Option<Doubt> {
        let step = self.model.step(step);
        if step.node.get("when").is_some() {
            Some(Doubt::When)
        } else if may_fail_quietly(step) {
            Some(Doubt::Optional)
        } else {
            None
        }
    }

    /// Whether a body can run more than once with the same names.
    fn loops(&self, body: BodyIx) -> bool {
        let mut body = Some(body);
        while let Some(at) = body {
            let here = self.model.body(at);
            let parent = here.parent.map(|parent| self.model.step(parent));
            if here.order == Order::Machine || parent.is_some_and(|parent| parent.action.key() == "repeat") {
                return true;
            }
            body = parent.map(|parent| parent.body);
        }
        false
    }

    /// The type of `steps.<id>`.
    pub(crate) fn step_type(&self, at: StepIx) -> Type {
        let step = self.model.step(at);
        let status = ["succeeded", "failed", "skipped", "cancelled"].map(|word| json!(word)).to_vec();
        let names = self.exports(at).iter().map(|export| (export.name.clone(), export.value.clone()));
        let item = Type::Object(Fields { known: names.collect::<IndexMap<_, _>>(), open: true });
        let item = if collects_errors(step) { item.or(Type::item_error()) } else { item };
        Type::closed(
            [
                ("output", output_type(self.model, step)),
                ("status", Type::Enum(status)),
                ("exit_code", Type::Integer),
                ("stdout", Type::String),
                ("stderr", Type::String),
                ("attempts", Type::Integer),
                ("usage", Type::open_object()),
                ("approved", Type::Boolean),
                ("choice", Type::String),
                ("items", Type::array(item)),
                ("error", Type::Any),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        )
    }

    fn inputs_type(&self, place: Place) -> Type {
        let unit = self.model.unit(self.unit_of(place));
        let open = unit.compat.contains(&longhaul_core::plan::Compat::OpenInputs);
        let known = inputs(unit).take(INPUTS_TOLD_MAX).map(|(name, node)| (name.to_owned(), input_type(node)));
        let task = std::iter::once(("task".to_owned(), Type::String));
        Type::Object(Fields { known: task.chain(known).collect(), open })
    }
}

/// The relation of a producer to a reader of the same body.
enum Relation {
    /// It has run, except for this doubt.
    Before(Option<Doubt>),
    NotBefore,
}

#[derive(Clone, Copy)]
struct Frame {
    body: BodyIx,
    reader: StepIx,
    position: Position,
}

/// The more certain of two answers. If neither is sure, their types are joined.
fn better(before: Lookup, after: Lookup) -> Lookup {
    match (before, after) {
        (Lookup::Sure(value), _) => Lookup::Sure(value),
        (Lookup::Unsure(value, ..), Lookup::Sure(other)) => Lookup::Sure(value.or(other)),
        (Lookup::Unsure(value, step, doubt), Lookup::Unsure(other, ..)) => Lookup::Unsure(value.or(other), step, doubt),
        (before, Lookup::Unknown) => before,
        // The producer in the inner body is more precise than its container.
        (Lookup::NotBefore(step), Lookup::NotBefore(_)) => Lookup::NotBefore(step),
        (Lookup::Unsure(value, step, doubt), Lookup::NotBefore(_)) => Lookup::Unsure(value, step, doubt),
        (_, after) => after,
    }
}
