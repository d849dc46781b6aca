//! Coming back: who of the workers is alive, and what was lost with the dead ones.

use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_store::{Task, WorkerId};
use uuid::Uuid;

use crate::engine::{Error, Shared};

/// The name of this process as a worker: host, process, start time, and a number that no other has.
pub(crate) fn this_worker() -> WorkerId {
    let pid = std::process::id();
    let start = start_time(pid).unwrap_or(0);
    WorkerId::new(format!("{}:{pid}:{start}:{}", host(), Uuid::new_v4().simple()))
}

/// Whether a worker of this machine is certainly gone. Of other machines nothing is known.
pub fn is_dead(worker: &str) -> bool {
    let mut parts = worker.split(':');
    let (Some(host_name), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    host_name == host() && start_time(pid) != Some(start)
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}.{}", name.trim().replace(':', "-"), boot.trim().get(..8).unwrap_or_default())
}

/// When a process began, in ticks since boot; `None` if it is gone or a zombie.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    (fields.first() != Some(&"Z")).then(|| fields.get(19)?.parse().ok()).flatten()
}

/// Attempts that nobody looks after any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orphans {
    /// Those that are lost with their worker.
    pub(crate) lost: Vec<(StepPath, u32)>,
    /// Those whose agent outlived it.
    pub(crate) alive: Vec<(StepPath, u32)>,
}

/// Attempts of a run that nobody looks after any more: their worker is dead, or its lease has run out.
pub(crate) async fn orphans(shared: &Shared, run: &RunId, state: &State) -> Result<Orphans, Error> {
    if state.open_attempts().next().is_none() {
        return Ok(Orphans::default());
    }
    let tasks = shared.store.tasks(run).await?;
    let now = shared.clock.now_ms();
    let gone = |task: &Task| match &task.worker {
        Some(worker) if *worker == shared.worker => true,
        Some(worker) => is_dead(worker.as_str()) || task.lease_until_ms <= now,
        None => true,
    };
    let open = state.open_attempts().filter(|step| {
        let key = format!("{}@{}", step.path, step.attempts);
        tasks.iter().find(|task| task.key == key).is_none_or(gone)
    });
    let open: Vec<(StepPath, u32)> = open.map(|step| (step.path.clone(), step.attempts)).collect();
    let has_agent = |(path, attempt): &(StepPath, u32)| shared.artifacts.has_agent(run, path, *attempt);
    let (alive, lost) = open.into_iter().partition(has_agent);
    Ok(Orphans { lost, alive })
}
