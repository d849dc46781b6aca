//! Coming back: who of the workers is alive, and what was lost with the dead ones.

use longhaul_agents::process;
pub use longhaul_agents::process::is_dead;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_store::{Task, WorkerId};

use crate::engine::{Error, Shared};

/// The name of this process as a worker.
pub(crate) fn this_worker() -> WorkerId {
    WorkerId::new(process::own_name())
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
