//! Finds out how a run continues after a command.

use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use tokio::time::Instant;

use super::Committed;
use crate::engine::{Engine, Error, Shared};
use crate::fleet::roster::is_silent;
use crate::run::attendance::is_driven;
use crate::run::recover::{is_dead, is_gone};

/// How often to check whether an engine has changed the run.
const LOOK: Duration = Duration::from_millis(50);

/// How a run continues after a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Follow {
    /// An engine runs it, and continues.
    Continues,
    /// No engine runs it: the user has to start one.
    NeedsEngine,
    /// It waits for something else: a person, a signal, a time.
    Waits,
    /// It is paused.
    Paused,
    /// A person stopped it.
    Stopped,
    /// The client that hosts it asks for its next steps.
    Client,
    /// It is over.
    Finished {
        /// How it ended.
        outcome: Outcome,
        /// The reason, if it is known.
        message: Option<String>,
    },
    /// The command is stored, but no engine has recorded it yet.
    Stored,
}

impl Follow {
    /// One word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Continues => "continues",
            Self::NeedsEngine => "needs_engine",
            Self::Waits => "waits",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Client => "client",
            Self::Finished { outcome: Outcome::Success, .. } => "succeeded",
            Self::Finished { outcome: Outcome::Failure, .. } => "failed",
            Self::Finished { outcome: Outcome::Cancelled, .. } => "cancelled",
            Self::Stored => "stored",
        }
    }
}

pub(super) async fn of(
    engine: &Engine,
    run: &RunId,
    committed: &Committed,
    patience: Duration,
) -> Result<Follow, Error> {
    let state = &committed.state;
    if let Some(finished) = &state.finished {
        return Ok(Follow::Finished { outcome: finished.outcome, message: finished.message.clone() });
    }
    // A run that cannot be read has no state, and is over.
    if state.started.is_none() {
        return Ok(Follow::Finished { outcome: Outcome::Cancelled, message: None });
    }
    if state.is_stopped() {
        return Ok(Follow::Stopped);
    }
    if state.paused {
        return Ok(Follow::Paused);
    }
    if state.is_hosted() {
        return Ok(Follow::Client);
    }
    if committed.is_settled && state.running() == 0 {
        return Ok(Follow::Waits);
    }
    let is_run = is_run(&engine.shared, run).await? || shows_itself(engine, run, committed.event.seq, patience).await?;
    Ok(if is_run { Follow::Continues } else { Follow::NeedsEngine })
}

/// Whether an engine is known to run this run.
async fn is_run(shared: &Shared, run: &RunId) -> Result<bool, Error> {
    if shared.notifier.is_heard(run) || is_driven(&shared.options.runs_dir, run) || is_engine_there(shared).await? {
        return Ok(true);
    }
    let tasks = shared.store.tasks(run).await?;
    Ok(tasks.iter().any(|task| task.worker.is_some() && !is_gone(shared, task)))
}

/// Whether a worker is there that drives all runs of the store. A worker with a login takes steps and decides nothing.
pub(crate) async fn is_engine_there(shared: &Shared) -> Result<bool, Error> {
    if shared.taken.has_worker() {
        return Ok(true);
    }
    let now = shared.clock.now_ms();
    let drives = |worker: &longhaul_store::Worker| {
        !is_silent(worker.seen_ms, now) && !is_dead(worker.id.as_str()) && worker.id.login().is_none()
    };
    Ok(shared.store.workers().await?.iter().any(|listed| drives(&listed.worker)))
}

/// Whether an engine changes the run within the time.
async fn shows_itself(engine: &Engine, run: &RunId, seq: u64, patience: Duration) -> Result<bool, Error> {
    let until = Instant::now() + patience;
    loop {
        let row = engine.row(run).await?;
        if row.is_some_and(|row| row.last_seq > seq) {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        tokio::time::sleep(LOOK).await;
    }
}
