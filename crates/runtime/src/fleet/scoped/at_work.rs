//! The tasks that a worker with a login is at, and those of which it has told everything.
//!
//! **Invariant:** a task is made once at a time. One that is held although everything was told of it waits for whoever records that;
//! after a while it is taken up again, because what was told may have reached nobody.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::Task;
use tokio::time::Instant;

/// How long it is waited until somebody records what was told.
const HEARD: Duration = Duration::from_secs(60);

/// A task of the store: its run and its key.
pub(super) type Key = (RunId, String);

pub(super) fn key_of(task: &Task) -> Key {
    (task.run.clone(), task.key.clone())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Making,
    Told(Instant),
}

/// What a worker is at.
#[derive(Debug, Default)]
pub(super) struct AtWork(Mutex<HashMap<Key, Doing>>);

impl AtWork {
    /// Notes that a task is being made; false if it is already, or was lately told of.
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

    /// Notes that nobody is at a task any more.
    pub(super) fn end(&self, key: Key, is_told: bool) {
        if let Ok(mut all) = self.0.lock() {
            match is_told {
                true => all.insert(key, Doing::Told(Instant::now())),
                false => all.remove(&key),
            };
        }
    }

    /// Forgets what was told of tasks that are not held any more.
    pub(super) fn keep(&self, held: &[Task]) {
        if let Ok(mut all) = self.0.lock() {
            all.retain(|key, doing| *doing == Doing::Making || held.iter().any(|task| key_of(task) == *key));
        }
    }

    /// How many tasks are being made.
    pub(super) fn len(&self) -> usize {
        let making = |all: &HashMap<Key, Doing>| all.values().filter(|doing| **doing == Doing::Making).count();
        self.0.lock().map(|all| making(&all)).unwrap_or_default()
    }
}
