//! Keeps runs: events in, events out; tasks with leases; timers; inbox; blobs. Knows no meaning.
//!
//! [`Store`] is a contract. Each of its clauses has a test in `conformance`, and a store is what passes
//! them: [`Memory`], the reference; [`Sqlite`], one file that several processes can share; [`Postgres`], a database that
//! several machines can.
//!
//! **Invariant:** what was acknowledged stays; what was refused left no trace. No store decides by a clock: times
//! come with the calls. One that is shared by machines can be asked what time it is, so that all of them mean the same.

mod append;
mod claim;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod copy;
mod error;
mod failpoints;
mod key;
mod memory;
mod place;
mod postgres;
mod row;
mod scope;
mod sqlite;
mod worker;

use std::pin::Pin;

use longhaul_core::id::RunId;
use tokio::sync::watch;

pub use append::{
    Append, BLOB_BYTES_MAX, BODY_BYTES_MAX, Blob, NewEvent, NewMessage, NewTask, TaskEnd, Timer, validate_snapshot,
};
pub use claim::{Caps, Claim};
pub use copy::{Copied, copy};
pub use error::Error;
pub use failpoints::{Failpoint, Failpoints, NotAFailpoint};
pub use key::{EventId, Hash, MessageId, NotHex, WorkerId};
pub use memory::Memory;
pub use place::Place;
pub use postgres::{Address, Admitted, Expelled, Login, NewLogin, Options as PostgresOptions, Postgres, Scoped};
pub use row::{Glance, Head, Message, Posted, Problem, Query, Restored, RunRow, StoredEvent, Task};
pub use scope::{REPORT_BYTES_MAX, Report, Scope};
pub use sqlite::{Options, Sqlite, Synchronous};
pub use worker::{FORGOTTEN_MS, Listed, Worker};

/// An answer to come. Dropping it does not undo the call, which may still be carried out.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Where runs are kept.
///
/// Every call is one transaction: others see all of it or nothing, and a call that starts after
/// another one was acknowledged sees what that one did. Calls that name a run which does not exist answer [`Error::UnknownRun`]
/// where they would write or read its events; the others answer that there is nothing.
pub trait Store: Send + Sync {
    /// Moves a run forward; answers its new last seq.
    ///
    /// - `expected` is the last seq of the run, or nothing changes: [`Error::Conflict`].
    /// - `expected` 0 makes the run; one that is there answers [`Error::Exists`]. Creating without head is [`Error::Invalid`].
    /// - The same events at the same place as before answer [`Error::AlreadyApplied`], whatever came after
    ///   them. So a caller whose reply was lost simply tries again.
    /// - Events get the seqs `expected + 1…` in the order given. An id that another event has is [`Error::Exists`].
    /// - A task ends only at its attempt and, where a worker is named, only if that worker holds it: else
    ///   [`Error::Fenced`]. A lease that has run out is still held until somebody ends the task.
    /// - A task is started only if none of its key is open: else [`Error::Exists`]. Tasks that the same append ends do not count.
    /// - A consumed message was in the inbox of this run, and is not from now on: else [`Error::Conflict`].
    /// - Timers are moved when they are set again; blobs are stored once, whoever sends them.
    fn append(&self, append: Append) -> Pending<'_, u64>;

    /// The events after seq `after`, in order, at most `limit`. Events that are not what was written
    /// answer [`Error::Corrupt`]; other runs are read as before.
    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>>;

    /// One run.
    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>>;

    /// The runs that `query` describes, newest first. An unknown run in `before` or `after` answers [`Error::UnknownRun`].
    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>>;

    /// Bytes by their hash, while some run refers to them.
    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>>;

    /// Puts a message into the inbox of its run, unless its `(source, dedup)` was ever posted before:
    /// also if that message has been consumed, was for another run, or its run has been removed.
    fn post(&self, message: NewMessage) -> Pending<'_, Posted>;

    /// The messages of a run that no append has consumed, oldest first.
    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<Message>>;

    /// Runs that have messages, those with the oldest message first.
    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>>;

    /// Timers that are due at `now_ms`, the longest due first. They stay until an append clears them.
    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>>;

    /// When the next timer is due, be it past or to come.
    fn next_due(&self) -> Pending<'_, Option<i64>>;

    /// Whether there is something to do, as one question that costs little: what a worker asks while nothing happens. Who
    /// watches hears of changes that are noticed by it.
    fn glance(&self) -> Pending<'_, Glance>;

    /// Gives tasks that nobody holds to a worker that has all their labels, until `now_ms + lease_ms`. No task is given twice;
    /// one whose lease has run out is not given at all, but ended by an append that knows what it means.
    ///
    /// - A run that has fewer tasks at work goes first; then the oldest task. Of very many runs, older ones go first.
    /// - Caps are counted over all tasks that are held, however they came to be, and no claim goes beyond one.
    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>>;

    /// Moves the end of every lease of `worker` to `now_ms + lease_ms`; answers the tasks it holds. What is
    /// missing in the answer is lost: stop it, and kill its process tree.
    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>>;

    /// Held tasks whose lease ended at or before `now_ms`, the longest ended first.
    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>>;

    /// The open tasks of a run, oldest first.
    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>>;

    /// Notes that a worker is there; once more for each sign of life. Nobody who watches hears of it. Those that were silent
    /// for [`FORGOTTEN_MS`] are forgotten.
    fn greet(&self, worker: Worker) -> Pending<'_, ()>;

    /// Forgets a worker that goes. What it holds, it holds.
    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()>;

    /// The workers that have said they are there, in the order of their names and ids, whether they still are or not.
    fn workers(&self) -> Pending<'_, Vec<Listed>>;

    /// Tasks that nobody holds, oldest first, at most `limit`.
    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>>;

    /// Keeps `bytes` as the state of the run at `seq`. An older one than is kept is ignored; a seq that the run has not reached
    /// is [`Error::Invalid`].
    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()>;

    /// The newest snapshot of a run. Always safe to ignore.
    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>>;

    /// The newest snapshot and at most `limit` events after it: what it takes to continue with a run, in one call.
    /// Two would do as well, because a run only grows.
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

    /// What was ever posted, as `(source, dedup)` in order, after one of them, at most `limit`.
    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>>;

    /// Takes messages for posted before, wherever that was: see [`Store::post`].
    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()>;

    /// Forgets a run with all its events, timers, tasks, messages, its snapshot, and the blobs that no other run refers
    /// to. What its messages were called stays known: see [`Store::post`].
    fn remove(&self, run: &RunId) -> Pending<'_, ()>;

    /// A number that changes whenever something was written: by this process at once, by others soon.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Like [`Store::watch`], of what may be work for somebody: runs, messages, tasks that nobody holds. A store may tell of
    /// more than that.
    fn watch_work(&self) -> watch::Receiver<u64> {
        self.watch()
    }

    /// From now on a write that finds no room waits until there is. Answers what is waited for, if it is a store that can wait.
    fn wait_for_room(&self) -> Option<watch::Receiver<Option<String>>> {
        None
    }

    /// Looks at everything: checksums, gaps, orphans. Empty when all is well.
    fn check(&self) -> Pending<'_, Vec<Problem>>;

    /// What may be done here, where that is less than everything: see [`Scope`].
    fn scope(&self) -> Option<&dyn Scope> {
        None
    }

    /// What time it is where the store is; `None` for one that is never shared by machines, whose clocks could differ.
    fn now_ms(&self) -> Pending<'_, Option<i64>> {
        Box::pin(async { Ok(None) })
    }
}
