//! Coming back: who of the workers is alive, what was lost with the dead ones, and driving everything that waits.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_store::{Query, Task, WorkerId};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};

/// How often a worker looks for work that nobody told it about.
const LOOK_AROUND: Duration = Duration::from_secs(2);

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

/// Attempts of a run that nobody makes any more: their worker is dead, or its lease has run out.
pub(crate) async fn lost_attempts(shared: &Shared, run: &RunId, state: &State) -> Result<Vec<(StepPath, u32)>, Error> {
    if state.open_attempts().next().is_none() {
        return Ok(Vec::new());
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
    Ok(open.map(|step| (step.path.clone(), step.attempts)).collect())
}

/// Drives every run that has something to do: mail, a timer that is due, or work that was left behind.
pub(crate) async fn work(engine: &Engine, stop: CancellationToken) -> Result<(), Error> {
    let busy: Arc<Mutex<HashSet<RunId>>> = Arc::default();
    let tasks = TaskTracker::new();
    let _renewing = engine.keep_leases();
    let mut changes = engine.shared.store.watch();
    while !stop.is_cancelled() {
        changes.borrow_and_update();
        for run in ready(&engine.shared).await? {
            if !busy.lock().await.insert(run.clone()) {
                continue;
            }
            let (engine, busy, stop) = (engine.clone(), Arc::clone(&busy), stop.clone());
            tasks.spawn(async move {
                // A run that can not be driven now is found again at the next look.
                let _ = engine.nudge(&run, &stop).await;
                busy.lock().await.remove(&run);
            });
        }
        tokio::select! {
            () = stop.cancelled() => {}
            _ = changes.changed() => tokio::time::sleep(Duration::from_millis(20)).await,
            () = tokio::time::sleep(LOOK_AROUND) => {}
        }
    }
    tasks.close();
    tasks.wait().await;
    Ok(())
}

/// Runs that somebody should look at.
async fn ready(shared: &Shared) -> Result<Vec<RunId>, Error> {
    let now = shared.clock.now_ms();
    let mut runs = shared.store.with_mail(1000).await?;
    runs.extend(shared.store.due(now, 1000).await?.into_iter().map(|timer| timer.run));
    let active = Query { statuses: vec!["running".to_owned()], limit: 1000, ..Query::default() };
    for row in shared.store.runs(active).await? {
        let held = shared.store.tasks(&row.run).await?;
        let cared_for = held.iter().any(|task| {
            let gone = task.worker.as_ref().is_none_or(|worker| is_dead(worker.as_str()));
            !gone && task.lease_until_ms > now
        });
        if !cared_for {
            runs.push(row.run);
        }
    }
    runs.sort();
    runs.dedup();
    Ok(runs)
}
