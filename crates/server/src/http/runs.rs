//! One run: its state, its events, and the outputs of its steps.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Envelope;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_draw::Picture;
use longhaul_runtime::{Engine, Error, Loaded};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{Question, questions_of};
use super::call::{Call, Reply};
use super::problem::Problem;

/// How many events to read at once.
const PAGE: usize = 2000;

/// A run with all data for its page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Run {
    run: RunId,
    /// The last event that this includes.
    seq: u64,
    #[serde(flatten)]
    glance: view::Run,
    /// Where it stands: running, stopped, waiting for a person or a time, without an engine, or over.
    standing: view::Standing,
    inputs: IndexMap<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked: Option<(String, StepPath)>,
    steps: Vec<view::StepView>,
    questions: Vec<Question>,
    cost: view::Cost,
    timeline: Vec<view::TimelineSpan>,
    critical_path: Vec<StepPath>,
    picture: Picture,
}

pub(super) async fn run(call: Call) -> Result<Reply, Problem> {
    let (run, loaded) = call.load().await?;
    let history = history(call.state().engine(), &run, loaded.state.seq).await?;
    let questions = questions_of(&call, &run, &loaded).await?;
    let Loaded { plan, state, .. } = &loaded;
    let (plan, now) = (&plan.0, call.state().engine().now_ms());
    let started = state.started.as_ref();
    let mut glance = view::run(plan, state, now);
    call.state().engine().say_what_holds_up(&run, state, &mut glance.why).await?;
    let above = started.and_then(|started| started.owner.as_ref()?.inside.first().cloned());
    let standing = call.state().engine().standing(&run, &loaded).await?;
    Reply::json(&Run {
        seq: state.seq,
        glance,
        standing,
        inputs: started.map(|started| started.inputs.clone()).unwrap_or_default(),
        parent: above.filter(|run| run != longhaul_core::origin::SOME_RUN),
        forked: started.and_then(|started| started.forked.clone()),
        steps: view::steps(plan, state, now),
        questions,
        cost: view::cost(plan, state),
        timeline: view::timeline(&history),
        critical_path: view::critical_path(plan, state),
        picture: longhaul_draw::picture(plan),
        run,
    })
}

/// The events of a run up to a number.
pub(super) async fn history(engine: &Engine, run: &RunId, until: u64) -> Result<Vec<Envelope>, Error> {
    let mut history: Vec<Envelope> = Vec::new();
    loop {
        let after = history.last().map_or(0, |last| last.seq);
        let page = engine.events(run, after, PAGE).await?;
        let is_last = page.len() < PAGE;
        history.extend(page.into_iter().filter(|envelope| envelope.seq <= until));
        if is_last || history.last().is_some_and(|last| last.seq >= until) {
            return Ok(history);
        }
    }
}

/// An event with its place in the history. Other fields depend on the kind of event.
#[derive(JsonSchema)]
#[schemars(rename = "Envelope")]
#[expect(dead_code, reason = "the schema of `Envelope`")]
struct Happened {
    v: u32,
    seq: u64,
    at: i64,
    event: String,
}

/// A page of events.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Events {
    #[schemars(with = "Vec<Happened>")]
    events: Vec<Envelope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

pub(super) async fn events(call: Call) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let after = call.number("after", 0, 0..=u64::MAX >> 1)?;
    let limit = usize::try_from(call.number("limit", 1000, 1..=5000)?).unwrap_or(1000);
    let mut events = call.state().engine().events(&run, after, limit + 1).await?;
    let has_more = events.len() > limit;
    events.truncate(limit);
    let next = events.last().map(|last| last.seq).filter(|_| has_more);
    Reply::json(&Events { events, next })
}

/// The whole output of a step.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    path: String,
    output: Json,
}

pub(super) async fn output(call: Call) -> Result<Reply, Problem> {
    let path = call.path()?;
    let (run, loaded) = call.load().await?;
    let step = loaded.state.find(&path);
    let step = step.ok_or_else(|| Problem::missing(format!("No step `{path}` was reached in {run}.")))?;
    Reply::json(&Output { path: path.to_string(), output: step.outcome.result.output.clone() })
}
