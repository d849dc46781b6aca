//! A run as a trace: a span for the run, one for each step, one for each attempt, question and wait.
//!
//! **Invariant:** the same history gives the same trace with the same ids. So a trace that is sent twice is one
//! trace.

use indexmap::IndexMap;
use serde_json::json;

use super::{Attempt, Spanned, attempts, timeline};
use crate::Json;
use crate::event::{Ended, Envelope, Event};
use crate::id::RunId;
use crate::path::StepPath;
use crate::plan::Outcome;
use crate::task::TaskKey;

/// A span of time with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// The id, 16 hex digits.
    pub id: String,
    /// The id of the span around it.
    pub parent: Option<String>,
    /// The name that people see.
    pub name: String,
    /// The start, in milliseconds since 1970.
    pub from: i64,
    /// The end, in milliseconds since 1970.
    pub to: i64,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// Its attributes.
    pub attributes: IndexMap<&'static str, Json>,
}

/// A run as a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The id, 32 hex digits.
    pub id: String,
    /// The spans, that of the run first.
    pub spans: Vec<Traced>,
}

/// The trace of a run. An open span lasts until the last event. `None` for a run that has not started.
pub fn trace(run: &RunId, history: &[Envelope]) -> Option<Trace> {
    let last = history.last()?.at;
    let root = root(run, history, last)?;
    let steps = steps(history, last);
    let mut spans = vec![root];
    for (path, step) in &steps {
        spans.push(step_span(run, &steps, path, step));
    }
    for span in timeline(history) {
        let kind = match span.what {
            Spanned::Attempt(_) => continue,
            Spanned::Pause(_) => "pause",
            Spanned::Question => "question",
            Spanned::Wait => "wait",
        };
        let name = format!("{} {kind}", span.path);
        spans.push(Traced {
            id: id(run, &format!("{name} {}", span.from)),
            parent: Some(id(run, &span.path.to_string())),
            attributes: IndexMap::from([("longhaul.path", json!(span.path))]),
            name,
            from: span.from,
            to: span.to.unwrap_or(last),
            error: None,
        });
    }
    spans.extend(made(history).iter().map(|(path, attempt)| attempt_span(run, path, attempt, last)));
    Some(Trace { id: hex(run.as_str().as_bytes(), 16), spans })
}

fn root(run: &RunId, history: &[Envelope], last: i64) -> Option<Traced> {
    let Event::RunStarted(started) = &history.first()?.event else { return None };
    let mut attributes = IndexMap::from([("longhaul.run", json!(run)), ("longhaul.workflow", json!(started.workflow))]);
    let mut error = None;
    for envelope in history {
        if let Event::RunFinished { outcome, message, .. } = &envelope.event {
            attributes.insert("longhaul.outcome", json!(outcome));
            error = (*outcome == Outcome::Failure).then(|| message.clone().unwrap_or_default());
        }
    }
    let (from, name) = (history.first()?.at, started.workflow.clone());
    Some(Traced { id: id(run, ""), parent: None, name, from, to: last, error, attributes })
}

/// The time span of a step, and its result.
struct Known {
    from: i64,
    to: i64,
    ended: Option<Ended>,
}

/// The steps with events, by path.
fn steps(history: &[Envelope], last: i64) -> IndexMap<String, Known> {
    let mut steps: IndexMap<String, Known> = IndexMap::new();
    for envelope in history {
        let Some(path) = begun(&envelope.event) else { continue };
        let known = steps.entry(path.to_string());
        let known = known.or_insert(Known { from: envelope.at, to: last, ended: None });
        if let Event::StepEnded { end, .. } = &envelope.event {
            (known.to, known.ended) = (envelope.at, Some(end.status));
        }
    }
    steps
}

/// The step of an event that shows that the step has started.
fn begun(event: &Event) -> Option<&StepPath> {
    match event {
        Event::AttemptStarted { path, .. }
        | Event::QuestionAsked { path, .. }
        | Event::WaitStarted { path, .. }
        | Event::ItemsFound { path, .. }
        | Event::BodyOpened { path, .. }
        | Event::StepEnded { path, .. } => Some(path),
        _ => None,
    }
}

fn step_span(run: &RunId, steps: &IndexMap<String, Known>, path: &str, step: &Known) -> Traced {
    let around = container(path).filter(|container| steps.contains_key(*container)).unwrap_or_default();
    Traced {
        id: id(run, path),
        parent: Some(id(run, around)),
        name: path.to_owned(),
        from: step.from,
        to: step.to,
        error: (step.ended == Some(Ended::Failed)).then(String::new),
        attributes: IndexMap::from([("longhaul.path", json!(path)), ("longhaul.status", json!(step.ended))]),
    }
}

/// The step around one: `tasks[0]/check` is inside `tasks`.
fn container(path: &str) -> Option<&str> {
    let (outer, _) = path.rsplit_once('/')?;
    Some(outer.strip_suffix(']').and_then(|outer| outer.rsplit_once('[')).map_or(outer, |(outer, _)| outer))
}

/// Every attempt, with its step.
fn made(history: &[Envelope]) -> Vec<(StepPath, Attempt)> {
    let mut by_path: IndexMap<&StepPath, Vec<Envelope>> = IndexMap::new();
    for envelope in history {
        if let Some(path) = tried(&envelope.event) {
            by_path.entry(path).or_default().push(envelope.clone());
        }
    }
    let of_path = |(path, events): (&&StepPath, &Vec<Envelope>)| {
        let known = attempts(events, path).into_iter();
        known.map(|attempt| ((*path).clone(), attempt)).collect::<Vec<_>>()
    };
    by_path.iter().flat_map(of_path).collect()
}

/// The step of an event about an attempt.
fn tried(event: &Event) -> Option<&StepPath> {
    match event {
        Event::AttemptStarted { path, .. }
        | Event::RetryScheduled { path, .. }
        | Event::SessionSeen { path, .. }
        | Event::HostedClaimed { path, .. }
        | Event::HostedReturned { path, .. }
        | Event::AttemptSucceeded { path, .. }
        | Event::AttemptFailed { path, .. }
        | Event::AttemptStopped { path, .. }
        | Event::StepEnded { path, .. } => Some(path),
        _ => None,
    }
}

fn attempt_span(run: &RunId, path: &StepPath, attempt: &Attempt, last: i64) -> Traced {
    let mut attributes = IndexMap::from([
        ("longhaul.path", json!(path)),
        ("longhaul.attempt", json!(attempt.attempt)),
        ("longhaul.status", json!(attempt.status)),
    ]);
    if let Some(agent) = &attempt.agent {
        attributes.insert("gen_ai.operation.name", json!("invoke_agent"));
        attributes.insert("gen_ai.agent.name", json!(agent));
        attributes.insert("gen_ai.provider.name", json!(agent));
    }
    if let Some(session) = &attempt.session {
        attributes.insert("gen_ai.conversation.id", json!(session));
    }
    if let Some(usage) = &attempt.usage {
        attributes.insert("gen_ai.usage.input_tokens", json!(usage.input_tokens));
        attributes.insert("gen_ai.usage.output_tokens", json!(usage.output_tokens));
        attributes.insert("longhaul.usd", json!(usage.usd));
    }
    if let Some(error) = &attempt.error {
        attributes.insert("error.type", json!(error.class));
    }
    let key = TaskKey::new(path, attempt.attempt);
    Traced {
        id: id(run, &format!("{key} {}", attempt.started_at)),
        parent: Some(id(run, &path.to_string())),
        name: key.to_string(),
        from: attempt.started_at,
        to: attempt.ended_at.unwrap_or(last),
        error: attempt.error.as_ref().map(|error| error.message.clone()),
        attributes,
    }
}

/// The id of a span, from its content.
fn id(run: &RunId, about: &str) -> String {
    hex(format!("{run}\n{about}").as_bytes(), 8)
}

fn hex(text: &[u8], bytes: usize) -> String {
    blake3::hash(text).to_hex()[..2 * bytes].to_owned()
}
