//! Who drives a run in this process: one at a time.
//!
//! Another process is kept apart by the store's fences. In one process there are none: what another loop has begun would look
//! like work that nobody is at.
//!
//! **Invariant:** of a run, at most one loop of this engine is under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use longhaul_core::id::RunId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

/// Runs that are remembered before those are looked for that nobody drives any more.
const CLEARED_AT: usize = 64;

/// The runs that are driven.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    runs: HashMap<RunId, Arc<Turn<()>>>,
    /// How many may be remembered until the next clearing.
    room: usize,
}

impl Turns {
    /// Waits for the loop that drives a run now, if one does; `None` if that is not worth waiting for any more.
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
            // Whoever waits or drives holds a share; what nobody holds is over.
            known.runs.retain(|_, turn| Arc::strong_count(turn) > 1);
            known.room = CLEARED_AT.max(known.runs.len() * 2);
        }
        Arc::clone(known.runs.entry(run.clone()).or_default())
    }
}
