//! The values that a store returns, and the query for lists.

use longhaul_core::id::RunId;
use serde::{Deserialize, Serialize};

use crate::{EventId, MessageId, WorkerId};

/// An event, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// From 1, without gaps in its run.
    pub seq: u64,
    /// The id that the client gave.
    pub id: EventId,
    /// The time that the client gave.
    pub at_ms: i64,
    /// The body, byte for byte.
    pub body: String,
}

/// Everything that is needed to continue a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The newest snapshot, with its seq.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The events after the snapshot, or all events if there is none.
    pub events: Vec<StoredEvent>,
}

/// The entry of a run in lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The name of the workflow.
    pub workflow: String,
    /// The status of the run, in one word.
    pub status: String,
    /// JSON text. The store does not parse it.
    pub summary: String,
    /// The group that the run belongs to.
    pub group: Option<String>,
    /// The run that started it. It may have been removed.
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

/// A query for runs. They come newest first, in the order of creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Runs with one of these statuses; empty means any.
    pub statuses: Vec<String>,
    /// Runs of this workflow.
    pub workflow: Option<String>,
    /// Runs of this group.
    pub group: Option<String>,
    /// Runs that this run started.
    pub parent: Option<RunId>,
    /// Runs whose id starts with this text.
    pub prefix: Option<String>,
    /// Runs created before this one: the next page.
    pub before: Option<RunId>,
    /// Runs created after this one: the new ones.
    pub after: Option<RunId>,
    /// Runs that at this time have no task that waits for a worker, and no task with a valid lease.
    pub unattended_at_ms: Option<i64>,
    /// Runs created at this time or later.
    pub created_from_ms: Option<i64>,
    /// Runs created before this time.
    pub created_before_ms: Option<i64>,
    /// Runs whose last event has this time or a later one. There is no index for it.
    pub updated_from_ms: Option<i64>,
    /// The most runs to return.
    pub limit: usize,
}

/// An overview of the work in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// Whether some inbox has a message.
    pub mail: bool,
    /// The time of the next timer, past or future.
    pub next_due: Option<i64>,
    /// Whether a task waits for a worker.
    pub unheld: bool,
    /// The run that was created last.
    pub newest: Option<RunId>,
    /// Whether this glance woke the watchers.
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
            created_from_ms: None,
            created_before_ms: None,
            updated_from_ms: None,
            limit: 100,
        }
    }
}

/// An open task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its run.
    pub run: RunId,
    /// The key, unique among the open tasks of its run.
    pub key: String,
    /// The number that every write about the task carries.
    pub attempt: u32,
    /// The worker that holds the task.
    pub worker: Option<WorkerId>,
    /// The end of the lease; 0 if no worker holds the task.
    pub lease_until_ms: i64,
    /// The labels that a worker needs for it.
    pub labels: Vec<String>,
}

/// A message that no append has consumed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxMessage {
    /// The id. Later messages have greater ids, and no id is used twice.
    pub id: MessageId,
    /// The run it is for.
    pub run: RunId,
    /// The sender.
    pub source: String,
    /// The name that the source gave the message.
    pub dedup: String,
    /// The body, byte for byte.
    pub body: String,
    /// The time of arrival that the client gave.
    pub at_ms: i64,
}

/// The result of posting a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// It is in the inbox.
    New,
    /// It had been posted before; nothing was written.
    Duplicate,
}

/// Something that [`crate::Store::check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreProblem {
    /// The run with the problem, if it is about one run.
    pub run: Option<RunId>,
    /// The problem, in one sentence.
    pub text: String,
}
