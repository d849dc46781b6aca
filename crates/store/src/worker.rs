//! The list of workers.

use crate::WorkerId;

/// A worker that has greeted the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The id of one life of one process.
    pub id: WorkerId,
    /// The name that people use.
    pub name: String,
    /// The machine on which it runs.
    pub host: String,
    /// The labels of the tasks that it can do.
    pub labels: Vec<String>,
    /// The number of tasks that it takes at once.
    pub slots: u32,
    /// The version of its program.
    pub version: String,
    /// The time of its first greeting, in milliseconds since 1970.
    pub since_ms: i64,
    /// The time of its last greeting.
    pub seen_ms: i64,
}

/// A worker with its load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The worker.
    pub worker: Worker,
    /// The number of tasks that it holds.
    pub busy: u32,
}

/// The next greeting of any worker removes workers that were silent for longer.
pub const FORGOTTEN_MS: i64 = 7 * 24 * 3_600_000;
