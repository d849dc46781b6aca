//! Starts a new run that shares the past of another one.

use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::decide::Planner;
use longhaul_core::event::{Envelope, Event, RunTrigger, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::origin::Origin;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Plan;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::{State, StepInst};
use longhaul_store::Blob;

use crate::engine::{Error, Shared, new_run_id};
use crate::run::approvals;
use crate::run::codec;
use crate::run::record::{Extras, record};
use crate::run::run_loop::{load, plan_of};

/// The values that a fork starts with.
#[derive(Debug, Clone)]
pub struct ForkRequest {
    /// The first step that runs again. `None` copies everything: then the fork gets another plan.
    pub at: Option<StepPath>,
    /// Inputs that differ.
    pub inputs: IndexMap<String, Json>,
    /// The id, if the caller chooses one.
    pub run: Option<RunId>,
    /// The trigger that starts it. `None` means the trigger of the original run.
    pub trigger: Option<RunTrigger>,
    /// The caller who starts it. `None` means the owner of the original run.
    pub owner: Option<Origin>,
}

impl ForkRequest {
    /// A fork at a step, otherwise like the original run.
    pub fn from(at: StepPath) -> Self {
        Self { at: Some(at), inputs: IndexMap::new(), run: None, trigger: None, owner: None }
    }
}

/// Creates a new run with the events of another one up to the first attempt of a step.
pub(crate) async fn fork(shared: &Arc<Shared>, from: &RunId, request: ForkRequest) -> Result<RunId, Error> {
    let ForkRequest { at, inputs, run, trigger, owner } = request;
    let owner = match owner {
        Some(owner) => Some(approvals::with_ancestors(shared, owner).await?),
        None => None,
    };
    let source = load(shared, from).await?;
    let unknown = at.as_ref().filter(|at| source.state.find(at).is_none());
    if let Some(at) = unknown {
        return Err(Rejection::not_found(format!("no step `{at}` was reached in {from}")).into());
    }
    let last = source.state.steps().last().map(|step| step.path.clone());
    let run = run.unwrap_or_else(|| new_run_id(shared.clock.now_ms()));
    let rows = shared.store.read(from, 0, usize::MAX >> 1).await?;
    let mut state = State::default();
    let mut planned = Arc::clone(&source.plan);
    let (mut events, mut blobs) = (Vec::new(), Vec::new());
    for row in rows {
        let mut envelope = codec::decode(row, shared.store.as_ref()).await?;
        if at.as_ref().is_some_and(|at| begins(&envelope.event, at)) {
            break;
        }
        if let Some(hash) = plan_of(&envelope.event) {
            planned = shared.plan(hash).await?;
            blobs.push(plan_blob(&planned.0)?);
            blobs.extend(source_blob(shared, &envelope.event).await?);
        }
        if let Event::RunStarted(started) = &mut envelope.event {
            started.forked = at.clone().or(last.clone()).map(|at| (from.to_string(), at));
            started.inputs.extend(inputs.clone());
            started.context.id = Some(run.to_string());
            started.trigger = trigger.clone().map(Box::new).or(started.trigger.take());
            started.owner = owner.clone().or(started.owner.take());
        }
        // The secrets of the original run do not work for the fork.
        if let Event::QuestionAsked { key: Some(key), .. } = &mut envelope.event {
            *key = approvals::fresh(&mut blobs);
        }
        state.apply(&planned.0, &planned.1, &envelope).map_err(|error| Error::Damaged(error.0))?;
        events.push(envelope);
    }
    let (plan, index) = (&planned.0, &planned.1);
    // Attempts that were open at that moment belong to the original run.
    let stopped =
        |step: &StepInst| Event::AttemptStopped { path: step.path.clone(), attempt: step.attempts, usage: None };
    let back = |step: &StepInst| Event::HostedReturned { path: step.path.clone(), attempt: step.attempts };
    let open: Vec<Event> = state.open_attempts().map(stopped).chain(state.hosted().map(back)).collect();
    for event in open {
        let envelope = Envelope { v: VERSION, seq: state.seq + 1, at: shared.clock.now_ms(), event };
        state.apply(plan, index, &envelope).map_err(|error| Error::Damaged(error.0))?;
        events.push(envelope);
    }
    record(shared, &run, Planner { plan, index }, &state, &events, Extras { blobs, ..Extras::default() }).await?;
    shared.artifacts.write_run(&run, &state);
    Ok(run)
}

fn plan_blob(plan: &Plan) -> Result<Blob, Error> {
    Ok(Blob::new(serde_json::to_string(plan).map_err(Error::encoding)?.into_bytes()))
}

/// The text of a plan that a run gets with an event.
async fn source_blob(shared: &Shared, event: &Event) -> Result<Option<Blob>, Error> {
    let source = match event {
        Event::RunStarted(started) => started.source.as_deref(),
        Event::PlanReplaced(replaced) => replaced.source.as_deref(),
        _ => None,
    };
    let Some(Ok(hash)) = source.map(|source| source.text.parse()) else { return Ok(None) };
    Ok(shared.store.blob(hash).await?.map(Blob::new))
}

fn begins(event: &Event, at: &StepPath) -> bool {
    match event {
        Event::AttemptStarted { path, .. } | Event::QuestionAsked { path, .. } | Event::WaitStarted { path, .. } => {
            path == at
        }
        Event::BodyOpened { path, .. } | Event::StepEnded { path, .. } | Event::StepSkipped { path, .. } => path == at,
        _ => false,
    }
}
