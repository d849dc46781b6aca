//! LH0303, LH0304, LH0305: names that nothing sets, that nothing has set yet, or that may not be set.

use std::collections::HashSet;

use longhaul_core::catalog::{self, modifiers};
use longhaul_core::plan::StepIx;

use super::Context;
use crate::diagnostic::{Diagnostic, Severity, closest, suggests};
use crate::expr::{Key, Read};
use crate::scope::{Doubt, Lookup, Place};
use crate::sites::{Position, Purpose};
use crate::source::{Node, Span};
use crate::texts::Text;

/// The most findings for one text: each place in it has to be counted out from its start.
const FINDINGS_MAX: usize = 100;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let misspelt = misspelt_outputs(context);
    for text in context.own_texts() {
        let Ok(analysis) = &text.outcome else { continue };
        if lacks_its_body(context, text.place) {
            continue;
        }
        if text.site.purpose == Purpose::Condition && crate::expr::is_template(&text.source) {
            continue;
        }
        let own = own_names(context, text);
        let mut told = HashSet::new();
        let reads = analysis.reads.iter().zip(&text.lookups);
        let known = |read: &Read, lookup: &Lookup| match lookup {
            Lookup::Sure(_) => true,
            Lookup::Unknown if misspelt.contains(read.root.as_str()) => true,
            _ => read.guarded || own.contains(read.root.as_str()),
        };
        // A text that reads the same name five times has one mistake in it.
        let doubtful = reads.filter(|(read, lookup)| !known(read, lookup) && told.insert(as_written(read)));
        for (read, lookup) in doubtful.take(FINDINGS_MAX) {
            let span = text.span(context.sources, place_of(read, lookup));
            let found = finding(context, Reading { text, read, lookup, span, suggests: suggests(out) });
            out.extend(found);
        }
    }
}

/// Whether a text asks about the rounds of a body that is not there: LH0201 or LH0108 has said so.
fn lacks_its_body(context: &Context<'_, '_>, place: Place) -> bool {
    matches!(place, Place::Step(step, Position::Round) if context.model.step(step).inner.is_empty())
}

/// The whole chain; of a step that does not exist only its id.
fn place_of(read: &Read, lookup: &Lookup) -> std::ops::Range<usize> {
    match (lookup, read.root.as_str(), read.path.first()) {
        (Lookup::Unknown, "steps", Some(Key::Field(_, range))) => range.clone(),
        _ => read.range.clone(),
    }
}

/// Names that only this prompt sees.
fn own_names<'n>(context: &Context<'_, 'n>, text: &Text<'n>) -> HashSet<&'n str> {
    let Place::Step(step, _) = text.place else { return HashSet::new() };
    let step = context.model.step(step);
    let Some(with) = step.action.value().filter(|_| step.action.key() == "prompt").and_then(|value| value.get("with"))
    else {
        return HashSet::new();
    };
    let (outer, inner) = (with.span, text.site.node.span);
    let inside = outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end;
    let entries = with.entries().filter(|_| !inside).unwrap_or_default();
    entries.iter().filter_map(|(key, _)| key.scalar()).collect()
}

/// A name as one place of a text reads it.
struct Reading<'a, 'n> {
    text: &'a Text<'n>,
    read: &'a Read,
    lookup: &'a Lookup,
    span: Span,
    /// Whether to look for what was meant.
    suggests: bool,
}

fn finding(context: &Context<'_, '_>, reading: Reading<'_, '_>) -> Option<Diagnostic> {
    let Reading { text, read, lookup, span, suggests } = reading;
    let lenient = context.unit_of(text.place).is_lenient();
    match lookup {
        Lookup::Sure(_) => None,
        Lookup::Unsure(..) | Lookup::NotBefore(_) if lenient => None,
        Lookup::Unsure(_, step, doubt) => Some(unsure(context, read, *step, *doubt, span)),
        Lookup::NotBefore(producer) if is_named_twice(context, text.place, *producer) => None,
        Lookup::NotBefore(producer) => Some(not_before(context, text.place, read, *producer, span)),
        Lookup::Unknown => {
            let mut diagnostic = match suggests {
                true => unknown(context, text, read, span),
                false => nothing_sets(read, span),
            };
            if lenient {
                diagnostic.severity = Severity::Warning;
                diagnostic.label = "reads as empty text".to_owned();
            }
            Some(diagnostic)
        }
    }
}

/// Whether the reader depends on another step of the producer's id: LH0205 has said so.
fn is_named_twice(context: &Context<'_, '_>, place: Place, producer: StepIx) -> bool {
    let Place::Step(step, _) = place else { return false };
    let id = &context.model.step(producer).id;
    context.model.step(step).deps.iter().any(|(dep, _)| *dep != producer && context.model.step(*dep).id == *id)
}

/// Names that steps give their outputs under a key that is a slip of `output`: LH0108 has said so.
fn misspelt_outputs<'n>(context: &Context<'_, 'n>) -> HashSet<&'n str> {
    let known = |key: &str| modifiers::ALL.iter().any(|field| field.key == key) || catalog::kind(key).is_some();
    let slip = |key: &Node| key.scalar().is_some_and(|key| !known(key) && closest(key, &["output"]).is_some());
    let entries = context.model.own_steps().flat_map(|(_, step)| step.node.entries().unwrap_or_default());
    let outputs = entries.filter(|(key, _)| slip(key)).map(|(_, value)| value);
    outputs.filter_map(|value| value.as_text().or_else(|| value.get("as")?.as_text())).collect()
}

fn nothing_sets(read: &Read, span: Span) -> Diagnostic {
    if let ("steps", Some(Key::Field(id, _))) = (read.root.as_str(), read.path.first()) {
        return Diagnostic::error("LH0303", span, format!("no step `{id}` can be read here")).label("unknown step");
    }
    Diagnostic::error("LH0303", span, format!("nothing sets `{}`", read.root)).label("unknown name")
}

fn unknown(context: &Context<'_, '_>, text: &Text<'_>, read: &Read, span: Span) -> Diagnostic {
    let place = text.place;
    if let ("steps", Some(Key::Field(id, _))) = (read.root.as_str(), read.path.first()) {
        let known = context.scopes.known_steps(place);
        return nothing_sets(read, span).did_you_mean(id, known.iter().map(String::as_str), |known| {
            let inside = context.model.own_steps().find(|(_, step)| step.id == *id);
            let container = inside.and_then(|(_, step)| context.model.body(step.body).parent);
            match container {
                Some(container) => Some(format!(
                    "`{id}` is inside `{}`: give its output a name and read that",
                    context.model.step(container).id
                )),
                None if known.is_empty() => Some("there are no other steps here".to_owned()),
                None => Some(format!("the steps here are: {}", known.join(", "))),
            }
        });
    }
    let mut known = context.scopes.known(place);
    known.retain(|name| text.site.secrets || !["env", "secrets"].contains(&name.as_str()));
    nothing_sets(read, span).did_you_mean(&read.root, known.iter().map(String::as_str), |known| {
        Some(suggestion(&read.root, known, context, text))
    })
}

fn suggestion(name: &str, known: &[&str], context: &Context<'_, '_>, text: &Text<'_>) -> String {
    if text.is_computed() && text.source.trim() == name {
        return format!("to write text, put quotes inside the quotes: \"'{name}'\"");
    }
    if context.scopes.known_steps(text.place).iter().any(|id| id == name) {
        return format!("`{name}` is a step: read `steps.{name}.output`, or give it `output: {name}`");
    }
    match name {
        "item" | "index" => return format!("`{name}` is there inside a `for_each`"),
        "iteration" => return "`iteration` is there inside a `repeat`".to_owned(),
        _ => {}
    }
    if known.len() > 20 {
        return "declare it under `inputs`, or give a step `output: ` with this name".to_owned();
    }
    format!("names that can be read here: {}", known.join(", "))
}

fn not_before(context: &Context<'_, '_>, place: Place, read: &Read, at: StepIx, span: Span) -> Diagnostic {
    let producer = context.model.step(at);
    let what = as_written(read);
    match place {
        Place::Step(step, _) if step == at => {
            Diagnostic::error("LH0304", span, format!("`{}` reads `{what}`, which is its own result", producer.id))
                .label("not there yet")
                .help("read it in a later step, or put the step into a `repeat`")
        }
        Place::Step(step, _) if context.ancestor_in(step, producer.body) == Some(at) => {
            Diagnostic::error("LH0304", span, format!("`{what}` is set in another part of `{}`", producer.id))
                .label("cannot be seen from here")
                .help(format!("read it in a step after `{}`, or in the part that sets it", producer.id))
        }
        Place::Step(step, _) => {
            let reader = context.ancestor_in(step, producer.body).unwrap_or(step);
            let reader = context.model.step(reader);
            let graph = context.model.body(producer.body).order == crate::model::Order::Graph;
            let help = match graph {
                true => format!("add `depends_on: [{}]` to `{}`", producer.id, reader.id),
                false => format!("move `{}` before `{}`", producer.id, reader.id),
            };
            let relation = if graph { "does not depend on" } else { "comes before" };
            Diagnostic::error(
                "LH0304",
                span,
                format!("`{}` reads `{what}`, but {relation} `{}`, which produces it", reader.id, producer.id),
            )
            .label("not set yet")
            .related(producer.span, "produced here")
            .help(help)
        }
        Place::Header(_) | Place::End(_) => {
            Diagnostic::error("LH0304", span, format!("`{what}` is not set yet here")).label("not set yet")
        }
    }
}

fn unsure(context: &Context<'_, '_>, read: &Read, producer: StepIx, doubt: Doubt, span: Span) -> Diagnostic {
    let producer = context.model.step(producer);
    let id = &producer.id;
    let why = match doubt {
        Doubt::Round => format!("`{id}` sets it later; in the first round it is undefined"),
        Doubt::When => format!("`{id}` has a `when` and may be skipped"),
        Doubt::Optional => format!("`{id}` may fail without failing the run"),
        Doubt::Choice if !producer.inner.is_empty() => format!("not every way through `{id}` sets it"),
        Doubt::Choice => format!("`{id}` is on only some of the ways that lead here"),
        Doubt::Failure => format!("this step also runs after `{id}` has failed"),
    };
    let what = as_written(read);
    Diagnostic::error("LH0305", span, format!("`{what}` may not be set here"))
        .label(why)
        .related(producer.span, "set here")
        .help(format!("say what to use then: `{what} | default('…')`, or ask `{} is defined` first", read.root))
}

/// The name and its fields, as they stand in the text.
fn as_written(read: &Read) -> String {
    read.path.iter().fold(read.root.clone(), |text, key| match key {
        Key::Field(field, _) => format!("{text}.{field}"),
        Key::Index | Key::Dynamic => format!("{text}[…]"),
    })
}
