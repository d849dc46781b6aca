//! This engine as one of several: what it can do, and what it takes of the work that waits for a worker.
//!
//! **Invariant:** what was taken is begun by the loop of its run, after that is recorded; what was taken and not begun is
//! found again by whoever looks at the tasks of the run.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_core::decide::{Place, Start, agent_label, agent_of_label};
use longhaul_core::event::Gone;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_store::{Caps, Claim, Task, Worker};

use crate::engine::{Error, Shared};
use crate::execute::agent_defaults::Told;
use crate::execute::kinds::prompt;
use crate::execute::permits::Promise;
use crate::run::run_loop::Loaded;

/// An attempt by step and number.
pub(crate) type Attempt = (StepPath, u32);

/// The attempt that a task is about.
pub(crate) fn attempt_of(key: &str) -> Option<Attempt> {
    let (path, attempt) = key.rsplit_once('@')?;
    Some((path.parse().ok()?, attempt.parse().ok()?))
}

/// What an engine is among several.
#[derive(Debug, Clone, Default)]
pub struct Membership {
    /// The machine and the checkout, where several share the store.
    pub host: Option<String>,
    /// Which project the checkout is of, where several share the store and that is known.
    pub project: Option<String>,
    /// What people call this worker.
    pub name: String,
    /// What it can do: steps that ask for a label go to somebody who has it.
    pub labels: Vec<String>,
    /// How many attempts all workers together may make at once.
    pub caps: Caps,
    /// How long a machine may be silent before a run that needs it asks what to do.
    pub host_grace_ms: i64,
    /// What is done about a machine that is silent for longer.
    pub when_gone: Gone,
    /// The git remote to which the files of runs are sent, so that other machines can continue with them.
    pub carry: Option<String>,
}

/// What was taken and has not begun.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    runs: Mutex<HashMap<RunId, (Vec<Attempt>, Promise)>>,
    has_worker: AtomicBool,
}

impl Taken {
    /// What was taken of a run, and what is promised to it. Whoever asks begins it.
    pub(crate) fn of(&self, run: &RunId) -> (Vec<Attempt>, Promise) {
        self.runs.lock().ok().and_then(|mut runs| runs.remove(run)).unwrap_or_default()
    }

    /// Whether nothing was taken that has not begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.lock().is_ok_and(|runs| runs.is_empty())
    }

    fn add(&self, task: &Task, promise: Promise) {
        if let (Ok(mut runs), Some(attempt)) = (self.runs.lock(), attempt_of(&task.key)) {
            let (attempts, promised) = runs.entry(task.run.clone()).or_default();
            attempts.push(attempt);
            promised.join(promise);
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
    let mut promise = shared.slots.promise(shared.leases.len(), |room| room);
    let limit = promise.count();
    if limit == 0 {
        return Ok(Vec::new());
    }
    let tasks = shared.store.claim(shared.as_claim(run.cloned(), limit)).await?;
    tasks.iter().for_each(|task| shared.taken.add(task, promise.one()));
    let mut runs: Vec<RunId> = tasks.into_iter().map(|task| task.run).collect();
    runs.sort();
    runs.dedup();
    Ok(runs)
}

/// The agents of what is about to begin whose turns are counted over all machines.
pub(crate) fn counted_agents(shared: &Shared, loaded: &Loaded, starts: &[Start]) -> HashMap<StepPath, String> {
    let caps = &shared.options.member.caps;
    if !counts_agents(caps) {
        return HashMap::new();
    }
    let counted = |start: &Start| {
        let told = Told::for_step(shared, &loaded.plan.0, loaded.state.started.as_ref(), start.step);
        let is_counted = |name: &String| caps.labels.contains_key(&agent_label(name));
        Some((start.path.clone(), prompt::names(shared, start, &told)?.into_iter().find(is_counted)?))
    };
    starts.iter().filter_map(counted).collect()
}

fn counts_agents(caps: &Caps) -> bool {
    caps.labels.keys().any(|label| agent_of_label(label).is_some())
}

/// Decides with where this engine stands, where these agents are counted; `decide` answers how many attempts are made here. Their
/// slots are promised.
pub(crate) fn with_place(
    shared: &Shared,
    agents: &HashMap<StepPath, String>,
    decide: impl FnOnce(Place<'_>) -> usize,
) -> Promise {
    let member = &shared.options.member;
    let is_counted = |labels: &[String]| member.caps.count(labels);
    let counted_agent = |start: &Start| agents.get(&start.path).cloned();
    let (host, labels) = (member.host.as_deref(), &member.labels);
    let place = |room| Place { host, labels, room, is_counted: &is_counted, counted_agent: &counted_agent };
    match host {
        Some(_) => shared.slots.promise(shared.leases.len(), |room| decide(place(room))),
        // On one machine another worker has no more to work with than this one.
        None => {
            decide(place(usize::MAX));
            Promise::default()
        }
    }
}

/// Finds out who makes prompts that name nobody, where the turns of agents are counted.
pub(crate) async fn know_agents(shared: &Shared) {
    if counts_agents(&shared.options.member.caps) {
        prompt::first_there(shared).await;
    }
}

impl Shared {
    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.options.lease.as_millis()).unwrap_or(i64::MAX)
    }

    /// What this engine asks for: so much of what it can do.
    pub(crate) fn as_claim(&self, run: Option<RunId>, limit: usize) -> Claim {
        let member = &self.options.member;
        Claim {
            worker: self.worker.clone(),
            labels: member.labels.clone(),
            run,
            limit,
            caps: member.caps.clone(),
            now_ms: self.clock.now_ms(),
            lease_ms: self.lease_ms(),
        }
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
