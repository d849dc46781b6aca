//! Builds and writes one commit: events, and all rows of the store that follow from them.
//!
//! **Invariant:** the timers of a run in the store are those of its state. Its open tasks are its open attempts.

use std::collections::HashSet;

use longhaul_core::decide::Planner;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::State;
use longhaul_core::task::{TaskKey, TimerId};
use longhaul_core::view;
use longhaul_store::{Append, Blob, Head, MessageId, NewTask, TaskEnd, Timer, WorkerId};

use crate::engine::{Error, Shared};
use crate::fleet::reports::Reported;
use crate::run::admission;
use crate::run::codec;

/// The parts of a commit besides the events.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) blobs: Vec<Blob>,
    pub(crate) consumed: Vec<MessageId>,
    /// Timers that were set before the events.
    pub(crate) timers_before: Vec<(TimerId, i64)>,
    /// The attempt at `on_failure` that was open before the events.
    pub(crate) on_failure_before: Option<u32>,
    /// Tasks that end no matter which worker holds them.
    pub(crate) lost: Vec<(StepPath, u32)>,
    /// An attempt of another worker that may not record it itself.
    pub(crate) reported: Option<Reported>,
    /// Attempts whose result is no longer wanted. Their tasks end without a result.
    pub(crate) given_up: Vec<(StepPath, u32)>,
}

/// Records one commit: events, and all rows of the store that follow from them.
pub(crate) async fn record(
    shared: &Shared,
    run: &RunId,
    planner: Planner<'_>,
    state: &State,
    events: &[Envelope],
    extras: Extras,
) -> Result<(), Error> {
    append(shared, prepared(shared, run, planner, state, events, extras)?).await
}

/// Writes a commit. Writing the same commit twice succeeds.
pub(crate) async fn append(shared: &Shared, append: Append) -> Result<(), Error> {
    match shared.store.append(append).await {
        Ok(_) | Err(longhaul_store::Error::AlreadyApplied) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Builds a commit for the store.
pub(crate) fn prepared(
    shared: &Shared,
    run: &RunId,
    planner: Planner<'_>,
    state: &State,
    events: &[Envelope],
    extras: Extras,
) -> Result<Append, Error> {
    refuse_reserved(run)?;
    let mut blobs = extras.blobs;
    let rows = codec::encode_all(events, &mut blobs)?;
    let expected = events.first().map_or(0, |envelope| envelope.seq - 1);
    let mut append = Append::new(run.clone(), expected, rows);
    append.blobs = blobs;
    append.consumed = extras.consumed;
    append.head = Some(head(run, planner, state)?);
    timers(run, &extras.timers_before, &state.timers(planner.plan), &mut append);
    let makers = Makers { shared, lost: &extras.lost, reported: extras.reported.as_ref() };
    for envelope in events {
        tasks(makers, state, &envelope.event, &mut append);
    }
    on_failure(shared, extras.on_failure_before, state, events, &mut append);
    for (path, attempt) in &extras.given_up {
        end_task(&mut append, &TaskKey::new(path, *attempt), None);
    }
    Ok(append)
}

/// Rejects a run whose id is the name of one of Longhaul's own journals.
pub(crate) fn refuse_reserved(run: &RunId) -> Result<(), Error> {
    match run.is_reserved() {
        true => {
            let taken = Rejection::invalid(format!("`{run}` is reserved for Longhaul"));
            Err(taken.say("choose an id without `longhaul-` in front").into())
        }
        false => Ok(()),
    }
}

/// The changes that turn the timers before the events into those after them.
fn timers(run: &RunId, before: &[(TimerId, i64)], after: &[(TimerId, i64)], append: &mut Append) {
    let known: HashSet<&(TimerId, i64)> = before.iter().collect();
    let still: HashSet<&TimerId> = after.iter().map(|(id, _)| id).collect();
    let fresh = after.iter().filter(|timer| !known.contains(timer));
    append.timers_set =
        fresh.map(|(id, due_ms)| Timer { run: run.clone(), id: id.to_string(), due_ms: *due_ms }).collect();
    let gone = before.iter().filter(|(id, _)| !still.contains(id));
    append.timers_cleared = gone.map(|(id, _)| id.to_string()).collect();
}

/// The workers of the attempts in a commit.
#[derive(Clone, Copy)]
struct Makers<'a> {
    shared: &'a Shared,
    lost: &'a [(StepPath, u32)],
    reported: Option<&'a Reported>,
}

impl Makers<'_> {
    /// The worker of an attempt: this one, unless another one reports on it.
    fn of(&self, path: &StepPath, attempt: u32) -> WorkerId {
        let reported = self.reported.filter(|((of, number), _)| (of, *number) == (path, attempt));
        reported.map_or(&self.shared.worker, |(_, worker)| worker).clone()
    }

    fn held(&self, state: &State, path: &StepPath, attempt: u32) -> NewTask {
        let (worker, labels) = (Some(self.of(path, attempt)), labels_of(state, path));
        NewTask { worker, labels, ..new_task(self.shared, &TaskKey::new(path, attempt)) }
    }
}

/// The tasks that an event starts or ends.
fn tasks(makers: Makers<'_>, state: &State, event: &Event, append: &mut Append) {
    match event {
        // A client does a hosted attempt, so no worker gets a task.
        Event::AttemptStarted { hosted: true, .. } => {}
        Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } if result.by.is_some() => {}
        Event::AttemptStarted { path, attempt, queued: Some(labels), .. } => {
            append.tasks_started.push(queued_task(&TaskKey::new(path, *attempt), labels.clone()));
        }
        Event::AttemptStarted { path, attempt, .. } => {
            append.tasks_started.push(new_task(makers.shared, &TaskKey::new(path, *attempt)));
        }
        // From now on it belongs to this worker, under the same number.
        Event::AttemptAdopted { path, attempt } => {
            end_task(append, &TaskKey::new(path, *attempt), None);
            append.tasks_started.push(makers.held(state, path, *attempt));
        }
        // Only the worker that claimed it in the store can start it.
        Event::AttemptClaimed { path, attempt, .. } => {
            end_task(append, &TaskKey::new(path, *attempt), Some(makers.of(path, *attempt)));
            append.tasks_started.push(makers.held(state, path, *attempt));
        }
        Event::AttemptReleased { path, attempt } => {
            let key = TaskKey::new(path, *attempt);
            end_task(append, &key, None);
            append.tasks_started.push(queued_task(&key, labels_of(state, path)));
        }
        Event::AttemptSucceeded { path, attempt, .. }
        | Event::AttemptFailed { path, attempt, .. }
        | Event::AttemptStopped { path, attempt, .. } => {
            let worker = (!makers.lost.contains(&(path.clone(), *attempt))).then(|| makers.of(path, *attempt));
            end_task(append, &TaskKey::new(path, *attempt), worker);
        }
        _ => {}
    }
}

fn new_task(shared: &Shared, key: &TaskKey) -> NewTask {
    NewTask {
        key: key.to_string(),
        attempt: key.attempt(),
        worker: Some(shared.worker.clone()),
        lease_ms: shared.lease_ms(),
        labels: Vec::new(),
    }
}

/// A task without a worker. It waits for one with these labels.
fn queued_task(key: &TaskKey, labels: Vec<String>) -> NewTask {
    NewTask { key: key.to_string(), attempt: key.attempt(), worker: None, lease_ms: 0, labels }
}

fn labels_of(state: &State, path: &StepPath) -> Vec<String> {
    state.find(path).map(|step| step.labels().to_vec()).unwrap_or_default()
}

/// The task of `on_failure` after the events. Only the worker that holds it can record its end.
fn on_failure(shared: &Shared, before: Option<u32>, state: &State, events: &[Envelope], append: &mut Append) {
    let after = state.on_failure.open_attempt();
    if before == after {
        return;
    }
    if let Some(attempt) = before {
        let done = events.iter().any(|envelope| matches!(envelope.event, Event::OnFailureEnded { .. }));
        end_task(append, &TaskKey::OnFailure { attempt }, done.then(|| shared.worker.clone()));
    }
    if let Some(attempt) = after {
        append.tasks_started.push(new_task(shared, &TaskKey::OnFailure { attempt }));
    }
}

/// Ends a task once. A task that starts and ends in the same commit is left out.
fn end_task(append: &mut Append, key: &TaskKey, worker: Option<WorkerId>) {
    let (key, attempt) = (key.to_string(), key.attempt());
    let before = append.tasks_started.len();
    append.tasks_started.retain(|task| task.key != key);
    let ended = append.tasks_ended.iter().any(|task| task.key == key);
    if append.tasks_started.len() == before && !ended {
        append.tasks_ended.push(TaskEnd { key, attempt, worker });
    }
}

/// The row of the run in lists.
fn head(run: &RunId, planner: Planner<'_>, state: &State) -> Result<Head, Error> {
    let summary = serde_json::to_string(&view::brief(run.as_str(), planner.plan, state)).map_err(Error::encoding)?;
    Ok(Head {
        workflow: planner.plan.main().name.clone(),
        status: state.status_in(planner.plan).to_string(),
        summary,
        group: admission::group_of(planner.plan, state),
        parent: None,
    })
}
