//! Wakes the loops that wait for news of a run. One query of the store serves all of them.
//!
//! The store only says that something was written. To check every inbox each time would cost as much as the work
//! itself, so one task checks all runs together, at most every few milliseconds.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use longhaul_core::id::RunId;
use tokio::sync::{Notify, mpsc};

use crate::engine::Shared;

/// Collects changes within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(20);
/// The most runs with mail per query.
const RUNS_MAX: usize = 1000;

/// The listeners of each run.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    listeners: Mutex<HashMap<RunId, Vec<Arc<Notify>>>>,
    /// Runs whose attempts run in another process: any change may concern them.
    foreign: Mutex<HashSet<RunId>>,
    /// The worker of this engine. It drives the runs that have no listener.
    worker: Mutex<Option<mpsc::UnboundedSender<RunId>>>,
}

impl Notifier {
    pub(crate) fn listen(&self, run: &RunId) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        if let Ok(mut listeners) = self.listeners.lock() {
            let of_run = listeners.entry(run.clone()).or_default();
            of_run.retain(|listener| Arc::strong_count(listener) > 1);
            of_run.push(Arc::clone(&notify));
        }
        notify
    }

    /// Receives the runs that got a message while no loop listened.
    pub(crate) fn unheard(&self) -> mpsc::UnboundedReceiver<RunId> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Ok(mut worker) = self.worker.lock() {
            *worker = Some(sender);
        }
        receiver
    }

    /// Whether a loop in this process drives the run, or waits to do so.
    pub(crate) fn is_heard(&self, run: &RunId) -> bool {
        let is_held = |listeners: &Vec<Arc<Notify>>| listeners.iter().any(|listener| Arc::strong_count(listener) > 1);
        self.listeners.lock().is_ok_and(|listeners| listeners.get(run).is_some_and(is_held))
    }

    pub(crate) fn forget(&self, run: &RunId) {
        if let Ok(mut listeners) = self.listeners.lock() {
            let of_run = listeners.entry(run.clone()).or_default();
            of_run.retain(|listener| Arc::strong_count(listener) > 1);
            if of_run.is_empty() {
                listeners.remove(run);
            }
        }
    }

    pub(crate) fn set_foreign(&self, run: &RunId, foreign: bool) {
        if let Ok(mut runs) = self.foreign.lock() {
            if foreign {
                runs.insert(run.clone());
            } else {
                runs.remove(run);
            }
        }
    }

    /// Wakes the listeners of a run that got a message. If there are none, wakes the worker.
    pub(crate) fn tell(&self, run: &RunId) {
        let heard = self.listeners.lock().is_ok_and(|listeners| listeners.contains_key(run));
        self.wake(run);
        if let Ok(worker) = self.worker.lock()
            && let Some(worker) = worker.as_ref().filter(|_| !heard)
        {
            // A stopped worker needs no message.
            let _ = worker.send(run.clone());
        }
    }

    fn wake(&self, run: &RunId) {
        if let Ok(listeners) = self.listeners.lock() {
            listeners.get(run).into_iter().flatten().for_each(|listener| listener.notify_one());
        }
    }

    /// Wakes the listeners of foreign runs. Forgets runs without listeners; the next loop that drives one marks it
    /// again.
    fn wake_foreign(&self) {
        let (Ok(mut foreign), Ok(listeners)) = (self.foreign.lock(), self.listeners.lock()) else { return };
        foreign.retain(|run| listeners.contains_key(run));
        foreign.iter().filter_map(|run| listeners.get(run)).flatten().for_each(|listener| listener.notify_one());
    }

    fn is_empty(&self) -> bool {
        self.listeners.lock().is_ok_and(|listeners| listeners.is_empty())
    }
}

/// Delivers wake-ups until the engine is gone.
pub(crate) async fn deliver(shared: Weak<Shared>) {
    let watched = shared.upgrade().map(|shared| (shared.store.watch(), shared.store.watch_work()));
    let Some((mut changes, mut work)) = watched else { return };
    let mut is_owed = false;
    while is_owed || changes.changed().await.is_ok() {
        changes.borrow_and_update();
        let may_be_mail = is_owed || work.has_changed().unwrap_or(true);
        work.borrow_and_update();
        let Some(shared) = shared.upgrade() else { return };
        shared.notifier.wake_foreign();
        // A worker checks for mail itself. If the store does not answer now, ask again: no other change may follow.
        let is_wanted = may_be_mail && !shared.notifier.is_empty() && !shared.taken.has_worker();
        is_owed = is_wanted && hand_out(&shared).await.is_err();
        drop(shared);
        tokio::time::sleep(TOGETHER).await;
    }
}

/// Wakes the runs that have mail, and those that another process may have changed.
pub(crate) async fn hand_out(shared: &Shared) -> Result<(), longhaul_store::Error> {
    shared.notifier.wake_foreign();
    with_mail(shared).await.map(drop)
}

/// The runs that have mail. Wakes their listeners.
pub(crate) async fn with_mail(shared: &Shared) -> Result<Vec<RunId>, longhaul_store::Error> {
    let runs = shared.store.with_mail(RUNS_MAX).await?;
    runs.iter().for_each(|run| shared.notifier.wake(run));
    Ok(runs)
}
