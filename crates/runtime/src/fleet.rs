//! This engine as one of several: what it can do, and what it takes of the work that waits for a worker.
//!
//! **Invariant:** what was taken is begun by the loop of its run, after that is recorded; what was taken and not begun is
//! found again by whoever looks at the tasks of the run.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_core::decide::Place;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_store::{Caps, Claim, Listed, Task, Worker};

use crate::engine::{Engine, Error, Shared};

/// An attempt by step and number.
pub(crate) type Attempt = (StepPath, u32);

/// What an engine is among several.
#[derive(Debug, Clone, Default)]
pub struct Membership {
    /// The machine, where several share the store.
    pub host: Option<String>,
    /// What people call this worker.
    pub name: String,
    /// What it can do: steps that ask for a label go to somebody who has it.
    pub labels: Vec<String>,
    /// How many attempts all workers together may make at once.
    pub caps: Caps,
    /// How long a machine may be silent before a run that needs it asks what to do.
    pub host_grace_ms: i64,
}

/// What was taken and has not begun.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    runs: Mutex<HashMap<RunId, Vec<Attempt>>>,
    has_worker: AtomicBool,
}

impl Taken {
    /// What was taken of a run. Whoever asks begins it.
    pub(crate) fn of(&self, run: &RunId) -> Vec<Attempt> {
        self.runs.lock().ok().and_then(|mut runs| runs.remove(run)).unwrap_or_default()
    }

    /// Whether nothing was taken that has not begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.lock().is_ok_and(|runs| runs.is_empty())
    }

    fn add(&self, task: &Task) {
        let path = task.key.rsplit_once('@').and_then(|(path, _)| path.parse::<StepPath>().ok());
        if let (Ok(mut runs), Some(path)) = (self.runs.lock(), path) {
            runs.entry(task.run.clone()).or_default().push((path, task.attempt));
        }
    }

    /// From now on a worker takes work for all runs.
    pub(crate) fn leave_to_worker(&self, is_there: bool) {
        self.has_worker.store(is_there, Ordering::SeqCst);
    }

    pub(crate) fn has_worker(&self) -> bool {
        self.has_worker.load(Ordering::SeqCst)
    }
}

/// Takes what waits for a worker like this one, as much as it can begin; answers the runs of what it took.
pub(crate) async fn take(shared: &Shared, run: Option<&RunId>) -> Result<Vec<RunId>, Error> {
    let limit = shared.slots.room(shared.leases.len());
    if limit == 0 {
        return Ok(Vec::new());
    }
    let member = &shared.options.member;
    let claim = Claim {
        worker: shared.worker.clone(),
        labels: member.labels.clone(),
        run: run.cloned(),
        limit,
        caps: member.caps.clone(),
        now_ms: shared.clock.now_ms(),
        lease_ms: shared.lease_ms(),
    };
    let tasks = shared.store.claim(claim).await?;
    tasks.iter().for_each(|task| shared.taken.add(task));
    let mut runs: Vec<RunId> = tasks.into_iter().map(|task| task.run).collect();
    runs.sort();
    runs.dedup();
    Ok(runs)
}

/// Answers with where this engine stands.
pub(crate) fn with_place<T>(shared: &Shared, answer: impl FnOnce(Place<'_>) -> T) -> T {
    let member = &shared.options.member;
    let is_counted = |labels: &[String]| member.caps.count(labels);
    // On one machine another worker has no more to work with than this one.
    let room = match member.host {
        Some(_) => shared.slots.room(shared.leases.len()),
        None => usize::MAX,
    };
    answer(Place { host: member.host.as_deref(), labels: &member.labels, room, is_counted: &is_counted })
}

impl Shared {
    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.options.lease.as_millis()).unwrap_or(i64::MAX)
    }

    /// This engine as a worker that is there now.
    pub(crate) fn as_worker(&self, since_ms: i64) -> Worker {
        let member = &self.options.member;
        Worker {
            id: self.worker.clone(),
            name: member.name.clone(),
            host: member.host.clone().unwrap_or_default(),
            labels: member.labels.clone(),
            slots: u32::try_from(self.options.attempts_max).unwrap_or(u32::MAX),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since_ms,
            seen_ms: self.clock.now_ms(),
        }
    }
}

impl Engine {
    /// The workers that the store knows, whether they are still there or not.
    pub async fn workers(&self) -> Result<Vec<Listed>, Error> {
        Ok(self.shared.store.workers().await?)
    }
}
