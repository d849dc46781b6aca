//! Loads a run: its plan, and its state from a snapshot and the later events.

use std::sync::Arc;

use longhaul_core::decide::Planner;
use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::plan::Plan;
use longhaul_core::replan::Seen;
use longhaul_core::state::{LAYOUT, State};
use longhaul_store::{Restored, StoredEvent};
use serde::{Deserialize, Serialize};

use crate::engine::{Error, Shared};
use crate::run::codec;

/// How many events to read at once.
const PAGE: usize = 1000;

/// A run with its plan and state.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The plan, with its index.
    pub plan: Arc<(Plan, Index)>,
    /// The current state.
    pub state: State,
    /// The last event of the newest snapshot; 0 if there is none.
    pub(crate) snapshot_seq: u64,
}

/// Loads a run's plan and state from its newest snapshot and the later events.
pub(crate) async fn load(shared: &Shared, run: &RunId) -> Result<Loaded, Error> {
    let Restored { snapshot, events: mut rows } = shared.store.restore(run, PAGE).await?;
    let mut state = State::default();
    if let Some((seq, bytes)) = snapshot {
        match restored(&bytes).filter(|state| state.seq == seq) {
            Some(restored) => state = restored,
            // Another version wrote the snapshot; the events still have everything.
            None => rows = shared.store.read(run, 0, PAGE).await?,
        }
    }
    replay(shared, run, state, rows).await
}

/// Loads a run without its snapshot.
pub(crate) async fn load_from_start(shared: &Shared, run: &RunId) -> Result<Loaded, Error> {
    let rows = shared.store.read(run, 0, PAGE).await?;
    replay(shared, run, State::default(), rows).await
}

/// A state, with the version of its layout.
#[derive(Serialize, Deserialize)]
pub(crate) struct Snapshot<T> {
    pub(crate) layout: u32,
    pub(crate) state: T,
}

/// The state in a snapshot, if this version of the program wrote the layout. In another layout, missing fields would
/// look empty.
fn restored(bytes: &[u8]) -> Option<State> {
    let snapshot: Snapshot<State> = codec::read(std::str::from_utf8(bytes).ok()?).ok()?;
    (snapshot.layout == LAYOUT).then_some(snapshot.state)
}

/// The content hash of the plan that a run has from an event on.
pub(crate) fn plan_of(event: &Event) -> Option<&str> {
    match event {
        Event::RunStarted(started) => Some(&started.plan),
        Event::PlanReplaced(replaced) => Some(&replaced.plan),
        _ => None,
    }
}

/// What every step of a run was given when it made its result, from the whole history.
pub(crate) async fn seen(shared: &Shared, run: &RunId) -> Result<Seen, Error> {
    let (mut state, mut seen) = (State::default(), Seen::default());
    let mut plan: Option<Arc<(Plan, Index)>> = None;
    loop {
        let rows = shared.store.read(run, state.seq, PAGE).await?;
        let last = rows.len() < PAGE;
        for row in rows {
            let envelope = codec::decode(row, shared.store.as_ref()).await?;
            if let Some(hash) = plan_of(&envelope.event) {
                plan = Some(shared.plan(hash).await?);
            }
            let Some((plan, index)) = plan.as_deref() else { continue };
            seen.look(Planner { plan, index }, &state, &envelope.event);
            state.apply(plan, index, &envelope).map_err(|error| Error::Damaged(error.0))?;
        }
        if last {
            return Ok(seen);
        }
    }
}

async fn replay(shared: &Shared, run: &RunId, mut state: State, mut rows: Vec<StoredEvent>) -> Result<Loaded, Error> {
    let snapshot_seq = state.seq;
    let mut plan = match &state.started {
        Some(started) => Some(shared.plan(&started.plan).await?),
        None => None,
    };
    loop {
        let last = rows.len() < PAGE;
        for row in rows {
            let envelope = codec::decode(row, shared.store.as_ref()).await?;
            if let Some(hash) = plan_of(&envelope.event) {
                plan = Some(shared.plan(hash).await?);
            }
            let known =
                plan.as_ref().ok_or_else(|| Error::Damaged("the run does not begin with its start".to_owned()))?;
            state.apply(&known.0, &known.1, &envelope).map_err(|error| Error::Damaged(error.0))?;
        }
        if last {
            break;
        }
        rows = shared.store.read(run, state.seq, PAGE).await?;
    }
    let plan = plan.ok_or_else(|| Error::UnknownRun(run.to_string()))?;
    Ok(Loaded { plan, state, snapshot_seq })
}
