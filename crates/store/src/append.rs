//! What goes into a store.
//!
//! **Invariant:** an [`Append`] that [`Append::validate`] lets pass names nothing twice, belongs to one
//! run, and keeps to the limits, so a store checks only what depends on what is stored.

use std::collections::HashSet;
use std::hash::Hash as StdHash;

use longhaul_core::id::RunId;

use crate::{Error, EventId, Hash, Head, MessageId, WorkerId};

/// The most bytes of the body of an event or of a message. Bigger values are blobs.
pub const BODY_BYTES_MAX: usize = 960 * 1024;

/// The most bytes of a blob or of a snapshot.
pub const BLOB_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Blobs above this are hashed where it does not hold up others.
const HASHED_IN_PLACE_BYTES: usize = 256 * 1024;

/// An event to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Made by the client; how a second try is recognised.
    pub id: EventId,
    /// When it happened, by the clock of the client.
    pub at_ms: i64,
    /// JSON text. Kept byte for byte, never looked into.
    pub body: String,
}

/// All that one step forward of a run writes, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The last seq that the caller knows. 0 makes the run.
    pub expected: u64,
    /// At least one.
    pub events: Vec<NewEvent>,
    /// What lists show from now on. Needed when the run is made; `None` keeps it.
    pub head: Option<Head>,
    /// Bytes that the events refer to. The run keeps them alive.
    pub blobs: Vec<Blob>,
    /// Cleared before others are set. One that is not set is no mistake.
    pub timers_cleared: Vec<String>,
    /// Timers of this run. Setting one again moves it.
    pub timers_set: Vec<Timer>,
    /// Ended before others are started.
    pub tasks_ended: Vec<TaskEnd>,
    /// Tasks to start, in order.
    pub tasks_started: Vec<NewTask>,
    /// Messages of this run that the events have taken in.
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
    /// When.
    pub due_ms: i64,
}

/// A task to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// `path@attempt`, unique among the open tasks of its run.
    pub key: String,
    /// The number that every later write about the task carries.
    pub attempt: u32,
    /// The worker that has it already; `None` leaves it to [`crate::Store::claim`].
    pub worker: Option<WorkerId>,
    /// With a worker: the lease ends so long after the last event of the append.
    pub lease_ms: i64,
    /// For the caller.
    pub labels: Vec<String>,
}

/// A task to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// The task.
    pub key: String,
    /// Its attempt. Another one is refused.
    pub attempt: u32,
    /// Who ends it. Must hold it; `None` ends it whoever holds it (cancelling, an expired lease).
    pub worker: Option<WorkerId>,
}

/// A message from outside for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The run.
    pub run: RunId,
    /// Who sends. `(source, dedup)` is accepted once, for ever.
    pub source: String,
    /// What the source calls this message.
    pub dedup: String,
    /// Kept byte for byte.
    pub body: String,
    /// When it came, by the clock of the client.
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

    /// What is wrong with it whatever is stored. Every store asks first.
    pub fn validate(&self) -> Result<(), Error> {
        self.whole()?;
        self.events.iter().try_for_each(|event| fits("the body of an event", event.body.len(), BODY_BYTES_MAX))?;
        self.blobs.iter().try_for_each(Blob::validate)?;
        self.nothing_twice()
    }

    /// When it happened: the time of its last event.
    pub fn at_ms(&self) -> i64 {
        self.events.last().map_or(0, |event| event.at_ms)
    }

    /// When the lease of `task` ends; 0 while nobody has it.
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
    /// What is wrong with it whatever is stored. Every store asks first.
    pub fn validate(&self) -> Result<(), Error> {
        fits("the body of a message", self.body.len(), BODY_BYTES_MAX)
    }
}

/// Refuses a snapshot above the limit. Every store asks first.
pub fn validate_snapshot(bytes: &[u8]) -> Result<(), Error> {
    fits("a snapshot", bytes.len(), BLOB_BYTES_MAX)
}

/// Hashing big blobs takes a while, and must hold up neither the writer nor the runtime.
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
