//! Renews the leases of this engine's attempts, and stops attempts whose lease is lost.
//!
//! A failed renewal proves nothing: the store may be away, or this process may have slept. So the engine asks the store
//! first. Attempts that the store still assigns to this engine continue, even after the end of the lease.
//!
//! **Invariant:** an attempt stops because of its lease only in two cases: the store says that it belongs to another
//! worker, or the store does not answer and another machine may have taken it over. Such an attempt does not count as
//! failed.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_core::id::RunId;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::run::notifier;

/// How many times to renew a lease before it ends. If machines share a store, an outage of five sixths of a lease must
/// not stop an attempt.
const RENEWALS: u32 = 4;
const RENEWALS_SHARED: u32 = 15;
/// One twelfth of a lease is left to stop an attempt before others may start it.
const LEFT: u32 = 12;
/// The store gets at least a quarter of a lease to answer, even if the lease ended while this process slept.
const ANSWER: u32 = 4;
/// After a failed renewal, the next one comes after one thirtieth of a lease.
const AGAIN: u32 = 30;

/// The run and the key of a task in the store.
type Key = (RunId, String);

/// The attempts that this engine runs, each with the token that stops it.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<Key, Holding>>,
}

/// An attempt that this engine runs.
#[derive(Debug, Clone)]
struct Holding {
    stop: CancellationToken,
    /// When the store last confirmed the lease. For one lease from then on, no other worker can have it.
    ours_at: Instant,
    is_released: Arc<AtomicBool>,
}

impl Holding {
    /// How long the attempt may continue if the store does not answer.
    fn left(&self, lease: Duration) -> Duration {
        (lease - lease / LEFT).saturating_sub(self.ours_at.elapsed())
    }

    /// Stops the attempt because of its lease.
    fn release(&self) {
        self.is_released.store(true, Ordering::SeqCst);
        self.stop.cancel();
    }
}

impl Leases {
    /// Remembers an attempt until the returned guard is dropped. The store must already have its task.
    pub(crate) fn hold(shared: &Arc<Shared>, key: Key, stop: CancellationToken) -> HeldLease {
        let is_released = Arc::new(AtomicBool::new(false));
        let holding = Holding { stop, ours_at: Instant::now(), is_released: Arc::clone(&is_released) };
        if let Ok(mut held) = shared.leases.held.lock() {
            held.insert(key.clone(), holding);
        }
        HeldLease { shared: Arc::clone(shared), key, is_released }
    }

    /// Whether this process runs the attempt.
    pub(crate) fn holds(&self, run: &RunId, key: &str) -> bool {
        self.held.lock().is_ok_and(|held| held.contains_key(&(run.clone(), key.to_owned())))
    }

    /// How many attempts are held.
    pub(crate) fn len(&self) -> usize {
        self.held.lock().map(|held| held.len()).unwrap_or_default()
    }

    /// The attempts, by run and task key.
    pub(crate) fn keys(&self) -> Vec<(RunId, String)> {
        self.held.lock().map(|held| held.keys().cloned().collect()).unwrap_or_default()
    }

    fn snapshot(&self) -> HashMap<Key, Holding> {
        self.held.lock().map(|held| held.clone()).unwrap_or_default()
    }

    /// Notes that the store confirmed these leases at the time of the question.
    fn confirm(&self, keys: &HashSet<Key>, asked: Instant) {
        if let Ok(mut held) = self.held.lock() {
            let ours = held.iter_mut().filter(|(key, _)| keys.contains(*key));
            ours.for_each(|(_, holding)| holding.ours_at = holding.ours_at.max(asked));
        }
    }
}

/// The guard of a running attempt.
pub(crate) struct HeldLease {
    shared: Arc<Shared>,
    key: Key,
    is_released: Arc<AtomicBool>,
}

impl HeldLease {
    /// Whether the attempt was stopped because of its lease, not because it failed.
    pub(crate) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::SeqCst)
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if let Ok(mut held) = self.shared.leases.held.lock() {
            held.remove(&self.key);
        }
    }
}

/// Renews all leases, while it is polled.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let lease = shared.options.lease;
    let usual = lease / if is_shared(&shared) { RENEWALS_SHARED } else { RENEWALS };
    let mut is_known = true;
    loop {
        tokio::time::sleep(if is_known { usual } else { lease / AGAIN }).await;
        shared.awake.looks(shared.clock.now_ms(), shared.lease_ms());
        // Take the snapshot before asking: attempts that start meanwhile may be missing in the answer.
        let held = shared.leases.snapshot();
        // Nothing is held, so there is nothing to renew. But a login also holds tasks that it may not start yet.
        if held.is_empty() && shared.taken.is_empty() && shared.store.scope().is_none() {
            is_known = true;
            continue;
        }
        // After a sleep, ask the store first. After a failed renewal, stop the attempts in time.
        let least = if is_known { lease / ANSWER } else { lease / AGAIN };
        let patience = until_first_end(&held, lease).max(least);
        let ours = tokio::time::timeout(patience, renew(&shared)).await.ok().flatten();
        is_known = ours.is_some();
        match ours {
            Some(ours) => {
                let lost = held.iter().filter(|(key, _)| !ours.contains(*key));
                lost.for_each(|(_, holding)| holding.release());
                // Deliver messages whose wake-up was lost.
                let _ = tokio::time::timeout(usual, notifier::hand_out(&shared)).await;
            }
            None => release_ended(&shared, &held, lease),
        }
    }
}

/// Whether several machines share the store.
fn is_shared(shared: &Shared) -> bool {
    shared.options.member.host.is_some()
}

/// The time until another machine may take over the first running attempt.
fn until_first_end(held: &HashMap<Key, Holding>, lease: Duration) -> Duration {
    let open = held.values().filter(|holding| !holding.stop.is_cancelled());
    open.map(|holding| holding.left(lease)).min().unwrap_or_default()
}

/// Stops the attempts that another machine may have taken over, while the store does not answer. A store on this
/// machine needs no such stop: the next renewal can ask it.
fn release_ended(shared: &Shared, held: &HashMap<Key, Holding>, lease: Duration) {
    if is_shared(shared) {
        held.values().filter(|holding| holding.left(lease).is_zero()).for_each(Holding::release);
    }
}

/// Renews the leases. Returns the attempts that still belong to this engine, or `None` if the store does not answer.
async fn renew(shared: &Shared) -> Option<HashSet<Key>> {
    let asked = Instant::now();
    let tasks = shared.store.renew(&shared.worker, shared.clock.now_ms(), shared.lease_ms()).await.ok()?;
    let ours: HashSet<Key> = tasks.into_iter().map(|task| (task.run, task.key)).collect();
    shared.leases.confirm(&ours, asked);
    Some(ours)
}
