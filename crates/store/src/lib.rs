//! Stores runs: events, tasks with leases, timers, messages and blobs. It does not interpret them.
//!
//! [`Store`] is a contract. Each of its clauses has a test in `conformance`. Three stores pass them: [`Memory`], the
//! reference; [`Sqlite`], one file that several processes can share; [`Postgres`], a database that several machines
//! can share.
//!
//! **Invariant:** acknowledged data stays; a refused call leaves no trace. No store decides by its own clock: times
//! come with the calls. A store that machines share can report its time, so that all of them use the same clock.

mod address;
mod append;
mod claim;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod copy;
mod error;
mod failpoints;
mod key;
mod memory;
mod postgres;
mod row;
mod scope;
mod sqlite;
mod worker;

use std::pin::Pin;

use longhaul_core::id::RunId;
use tokio::sync::watch;

pub use address::StoreAddress;
pub use append::{
    Append, BLOB_BYTES_MAX, BODY_BYTES_MAX, Blob, NewEvent, NewMessage, NewTask, TaskEnd, Timer, validate_snapshot,
};
pub use claim::{Caps, Claim};
pub use copy::{Copied, copy};
pub use error::Error;
pub use failpoints::{Failpoint, Failpoints, NotAFailpoint};
pub use key::{EventId, Hash, MessageId, NotHex, WorkerId};
pub use memory::Memory;
pub use postgres::{Address, Admitted, DatabaseLogin, Expelled, NewLogin, Postgres, PostgresOptions, Scoped};
pub use row::{Glance, Head, InboxMessage, Posted, Query, Restored, RunRow, StoreProblem, StoredEvent, Task};
pub use scope::{LoginScope, REPORT_BYTES_MAX, WorkReport};
pub use sqlite::{Sqlite, SqliteOptions, Synchronous};
pub use worker::{FORGOTTEN_MS, Listed, Worker};

/// The future of a call. Dropping it does not undo the call, which may still be executed.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A store of runs.
///
/// Every call is one transaction: others see all of it or nothing. A call that starts after another one was
/// acknowledged sees its result. A call that names an unknown run returns [`Error::UnknownRun`] if it writes, or
/// reads events. Other calls return nothing.
pub trait Store: Send + Sync {
    /// Appends to a run and returns its new last seq.
    ///
    /// - `expected` must be the last seq of the run. Otherwise nothing changes: [`Error::Conflict`].
    /// - `expected` 0 creates the run. If it exists: [`Error::Exists`]. Creating without a head: [`Error::Invalid`].
    /// - If the same events are stored at the same place, the call returns [`Error::AlreadyApplied`], even if others
    ///   follow. So a caller that lost the reply tries again.
    /// - Events get the seqs `expected + 1…` in the order given. An id of another event: [`Error::Exists`].
    /// - A task ends only at its attempt and, if a worker is named, only if that worker holds it. Otherwise:
    ///   [`Error::Fenced`]. A worker holds a task with an expired lease until an append ends it.
    /// - A task starts only if no task with its key is open. Otherwise: [`Error::Exists`]. Tasks that the same append
    ///   ends do not count.
    /// - A consumed message must be in the inbox of this run, and leaves it. Otherwise: [`Error::Conflict`].
    /// - Setting a timer again moves it. A blob is stored once, even if several callers send it.
    fn append(&self, append: Append) -> Pending<'_, u64>;

    /// The events after seq `after`, in order, at most `limit`. Damaged events return [`Error::Corrupt`]; other runs
    /// stay readable.
    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>>;

    /// One run.
    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>>;

    /// The runs that match `query`, newest first. An unknown run in `before` or `after` returns
    /// [`Error::UnknownRun`].
    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>>;

    /// Bytes by their hash, while some run refers to them.
    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>>;

    /// Puts a message into the inbox of its run, unless its `(source, dedup)` was ever posted before. That holds even
    /// if the earlier message was consumed, was for another run, or its run was removed.
    fn post(&self, message: NewMessage) -> Pending<'_, Posted>;

    /// The messages of a run that no append has consumed, oldest first.
    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<InboxMessage>>;

    /// Runs that have messages, those with the oldest message first.
    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>>;

    /// Timers that are due at `now_ms`, the longest due first. They stay until an append clears them.
    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>>;

    /// The time of the next timer, past or future.
    fn next_due(&self) -> Pending<'_, Option<i64>>;

    /// Whether there is work, in one cheap question. Workers ask it while nothing happens. If it notices changes, it
    /// wakes the watchers.
    fn glance(&self) -> Pending<'_, Glance>;

    /// Gives free tasks to a worker that has all their labels, until `now_ms + lease_ms`. No task is given twice. A
    /// task with an expired lease is not given: an append must end it first.
    ///
    /// - The run with the fewest held tasks comes first, then the oldest task. Of very many runs, older ones come
    ///   first.
    /// - Caps count all held tasks, also those that started with a worker. No claim exceeds a cap.
    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>>;

    /// Moves the end of every lease of `worker` to `now_ms + lease_ms` and returns the tasks that it holds. The
    /// worker has lost a task that is missing in the answer: stop it, and kill its process tree.
    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>>;

    /// Held tasks whose lease ended at or before `now_ms`, longest expired first.
    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>>;

    /// The open tasks of a run, oldest first.
    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>>;

    /// Records a sign of life of a worker. It does not wake watchers. Workers without a sign of life for
    /// [`FORGOTTEN_MS`] are removed.
    fn greet(&self, worker: Worker) -> Pending<'_, ()>;

    /// Removes a worker that leaves. It keeps its tasks.
    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()>;

    /// The workers that have greeted, ordered by name and id. Some may be gone.
    fn workers(&self) -> Pending<'_, Vec<Listed>>;

    /// Tasks that no worker holds, oldest first, at most `limit`.
    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>>;

    /// Stores `bytes` as the state of the run at `seq`. An older snapshot than the stored one is ignored. A seq that
    /// the run has not reached is [`Error::Invalid`].
    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()>;

    /// The newest snapshot of a run. A caller may always ignore it.
    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>>;

    /// The newest snapshot and at most `limit` events after it, in one call. This is enough to continue a run. Two
    /// calls would also do, because a run only grows.
    fn restore(&self, run: &RunId, limit: usize) -> Pending<'_, Restored> {
        let run = run.clone();
        Box::pin(async move {
            let snapshot = self.snapshot(&run).await?;
            let after = snapshot.as_ref().map_or(0, |(seq, _)| *seq);
            Ok(Restored { events: self.read(&run, after, limit).await?, snapshot })
        })
    }

    /// The blobs that a run refers to.
    fn blobs(&self, run: &RunId) -> Pending<'_, Vec<Hash>>;

    /// The timers of a run.
    fn timers(&self, run: &RunId) -> Pending<'_, Vec<Timer>>;

    /// The `(source, dedup)` of all messages ever posted, in order, after the given one, at most `limit`.
    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>>;

    /// Records messages as posted, although they were posted elsewhere: see [`Store::post`].
    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()>;

    /// Removes a run with all its events, timers, tasks, messages, its snapshot, and the blobs that no other run
    /// refers to. The `(source, dedup)` of its messages stay recorded: see [`Store::post`].
    fn remove(&self, run: &RunId) -> Pending<'_, ()>;

    /// A number that changes after every write: at once for this process, soon for others.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Like [`Store::watch`], but only for possible work: runs, messages, free tasks. A store may report more than
    /// that.
    fn watch_work(&self) -> watch::Receiver<u64> {
        self.watch()
    }

    /// From now on a write that finds no space waits until there is some. Returns the reason of the wait, if the
    /// store can wait.
    fn wait_for_room(&self) -> Option<watch::Receiver<Option<String>>> {
        None
    }

    /// Checks everything: checksums, gaps, orphans. Returns an empty list if the store is healthy.
    fn check(&self) -> Pending<'_, Vec<StoreProblem>>;

    /// The restricted rights of a login, if the store was opened with one: see [`LoginScope`].
    fn scope(&self) -> Option<&dyn LoginScope> {
        None
    }

    /// The current time of the store; `None` for a store that machines do not share.
    fn now_ms(&self) -> Pending<'_, Option<i64>> {
        Box::pin(async { Ok(None) })
    }
}
