//! Keeps the attempts of this engine its own, and lets go of those that are not any more.
//!
//! **Invariant:** an attempt whose lease another process can have taken over is stopped, not carried on: a process that
//! slept through its lease must not do what somebody else does again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_core::id::RunId;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::mailroom;

/// A task of the store: its run and its key.
type Key = (RunId, String);

/// The attempts that this engine makes, each with what stops it.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<Key, CancellationToken>>,
}

impl Leases {
    /// Remembers an attempt, whose task must be stored already, until the answer is dropped.
    pub(crate) fn hold(shared: &Arc<Shared>, key: Key, stop: CancellationToken) -> Held {
        if let Ok(mut held) = shared.leases.held.lock() {
            held.insert(key.clone(), stop);
        }
        Held { shared: Arc::clone(shared), key }
    }

    /// Whether somebody in this process is at it.
    pub(crate) fn holds(&self, run: &RunId, key: &str) -> bool {
        self.held.lock().is_ok_and(|held| held.contains_key(&(run.clone(), key.to_owned())))
    }

    /// How many attempts are held.
    pub(crate) fn len(&self) -> usize {
        self.held.lock().map(|held| held.len()).unwrap_or_default()
    }

    /// The attempts, as the store calls them.
    pub(crate) fn keys(&self) -> Vec<(RunId, String)> {
        self.held.lock().map(|held| held.keys().cloned().collect()).unwrap_or_default()
    }

    fn snapshot(&self) -> HashMap<Key, CancellationToken> {
        self.held.lock().map(|held| held.clone()).unwrap_or_default()
    }
}

/// An attempt that is being made.
pub(crate) struct Held {
    shared: Arc<Shared>,
    key: Key,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Ok(mut held) = self.shared.leases.held.lock() {
            held.remove(&self.key);
        }
    }
}

/// Renews, for as long as it is polled.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let lease = shared.options.lease;
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(lease / 4).await;
        // Taken before the question: what is begun meanwhile may be missing in the answer.
        let (asked, held) = (Instant::now(), shared.leases.snapshot());
        // Nothing is held, so there is nothing to keep. A login holds tasks that it must not begin yet.
        if held.is_empty() && shared.taken.is_empty() && shared.store.scope().is_none() {
            renewed = asked;
            continue;
        }
        // Nobody knows what a store thinks that does not answer: stop before the lease can end elsewhere, with time left to
        // kill what was started.
        let left = (renewed + lease / 4 * 3).saturating_duration_since(asked);
        match tokio::time::timeout(left, missing(&shared, &held, lease)).await {
            Ok(Some(missing)) => {
                renewed = asked;
                missing.iter().for_each(|stop| stop.cancel());
            }
            Ok(None) if renewed.elapsed() < lease / 4 * 3 => {}
            Ok(None) | Err(_) => held.values().for_each(CancellationToken::cancel),
        }
    }
}

/// What is held but not ours any more; `None` if the store does not answer.
async fn missing(
    shared: &Shared,
    held: &HashMap<Key, CancellationToken>,
    lease: Duration,
) -> Option<Vec<CancellationToken>> {
    let lease_ms = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
    let ours = shared.store.renew(&shared.worker, shared.clock.now_ms(), lease_ms).await.ok()?;
    // Who was told something while no hint came through hears of it now at the latest.
    let _ = mailroom::hand_out(shared).await;
    let is_ours = |key: &Key| ours.iter().any(|task| task.run == key.0 && task.key == key.1);
    Some(held.iter().filter(|(key, _)| !is_ours(key)).map(|(_, stop)| stop.clone()).collect())
}
