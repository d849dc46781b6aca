//! A new run that shares the past of another one.

use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::decide::Planner;
use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::origin::Origin;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Plan;
use longhaul_core::state::{State, StepInst};
use longhaul_store::Blob;

use crate::engine::{Error, Shared, new_run_id};
use crate::run::approvals;
use crate::run::codec;
use crate::run::record::{Extras, record};
use crate::run::run_loop::load;

/// What a run that shares the past of another one is made with.
#[derive(Debug, Clone)]
pub struct ForkRequest {
    /// The step that is the first to be done again.
    pub at: StepPath,
    /// Inputs that differ.
    pub inputs: IndexMap<String, Json>,
    /// The id, where the caller wants to choose it.
    pub run: Option<RunId>,
    /// What started it; as it was with the other run, if nothing is said.
    pub trigger: Option<Json>,
    /// Who starts it; the one who started the other run, if nothing is said.
    pub owner: Option<Origin>,
}

impl ForkRequest {
    /// From a step on, and else like the other run.
    pub fn from(at: StepPath) -> Self {
        Self { at, inputs: IndexMap::new(), run: None, trigger: None, owner: None }
    }
}

/// A new run with the events of another one up to the first attempt of a step.
pub(crate) async fn fork(shared: &Arc<Shared>, from: &RunId, request: ForkRequest) -> Result<RunId, Error> {
    let ForkRequest { at, inputs, run, trigger, owner } = request;
    let at = &at;
    let owner = match owner {
        Some(owner) => Some(approvals::with_ancestors(shared, owner).await?),
        None => None,
    };
    let source = load(shared, from).await?;
    if source.state.find(at).is_none() {
        return Err(Error::Refused(format!("no step `{at}` was reached in {from}")));
    }
    let run = run.unwrap_or_else(|| new_run_id(shared.clock.now_ms()));
    let rows = shared.store.read(from, 0, usize::MAX >> 1).await?;
    let mut state = State::default();
    let (plan, index) = (&source.plan.0, &source.plan.1);
    let (mut events, mut blobs) = (Vec::new(), vec![plan_blob(plan)?]);
    for row in rows {
        let mut envelope = codec::decode(row, shared.store.as_ref()).await?;
        if begins(&envelope.event, at) {
            break;
        }
        if let Event::RunStarted(started) = &mut envelope.event {
            started.forked = Some((from.to_string(), at.clone()));
            started.inputs.extend(inputs.clone());
            started.about.insert("id".to_owned(), Json::String(run.to_string()));
            started.trigger = trigger.clone().unwrap_or_else(|| std::mem::take(&mut started.trigger));
            started.owner = owner.clone().or(started.owner.take());
        }
        // Who could answer there cannot answer here.
        if let Event::QuestionAsked { key: Some(key), .. } = &mut envelope.event {
            *key = approvals::fresh(&mut blobs);
        }
        state.apply(plan, index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        events.push(envelope);
    }
    // Attempts that were open at that moment belong to the other run.
    let stopped =
        |step: &StepInst| Event::AttemptStopped { path: step.path.clone(), attempt: step.attempts, usage: None };
    let back = |step: &StepInst| Event::HandedBack { path: step.path.clone(), attempt: step.attempts };
    let open: Vec<Event> = state.open_attempts().map(stopped).chain(state.handed().map(back)).collect();
    for event in open {
        let envelope = Envelope { v: VERSION, seq: state.seq + 1, at: shared.clock.now_ms(), event };
        state.apply(plan, index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        events.push(envelope);
    }
    record(shared, &run, Planner { plan, index }, &state, &events, Extras { blobs, ..Extras::default() }).await?;
    shared.artifacts.write_run(&run, &state);
    Ok(run)
}

fn plan_blob(plan: &Plan) -> Result<Blob, Error> {
    Ok(Blob::new(serde_json::to_string(plan).map_err(Error::encoding)?.into_bytes()))
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
