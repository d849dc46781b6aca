//! The tasks that a worker with a login runs, and those that it has fully reported.
//!
//! **Invariant:** a task runs only once at a time. A held task that is fully reported waits until an engine records the
//! report. After a while the worker takes it up again, because the report may be lost.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::Task;
use tokio::time::Instant;

/// How long to wait until an engine records a report.
const HEARD: Duration = Duration::from_secs(60);

/// The run and the key of a task in the store.
pub(super) type Key = (RunId, String);

pub(super) fn key_of(task: &Task) -> Key {
    (task.run.clone(), task.key.clone())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Making,
    Told(Instant),
}

/// The tasks of a worker.
#[derive(Debug, Default)]
pub(super) struct AtWork(Mutex<HashMap<Key, Doing>>);

impl AtWork {
    /// Notes that a task is running; false if it is already, or was reported a short time ago.
    pub(super) fn begin(&self, key: Key) -> bool {
        let Ok(mut all) = self.0.lock() else { return false };
        let is_free = match all.get(&key) {
            None => true,
            Some(Doing::Making) => false,
            Some(Doing::Told(since)) => since.elapsed() > HEARD,
        };
        if is_free {
            all.insert(key, Doing::Making);
        }
        is_free
    }

    /// Notes that a task is no longer running.
    pub(super) fn end(&self, key: Key, is_told: bool) {
        if let Ok(mut all) = self.0.lock() {
            match is_told {
                true => all.insert(key, Doing::Told(Instant::now())),
                false => all.remove(&key),
            };
        }
    }

    /// Forgets the reports on tasks that are no longer held.
    pub(super) fn keep(&self, held: &[Task]) {
        if let Ok(mut all) = self.0.lock() {
            all.retain(|key, doing| *doing == Doing::Making || held.iter().any(|task| key_of(task) == *key));
        }
    }

    /// How many tasks are running.
    pub(super) fn len(&self) -> usize {
        let making = |all: &HashMap<Key, Doing>| all.values().filter(|doing| **doing == Doing::Making).count();
        self.0.lock().map(|all| making(&all)).unwrap_or_default()
    }
}
