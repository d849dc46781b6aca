//! The values that callers write into a store.
//!
//! **Invariant:** an [`Append`] that passes [`Append::validate`] names nothing twice, belongs to one run, and keeps
//! to the limits. A store checks only the rules that depend on stored data.

use std::collections::HashSet;
use std::hash::Hash as StdHash;

use longhaul_core::id::RunId;

use crate::{Error, EventId, Hash, Head, MessageId, WorkerId};

/// The most bytes of the body of an event or of a message. Bigger values are blobs.
pub const BODY_BYTES_MAX: usize = 960 * 1024;

/// The most bytes of a blob or of a snapshot.
pub const BLOB_BYTES_MAX: usize = 256 * 1024 * 1024;

/// If the blobs of an append are larger than this, they are hashed on a thread that may block.
const HASHED_IN_PLACE_BYTES: usize = 256 * 1024;

/// An event to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The client makes this id. The store recognises a repeated append by it.
    pub id: EventId,
    /// The time of the event, by the clock of the client, in milliseconds since 1970.
    pub at_ms: i64,
    /// JSON text. The store keeps it byte for byte and does not parse it.
    pub body: String,
}

/// Everything that one append to a run writes, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The last seq that the caller knows. 0 creates the run.
    pub expected: u64,
    /// The new events, at least one.
    pub events: Vec<NewEvent>,
    /// The new list entry of the run. Needed when the run is created; `None` keeps the old entry.
    pub head: Option<Head>,
    /// Bytes that the events refer to. The run keeps them alive.
    pub blobs: Vec<Blob>,
    /// The store clears these timers before it sets others. Clearing a timer that is not set is not an error.
    pub timers_cleared: Vec<String>,
    /// Timers of this run. Setting one again moves it.
    pub timers_set: Vec<Timer>,
    /// Tasks to end. The store ends them before it starts others.
    pub tasks_ended: Vec<TaskEnd>,
    /// Tasks to start, in order.
    pub tasks_started: Vec<NewTask>,
    /// Messages of this run that the events consume.
    pub consumed: Vec<MessageId>,
}

/// Bytes by their hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The hash of `bytes`.
    pub hash: Hash,
    /// At most [`BLOB_BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// A time at which a run wants to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// The run.
    pub run: RunId,
    /// Unique in its run.
    pub id: String,
    /// The time at which the timer is due, in milliseconds since 1970.
    pub due_ms: i64,
}

/// A task to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// `path@attempt`, unique among the open tasks of its run.
    pub key: String,
    /// The number that every later write about the task carries.
    pub attempt: u32,
    /// The worker that holds the task from the start; `None` leaves it to [`crate::Store::claim`].
    pub worker: Option<WorkerId>,
    /// With a worker: the lease ends this long after the last event of the append.
    pub lease_ms: i64,
    /// The labels that a worker needs to claim the task.
    pub labels: Vec<String>,
}

/// A task to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// The task.
    pub key: String,
    /// The attempt of the task. The store refuses any other attempt.
    pub attempt: u32,
    /// The worker that ends the task. It must hold the task. `None` ends the task regardless of its holder
    /// (cancelling, an expired lease).
    pub worker: Option<WorkerId>,
}

/// A message from outside for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The run.
    pub run: RunId,
    /// The sender. A store accepts each `(source, dedup)` once, for ever.
    pub source: String,
    /// The name that the source gives this message.
    pub dedup: String,
    /// The body. The store keeps it byte for byte.
    pub body: String,
    /// The time of arrival, by the clock of the client.
    pub at_ms: i64,
}

impl Append {
    /// An append of `events` after `expected`, and nothing else.
    pub fn new(run: RunId, expected: u64, events: Vec<NewEvent>) -> Self {
        Self {
            run,
            expected,
            events,
            head: None,
            blobs: Vec::new(),
            timers_cleared: Vec::new(),
            timers_set: Vec::new(),
            tasks_ended: Vec::new(),
            tasks_started: Vec::new(),
            consumed: Vec::new(),
        }
    }

    /// Checks the rules that do not depend on stored data. Every store calls this first.
    pub fn validate(&self) -> Result<(), Error> {
        self.whole()?;
        self.events.iter().try_for_each(|event| fits("the body of an event", event.body.len(), BODY_BYTES_MAX))?;
        self.blobs.iter().try_for_each(Blob::validate)?;
        self.nothing_twice()
    }

    /// The time of the append: that of its last event.
    pub fn at_ms(&self) -> i64 {
        self.events.last().map_or(0, |event| event.at_ms)
    }

    /// The end of the lease of `task`; 0 if no worker holds it.
    pub fn lease_until_ms(&self, task: &NewTask) -> i64 {
        task.worker.as_ref().map_or(0, |_| self.at_ms().saturating_add(task.lease_ms))
    }

    fn whole(&self) -> Result<(), Error> {
        let wrong = if self.events.is_empty() {
            "an append has at least one event"
        } else if self.expected == 0 && self.head.is_none() {
            "the append that makes a run has a head"
        } else if self.timers_set.iter().any(|timer| timer.run != self.run) {
            "an append sets timers of its own run only"
        } else {
            return Ok(());
        };
        Err(Error::Invalid(wrong))
    }

    fn nothing_twice(&self) -> Result<(), Error> {
        let once = distinct(self.events.iter().map(|event| event.id))
            && distinct(self.timers_set.iter().map(|timer| &timer.id))
            && distinct(self.tasks_ended.iter().map(|task| &task.key))
            && distinct(self.tasks_started.iter().map(|task| &task.key))
            && distinct(&self.consumed);
        once.then_some(()).ok_or(Error::Invalid("an append names an event, a timer, a task or a message twice"))
    }
}

impl Blob {
    /// A blob of `bytes`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { hash: Hash::of(&bytes), bytes }
    }

    fn validate(&self) -> Result<(), Error> {
        fits("a blob", self.bytes.len(), BLOB_BYTES_MAX)?;
        let honest = self.hash == Hash::of(&self.bytes);
        honest.then_some(()).ok_or(Error::Invalid("a blob does not have the hash that it is sent with"))
    }
}

impl NewMessage {
    /// Checks the rules that do not depend on stored data. Every store calls this first.
    pub fn validate(&self) -> Result<(), Error> {
        fits("the body of a message", self.body.len(), BODY_BYTES_MAX)
    }
}

/// Refuses a snapshot above the limit. Every store calls this first.
pub fn validate_snapshot(bytes: &[u8]) -> Result<(), Error> {
    fits("a snapshot", bytes.len(), BLOB_BYTES_MAX)
}

/// Validates the append. Hashing big blobs takes a while, so it must not block the writer or the runtime.
pub(crate) async fn validated(append: Append) -> Result<Append, Error> {
    let bytes: usize = append.blobs.iter().map(|blob| blob.bytes.len()).sum();
    if bytes <= HASHED_IN_PLACE_BYTES {
        return append.validate().map(|()| append);
    }
    let task = tokio::task::spawn_blocking(move || append.validate().map(|()| append));
    task.await.unwrap_or_else(|error| Err(Error::Io(error.to_string())))
}

fn fits(what: &'static str, bytes: usize, limit: usize) -> Result<(), Error> {
    if bytes > limit { Err(Error::TooLarge { what, bytes, limit }) } else { Ok(()) }
}

fn distinct<T: Eq + StdHash>(items: impl IntoIterator<Item = T>) -> bool {
    let mut seen = HashSet::new();
    items.into_iter().all(|item| seen.insert(item))
}
