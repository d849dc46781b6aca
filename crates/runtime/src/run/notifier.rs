//! Wakes those who wait for news of a run: one look at the store for all of them.
//!
//! The store says only that something was written. Looking into every inbox each time would cost as much
//! as the work itself, so one task looks for all runs at once, at most every few milliseconds.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use longhaul_core::id::RunId;
use tokio::sync::{Notify, mpsc};

use crate::engine::Shared;

/// Changes within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Runs with mail that are looked up at once.
const RUNS_MAX: usize = 1000;

/// Who waits for which run.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    listeners: Mutex<HashMap<RunId, Vec<Arc<Notify>>>>,
    /// Runs whose work another process does: any change may be about them.
    foreign: Mutex<HashSet<RunId>>,
    /// The worker of this engine, who drives runs that nobody listens for.
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

    /// Runs that were told something while nobody listened for them.
    pub(crate) fn unheard(&self) -> mpsc::UnboundedReceiver<RunId> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Ok(mut worker) = self.worker.lock() {
            *worker = Some(sender);
        }
        receiver
    }

    /// Whether somebody in this process listens for a run: drives it, or waits to.
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

    /// Wakes whoever listens for a run that was told something; the worker, if nobody does.
    pub(crate) fn tell(&self, run: &RunId) {
        let heard = self.listeners.lock().is_ok_and(|listeners| listeners.contains_key(run));
        self.wake(run);
        if let Ok(worker) = self.worker.lock()
            && let Some(worker) = worker.as_ref().filter(|_| !heard)
        {
            // A worker that has stopped needs to know nothing.
            let _ = worker.send(run.clone());
        }
    }

    fn wake(&self, run: &RunId) {
        if let Ok(listeners) = self.listeners.lock() {
            listeners.get(run).into_iter().flatten().for_each(|listener| listener.notify_one());
        }
    }

    /// Runs that nobody listens for any more are forgotten: whoever drives one again says what holds then.
    fn wake_foreign(&self) {
        let (Ok(mut foreign), Ok(listeners)) = (self.foreign.lock(), self.listeners.lock()) else { return };
        foreign.retain(|run| listeners.contains_key(run));
        foreign.iter().filter_map(|run| listeners.get(run)).flatten().for_each(|listener| listener.notify_one());
    }

    fn is_empty(&self) -> bool {
        self.listeners.lock().is_ok_and(|listeners| listeners.is_empty())
    }
}

/// Carries mail until the engine is gone.
pub(crate) async fn deliver(shared: Weak<Shared>) {
    let watched = shared.upgrade().map(|shared| (shared.store.watch(), shared.store.watch_work()));
    let Some((mut changes, mut work)) = watched else { return };
    let mut is_owed = false;
    while is_owed || changes.changed().await.is_ok() {
        changes.borrow_and_update();
        let may_be_mail = is_owed || work.has_changed().unwrap_or(true);
        work.borrow_and_update();
        let Some(shared) = shared.upgrade() else { return };
        shared.mailroom.wake_foreign();
        // A worker looks for mail by itself. A store that does not answer now is asked again: there may be no other change.
        let is_wanted = may_be_mail && !shared.mailroom.is_empty() && !shared.taken.has_worker();
        is_owed = is_wanted && hand_out(&shared).await.is_err();
        drop(shared);
        tokio::time::sleep(TOGETHER).await;
    }
}

/// Wakes everybody who has mail, or whose run another process may have moved on.
pub(crate) async fn hand_out(shared: &Shared) -> Result<(), longhaul_store::Error> {
    shared.mailroom.wake_foreign();
    with_mail(shared).await.map(drop)
}

/// The runs that have mail. Who listens for one of them is woken.
pub(crate) async fn with_mail(shared: &Shared) -> Result<Vec<RunId>, longhaul_store::Error> {
    let runs = shared.store.with_mail(RUNS_MAX).await?;
    runs.iter().for_each(|run| shared.mailroom.wake(run));
    Ok(runs)
}
