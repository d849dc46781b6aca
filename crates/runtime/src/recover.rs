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

/// Whether nobody works on a task any more, as far as others than this process can do so.
pub(crate) fn is_gone(shared: &Shared, task: &Task) -> bool {
    match &task.worker {
        Some(worker) if *worker == shared.worker => true,
        Some(worker) => is_dead(worker.as_str()) || task.lease_until_ms <= shared.clock.now_ms(),
        None => true,
    }
}

/// Attempts of a run that nobody makes any more: their worker is dead, or its lease has run out.
pub(crate) async fn lost_attempts(shared: &Shared, run: &RunId, state: &State) -> Result<Vec<(StepPath, u32)>, Error> {
    if state.open_attempts().next().is_none() {
        return Ok(Vec::new());
    }
    let tasks = shared.store.tasks(run).await?;
    let gone = |task: &Task| is_gone(shared, task);
    let open = state.open_attempts().filter(|step| {
        let key = format!("{}@{}", step.path, step.attempts);
        tasks.iter().find(|task| task.key == key).is_none_or(gone)
    });
    Ok(open.map(|step| (step.path.clone(), step.attempts)).collect())
}
