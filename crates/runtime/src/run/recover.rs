//! Recovery: finds the workers that are alive, and the attempts that dead ones left.

use longhaul_agents::process;
pub use longhaul_agents::process::is_dead;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_core::task::TaskKey;
use longhaul_store::{Store, Task, WorkerId};

use crate::engine::{Error, Shared};
use crate::fleet::reports;

/// The name of this process as a worker.
pub(crate) fn this_worker(store: &dyn Store) -> WorkerId {
    let worker = WorkerId::new(process::own_name());
    store.scope().map_or(worker.clone(), |scope| worker.of_login(scope.login()))
}

/// Attempts without a living worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orphans {
    /// Attempts that are lost with their worker.
    pub(crate) lost: Vec<(StepPath, u32)>,
    /// Attempts whose agent outlived the worker.
    pub(crate) alive: Vec<(StepPath, u32)>,
    /// Attempts that wait for a worker; the one that took them is gone.
    pub(crate) released: Vec<(StepPath, u32)>,
    /// Attempts that wait for a worker, and that this one has taken.
    pub(crate) taken: Vec<(StepPath, u32)>,
}

impl Orphans {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.lost, &self.alive, &self.released, &self.taken].iter().all(|attempts| attempts.is_empty())
    }
}

/// Whether no other process works on a task: it has no worker, the worker is dead or this process, or its lease ended.
pub(crate) fn is_gone(shared: &Shared, task: &Task) -> bool {
    match &task.worker {
        Some(worker) if *worker == shared.worker => true,
        Some(worker) => is_dead(worker.as_str()) || is_over(shared, task),
        None => true,
    }
}

/// Whether the lease of a task has ended, and its worker had the chance to renew it.
pub(crate) fn is_over(shared: &Shared, task: &Task) -> bool {
    let now_ms = shared.clock.now_ms();
    shared.awake.looks(now_ms, shared.lease_ms()) && task.lease_until_ms <= now_ms
}

/// Leaves out attempts whose end is reported. Their worker may be gone.
async fn forget_reported(
    shared: &Shared,
    run: &RunId,
    tasks: &[Task],
    open: &mut Vec<(StepPath, u32)>,
) -> Result<(), Error> {
    for at in (0..open.len()).rev() {
        let key = TaskKey::new(&open[at].0, open[at].1).to_string();
        let task = tasks.iter().find(|task| task.key == key);
        if let Some(task) = task
            && reports::has_ended(shared, run, task).await?
        {
            open.remove(at);
        }
    }
    Ok(())
}

/// Attempts of a run without a living worker: the worker is dead, or its lease has ended.
pub(crate) async fn orphans(shared: &Shared, run: &RunId, state: &State) -> Result<Orphans, Error> {
    if state.open_attempts().chain(state.queued()).next().is_none() {
        return Ok(Orphans::default());
    }
    let tasks = shared.store.tasks(run).await?;
    let gone = |task: &Task| is_gone(shared, task);
    let open = state.open_attempts().filter(|step| {
        let key = step.task().to_string();
        tasks.iter().find(|task| task.key == key).is_none_or(gone)
    });
    let mut open: Vec<(StepPath, u32)> = open.map(|step| (step.path.clone(), step.attempts)).collect();
    forget_reported(shared, run, &tasks, &mut open).await?;
    let has_agent = |(path, attempt): &(StepPath, u32)| shared.artifacts.has_agent(run, path, *attempt);
    let (alive, lost) = open.into_iter().partition(has_agent);
    let (mut released, mut taken) = (Vec::new(), Vec::new());
    for step in state.queued() {
        let key = step.task().to_string();
        let attempt = (step.path.clone(), step.attempts);
        match tasks.iter().find(|task| task.key == key) {
            Some(task) if task.worker.is_none() => {}
            Some(task) if task.worker.as_ref() == Some(&shared.worker) => taken.push(attempt),
            Some(task) if !gone(task) => {}
            Some(_) => released.push(attempt),
            // The history has changed meanwhile, and the loop reads it again.
            None => {}
        }
    }
    Ok(Orphans { lost, alive, released, taken })
}
