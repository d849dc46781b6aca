//! Finds out which runs have an engine.
//!
//! A worker drives all runs of its store, and greets the store. A process that drives one run in the foreground leaves a
//! note with its name in the folder of the run; between two steps nothing else shows that it is there.
//!
//! **Invariant:** this changes nothing but the note.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use longhaul_agents::private;
use longhaul_agents::process::is_alive;
use longhaul_core::id::RunId;
use longhaul_core::status::RunStatus;
use longhaul_core::view::{Brief, Standing, standing};
use longhaul_store::{Query, RunRow, Task};

use crate::engine::{Engine, Error, Shared};
use crate::run::command::is_engine_there;
use crate::run::recover::is_gone;
use crate::run::run_loop::Loaded;

/// The file with the name of the process that drives the run in the foreground.
const NOTE: &str = "driver";
/// No name of a process is longer.
const NAME_BYTES_MAX: u64 = 300;
/// How many open runs to read at once.
const PAGE: usize = 100;

/// The runs that have an engine, at one moment.
#[derive(Debug, Clone, Default)]
pub struct Attendance {
    /// A worker drives all runs of the store.
    has_worker: bool,
    /// Runs with an attempt that a living process makes.
    made: HashSet<RunId>,
    runs_dir: PathBuf,
}

impl Attendance {
    /// Whether an engine is there for a run.
    pub fn has(&self, run: &RunId) -> bool {
        self.has_worker || self.made.contains(run) || is_driven(&self.runs_dir, run)
    }
}

/// Whether a living process of this machine drives a run in the foreground.
pub(crate) fn is_driven(runs_dir: &Path, run: &RunId) -> bool {
    let file = runs_dir.join(run.as_str()).join(NOTE);
    let is_short = file.symlink_metadata().is_ok_and(|about| about.is_file() && about.len() <= NAME_BYTES_MAX);
    let name = is_short.then(|| std::fs::read_to_string(&file).ok()).flatten();
    name.is_some_and(|name| is_alive(&name))
}

impl Engine {
    /// Where a run stands, with whether an engine is there for it.
    pub async fn standing(&self, run: &RunId, loaded: &Loaded) -> Result<Standing, Error> {
        let stands = standing(run.as_str(), &loaded.plan.0, &loaded.state);
        let is_attended = loaded.state.is_hosted() || self.attendance().await?.has(run);
        Ok(stands.attended(run.as_str(), is_attended))
    }

    /// The runs of the store that have an engine now.
    pub async fn attendance(&self) -> Result<Attendance, Error> {
        let shared = &self.shared;
        let runs_dir = shared.options.runs_dir.clone();
        if is_engine_there(shared).await? {
            return Ok(Attendance { has_worker: true, runs_dir, ..Attendance::default() });
        }
        // At the end of time all leases have ended, so this lists all held tasks.
        let held = shared.store.expired(i64::MAX, usize::MAX >> 1).await?;
        let is_made = |task: &Task| match &task.worker {
            Some(worker) => *worker == shared.worker || !is_gone(shared, task),
            None => false,
        };
        let made = held.into_iter().filter(is_made).map(|task| task.run).collect();
        Ok(Attendance { has_worker: false, made, runs_dir })
    }
}

impl Engine {
    /// Whether there is something that a background engine must stay for: a run that is neither over nor stopped, or a
    /// trigger that may start one, or a message to people that is due later. A run that waits for a person counts, because it must continue after the answer; a run
    /// of a client does not.
    pub async fn is_needed(&self) -> Result<bool, Error> {
        if self.has_message_due() || self.registry().await?.triggers().any(|(_, armed)| armed.trigger.enabled) {
            return Ok(true);
        }
        let statuses =
            RunStatus::words_of([RunStatus::Queued, RunStatus::Running, RunStatus::Waiting, RunStatus::Paused]);
        let mut before = None;
        loop {
            let rows = self.list(Query { statuses: statuses.clone(), before, limit: PAGE, ..Query::default() }).await?;
            let is_hosted = |row: &RunRow| serde_json::from_str(&row.head.summary).is_ok_and(|of: Brief| of.is_hosted);
            if !rows.iter().all(is_hosted) {
                return Ok(true);
            }
            before = rows.last().map(|row| row.run.clone()).filter(|_| rows.len() == PAGE);
            if before.is_none() {
                return Ok(false);
            }
        }
    }
}

/// The note of a process that drives a run in the foreground. It goes with the process.
pub(crate) struct Driving(Option<PathBuf>);

impl Driving {
    pub(crate) fn note(shared: &Shared, run: &RunId) -> Self {
        let folder = shared.artifacts.run(run);
        let file = folder.join(NOTE);
        let written =
            private::create_dir_all(&folder).and_then(|()| private::replace(&file, shared.worker.as_str().as_bytes()));
        Self(written.is_ok().then_some(file))
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _ = std::fs::remove_file(file);
        }
    }
}
