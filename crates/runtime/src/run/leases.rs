//! Keeps the attempts of this engine its own, and lets go of those that are not any more.
//!
//! A renewal that fails says nothing: the store may be away, or this process may have slept. So the store is asked first, and what
//! it still calls ours continues, however late it is.
//!
//! **Invariant:** an attempt is stopped because of its lease only if the store says that it is not ours any more, or if the store
//! does not answer and another machine can have taken it over. What is stopped for that has not failed.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_core::id::RunId;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::run::notifier;

/// How often a lease is renewed before it ends. Where machines share a store that can go away, an outage of five sixths of a
/// lease must not stop anything.
const RENEWALS: u32 = 4;
const RENEWALS_SHARED: u32 = 15;
/// This part of a lease is left to end what was started, before others may begin it.
const LEFT: u32 = 12;
/// The part of a lease that a store has to answer at least: also if the lease has ended while this process slept.
const ANSWER: u32 = 4;
/// After a renewal that failed, the next one comes sooner.
const AGAIN: u32 = 30;

/// A task of the store: its run and its key.
type Key = (RunId, String);

/// The attempts that this engine makes, each with what stops it.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<Key, Holding>>,
}

/// An attempt that this engine makes.
#[derive(Debug, Clone)]
struct Holding {
    stop: CancellationToken,
    /// When the store last knew it as ours: nobody else can have it for the length of a lease from then.
    ours_at: Instant,
    is_released: Arc<AtomicBool>,
}

impl Holding {
    /// How long it may continue if the store does not answer.
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
    /// Remembers an attempt, whose task must be stored already, until the answer is dropped.
    pub(crate) fn hold(shared: &Arc<Shared>, key: Key, stop: CancellationToken) -> Held {
        let is_released = Arc::new(AtomicBool::new(false));
        let holding = Holding { stop, ours_at: Instant::now(), is_released: Arc::clone(&is_released) };
        if let Ok(mut held) = shared.leases.held.lock() {
            held.insert(key.clone(), holding);
        }
        Held { shared: Arc::clone(shared), key, is_released }
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

    fn snapshot(&self) -> HashMap<Key, Holding> {
        self.held.lock().map(|held| held.clone()).unwrap_or_default()
    }

    /// Notes that the store knew these as ours when it was asked.
    fn confirm(&self, keys: &HashSet<Key>, asked: Instant) {
        if let Ok(mut held) = self.held.lock() {
            let ours = held.iter_mut().filter(|(key, _)| keys.contains(*key));
            ours.for_each(|(_, holding)| holding.ours_at = holding.ours_at.max(asked));
        }
    }
}

/// An attempt that is being made.
pub(crate) struct Held {
    shared: Arc<Shared>,
    key: Key,
    is_released: Arc<AtomicBool>,
}

impl Held {
    /// Whether the attempt was stopped because of its lease, and for no fault of its own.
    pub(crate) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::SeqCst)
    }
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
    let usual = lease / if is_shared(&shared) { RENEWALS_SHARED } else { RENEWALS };
    let mut is_known = true;
    loop {
        tokio::time::sleep(if is_known { usual } else { lease / AGAIN }).await;
        shared.awake.looks(shared.clock.now_ms(), shared.lease_ms());
        // Taken before the question: what is begun meanwhile may be missing in the answer.
        let held = shared.leases.snapshot();
        // Nothing is held, so there is nothing to keep. A login holds tasks that it must not begin yet.
        if held.is_empty() && shared.taken.is_empty() && shared.store.scope().is_none() {
            is_known = true;
            continue;
        }
        // Whoever has slept asks first. Whoever has asked before stops in time.
        let least = if is_known { lease / ANSWER } else { lease / AGAIN };
        let patience = until_first_end(&held, lease).max(least);
        let ours = tokio::time::timeout(patience, renew(&shared)).await.ok().flatten();
        is_known = ours.is_some();
        match ours {
            Some(ours) => {
                let lost = held.iter().filter(|(key, _)| !ours.contains(*key));
                lost.for_each(|(_, holding)| holding.release());
                // Who was told something while no hint came through hears of it now at the latest.
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

/// How long nobody else can have taken anything over that is still being made.
fn until_first_end(held: &HashMap<Key, Holding>, lease: Duration) -> Duration {
    let open = held.values().filter(|holding| !holding.stop.is_cancelled());
    open.map(|holding| holding.left(lease)).min().unwrap_or_default()
}

/// Lets go of what another machine can have taken over by now, while the store does not say. A store on this machine can always be
/// asked a little later, so nothing has to be given up for it.
fn release_ended(shared: &Shared, held: &HashMap<Key, Holding>, lease: Duration) {
    if is_shared(shared) {
        held.values().filter(|holding| holding.left(lease).is_zero()).for_each(Holding::release);
    }
}

/// Renews; answers what is ours, or `None` if the store does not answer.
async fn renew(shared: &Shared) -> Option<HashSet<Key>> {
    let asked = Instant::now();
    let tasks = shared.store.renew(&shared.worker, shared.clock.now_ms(), shared.lease_ms()).await.ok()?;
    let ours: HashSet<Key> = tasks.into_iter().map(|task| (task.run, task.key)).collect();
    shared.leases.confirm(&ours, asked);
    Some(ours)
}
