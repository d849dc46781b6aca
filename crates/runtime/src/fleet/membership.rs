//! This engine as a member of a fleet: its labels, and the waiting tasks that it claims.
//!
//! **Invariant:** the loop of a run starts a claimed attempt only after it has recorded the claim. The next engine that
//! reads the tasks of the run finds claimed attempts that did not start.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_core::decide::{Place, Start, agent_label, agent_of_label};
use longhaul_core::event::OnHostLost;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::task::TaskKey;
use longhaul_store::{Caps, Claim, Task, Worker};

use crate::engine::{Error, Shared};
use crate::execute::agent_defaults::AgentDefaults;
use crate::execute::kinds::prompt;
use crate::execute::permits::Promise;
use crate::run::run_loop::Loaded;

/// An attempt by step and number.
pub(crate) type Attempt = (StepPath, u32);

/// The attempt of a task.
pub(crate) fn attempt_of(key: &str) -> Option<Attempt> {
    key.parse::<TaskKey>().ok()?.of_step()
}

/// An engine as a member of a fleet.
#[derive(Debug, Clone, Default)]
pub struct Membership {
    /// The machine and the checkout, if machines share the store.
    pub host: Option<String>,
    /// The project of the checkout, if machines share the store and the project is known.
    pub project: Option<String>,
    /// The name of this worker for people.
    pub name: String,
    /// The labels of this worker. A step that asks for a label goes to a worker that has it.
    pub labels: Vec<String>,
    /// The most attempts that all workers together run at once.
    pub caps: Caps,
    /// How long a machine may be silent before a run that needs it asks a person.
    pub host_grace_ms: i64,
    /// What a run does if its machine is silent for longer.
    pub when_gone: OnHostLost,
    /// The git remote that gets the files of runs, so that other machines can continue with them.
    pub carry: Option<String>,
}

/// The tasks that this engine claimed and has not started.
#[derive(Debug, Default)]
pub(crate) struct ClaimedTasks {
    runs: Mutex<HashMap<RunId, (Vec<Attempt>, Promise)>>,
    has_worker: AtomicBool,
}

impl ClaimedTasks {
    /// Removes and returns the claimed attempts of a run and their promised permits. The caller starts them.
    pub(crate) fn of(&self, run: &RunId) -> (Vec<Attempt>, Promise) {
        self.runs.lock().ok().and_then(|mut runs| runs.remove(run)).unwrap_or_default()
    }

    /// Whether no claimed task waits to start.
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

    /// Says whether a worker claims the tasks of all runs.
    pub(crate) fn leave_to_worker(&self, is_there: bool) {
        self.has_worker.store(is_there, Ordering::SeqCst);
    }

    pub(crate) fn has_worker(&self) -> bool {
        self.has_worker.load(Ordering::SeqCst)
    }
}

/// Claims waiting tasks that fit this worker, as many as it can start. Returns their runs.
pub(crate) async fn claim_tasks(shared: &Shared, run: Option<&RunId>) -> Result<Vec<RunId>, Error> {
    let mut promise = shared.permits.promise(shared.leases.len(), |room| room);
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

/// The agents of the attempts that are about to start, if caps count the turns of these agents on all machines.
pub(crate) fn counted_agents(shared: &Shared, loaded: &Loaded, starts: &[Start]) -> HashMap<StepPath, String> {
    let caps = &shared.options.member.caps;
    if !counts_agents(caps) {
        return HashMap::new();
    }
    let counted = |start: &Start| {
        let told = AgentDefaults::for_step(shared, &loaded.plan.0, loaded.state.started.as_ref(), start.step);
        let is_counted = |name: &String| caps.labels.contains_key(&agent_label(name));
        Some((start.path.clone(), prompt::names(shared, start, &told)?.into_iter().find(is_counted)?))
    };
    starts.iter().filter_map(counted).collect()
}

fn counts_agents(caps: &Caps) -> bool {
    caps.labels.keys().any(|label| agent_of_label(label).is_some())
}

/// Decides where attempts run. `decide` gets the place of this engine and returns how many attempts start here. Their
/// permits are promised.
pub(crate) fn with_placement(
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
        Some(_) => shared.permits.promise(shared.leases.len(), |room| decide(place(room))),
        // On one machine, another worker has no more resources than this one.
        None => {
            decide(place(usize::MAX));
            Promise::default()
        }
    }
}

/// Finds the agent for prompts that name none, if caps count the turns of agents.
pub(crate) async fn know_agents(shared: &Shared) {
    if counts_agents(&shared.options.member.caps) {
        prompt::first_there(shared).await;
    }
}

impl Shared {
    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.options.lease.as_millis()).unwrap_or(i64::MAX)
    }

    /// The claim of this engine, for at most `limit` tasks that fit its labels.
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

    /// The entry of this engine in the list of workers.
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
