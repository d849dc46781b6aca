//! Lets only one loop of this process drive a run at a time.
//!
//! The fences of the store keep other processes apart. Within a process there are no fences: the attempts of another
//! loop would look like attempts without a worker.
//!
//! **Invariant:** at most one loop of this engine drives a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use longhaul_core::id::RunId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

/// How many runs to remember before the first clean-up.
const CLEARED_AT: usize = 64;

/// The runs that this process drives.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    runs: HashMap<RunId, Arc<Turn<()>>>,
    /// How many runs to remember before the next clean-up.
    room: usize,
}

impl Turns {
    /// Waits until no other loop drives the run; `None` if `stop` came first.
    pub(crate) async fn take(&self, run: &RunId, stop: &CancellationToken) -> Option<OwnedMutexGuard<()>> {
        let turn = self.of(run);
        tokio::select! {
            biased;
            guard = turn.lock_owned() => Some(guard),
            () = stop.cancelled() => None,
        }
    }

    fn of(&self, run: &RunId) -> Arc<Turn<()>> {
        let Ok(mut known) = self.known.lock() else { return Arc::default() };
        if known.runs.len() >= known.room {
            // A loop that waits or drives holds a reference. A run without references is over.
            known.runs.retain(|_, turn| Arc::strong_count(turn) > 1);
            known.room = CLEARED_AT.max(known.runs.len() * 2);
        }
        Arc::clone(known.runs.entry(run.clone()).or_default())
    }
}
