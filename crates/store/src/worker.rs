//! The workers that a store knows.

use crate::WorkerId;

/// A worker that says it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// One life of one process.
    pub id: WorkerId,
    /// What people call it.
    pub name: String,
    /// The machine it is on.
    pub host: String,
    /// What it can do.
    pub labels: Vec<String>,
    /// How many tasks it takes at once.
    pub slots: u32,
    /// Its program.
    pub version: String,
    /// Since when it is there.
    pub since_ms: i64,
    /// When it last said so.
    pub seen_ms: i64,
}

/// A worker, with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The worker.
    pub worker: Worker,
    /// How many tasks it holds.
    pub busy: u32,
}

/// Workers that were silent for longer are forgotten by whoever says next that it is there.
pub const FORGOTTEN_MS: i64 = 7 * 24 * 3_600_000;
