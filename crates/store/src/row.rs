//! What comes out of a store, and how to ask for it.

use longhaul_core::id::RunId;
use serde::{Deserialize, Serialize};

use crate::{EventId, MessageId, WorkerId};

/// An event, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// From 1, without gaps in its run.
    pub seq: u64,
    /// As given.
    pub id: EventId,
    /// As given.
    pub at_ms: i64,
    /// As given, byte for byte.
    pub body: String,
}

/// What it takes to continue with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The newest one, with its seq.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// After the snapshot; from the first on, without one.
    pub events: Vec<StoredEvent>,
}

/// What lists show of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The name of the workflow.
    pub workflow: String,
    /// One word.
    pub status: String,
    /// JSON text, never looked into.
    pub summary: String,
    /// What the run belongs to.
    pub group: Option<String>,
    /// The run that started it. It may be gone.
    pub parent: Option<RunId>,
}

/// A run, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: RunId,
    /// The newest head that an append gave it.
    pub head: Head,
    /// The seq of its last event.
    pub last_seq: u64,
    /// The time of its first event.
    pub created_ms: i64,
    /// The time of its last event.
    pub updated_ms: i64,
}

/// Which runs to list. They come newest first, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// One of these; empty means any.
    pub statuses: Vec<String>,
    /// Of this workflow.
    pub workflow: Option<String>,
    /// Of this group.
    pub group: Option<String>,
    /// Started by this run.
    pub parent: Option<RunId>,
    /// Ids that start so.
    pub prefix: Option<String>,
    /// Made before this run: the next page.
    pub before: Option<RunId>,
    /// Made after this run: what is new.
    pub after: Option<RunId>,
    /// Without a task that waits for a worker, or is held by a lease which has not ended at this time.
    pub unattended_at_ms: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// What there is to do, at a glance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// Whether a message is in some inbox.
    pub mail: bool,
    /// When the next timer is due, be it past or to come.
    pub next_due: Option<i64>,
    /// Whether a task waits that nobody holds.
    pub unheld: bool,
    /// The run that was made last.
    pub newest: Option<RunId>,
    /// Whether those who watch were told something because of this glance.
    pub moved: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            statuses: Vec::new(),
            workflow: None,
            group: None,
            parent: None,
            prefix: None,
            before: None,
            after: None,
            unattended_at_ms: None,
            limit: 100,
        }
    }
}

/// An open task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its run.
    pub run: RunId,
    /// Unique among the open tasks of its run.
    pub key: String,
    /// The number that every write about the task carries.
    pub attempt: u32,
    /// Who holds it.
    pub worker: Option<WorkerId>,
    /// Until when; 0 while nobody holds it.
    pub lease_until_ms: i64,
    /// As given.
    pub labels: Vec<String>,
}

/// A message that no append has consumed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Later messages have greater ids; no id comes twice.
    pub id: MessageId,
    /// The run it is for.
    pub run: RunId,
    /// As given.
    pub source: String,
    /// As given.
    pub dedup: String,
    /// As given, byte for byte.
    pub body: String,
    /// As given.
    pub at_ms: i64,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// It is in the inbox.
    New,
    /// It had been posted before; nothing was written.
    Duplicate,
}

/// Something that [`crate::Store::check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The run that it is about, if one.
    pub run: Option<RunId>,
    /// A sentence.
    pub text: String,
}
