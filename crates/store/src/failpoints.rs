//! A store that kills its process at a chosen call, for tests of recovery.
//!
//! `append:before:7` aborts before the seventh append, `append:after:7` after its acknowledgement.
//!
//! **Invariant:** until the point is reached, every call goes through unchanged.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_core::id::RunId;
use tokio::sync::watch;

use crate::{
    Append, Claim, Glance, Hash, InboxMessage, Listed, LoginScope, NewMessage, Pending, Posted, Query, Restored,
    RunRow, Store, StoreProblem, StoredEvent, Task, Timer, Worker, WorkerId,
};

/// The call at which the process ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failpoint {
    call: Call,
    side: Side,
    /// The number of the call among its kind, from 1.
    number: u64,
}

/// The calls that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Append,
    Post,
    Claim,
    Renew,
    SaveSnapshot,
    Remove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// The text does not name a failpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a failpoint: CALL:before|after:NUMBER, where CALL is append, post, claim, renew, save_snapshot or remove"
)]
pub struct NotAFailpoint(String);

impl FromStr for Failpoint {
    type Err = NotAFailpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(':');
        let found = (parts.next(), parts.next(), parts.next().and_then(|number| number.parse().ok()), parts.next());
        let (Some(call), Some(side), Some(number), None) = found else { return Err(NotAFailpoint(text.to_owned())) };
        match (call_named(call), side_named(side)) {
            (Some(call), Some(side)) => Ok(Self { call, side, number }),
            _ => Err(NotAFailpoint(text.to_owned())),
        }
    }
}

fn call_named(name: &str) -> Option<Call> {
    Some(match name {
        "append" => Call::Append,
        "post" => Call::Post,
        "claim" => Call::Claim,
        "renew" => Call::Renew,
        "save_snapshot" => Call::SaveSnapshot,
        "remove" => Call::Remove,
        _ => return None,
    })
}

fn side_named(name: &str) -> Option<Side> {
    match name {
        "before" => Some(Side::Before),
        "after" => Some(Side::After),
        _ => None,
    }
}

/// A store with a failpoint.
pub struct Failpoints {
    inner: Arc<dyn Store>,
    point: Failpoint,
    seen: AtomicU64,
    /// Ends the process. Tests replace it.
    end: fn(),
}

impl Failpoints {
    /// Wraps `inner` until `point` is reached.
    pub fn new(inner: Arc<dyn Store>, point: Failpoint) -> Self {
        Self { inner, point, seen: AtomicU64::new(0), end: || std::process::abort() }
    }

    fn around<'a, T: 'a>(&'a self, call: Call, pending: Pending<'a, T>) -> Pending<'a, T> {
        if self.point.call != call {
            return pending;
        }
        Box::pin(async move {
            let hit = self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.point.number;
            if hit && self.point.side == Side::Before {
                (self.end)();
            }
            let answer = pending.await;
            if hit && self.point.side == Side::After && answer.is_ok() {
                (self.end)();
            }
            answer
        })
    }
}

impl Store for Failpoints {
    fn append(&self, append: Append) -> Pending<'_, u64> {
        // Created lazily: an append must not start before its failpoint.
        self.around(Call::Append, Box::pin(async move { self.inner.append(append).await }))
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>> {
        self.inner.read(run, after, limit)
    }

    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>> {
        self.inner.run(run)
    }

    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>> {
        self.inner.runs(query)
    }

    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>> {
        self.inner.blob(hash)
    }

    fn post(&self, message: NewMessage) -> Pending<'_, Posted> {
        self.around(Call::Post, Box::pin(async move { self.inner.post(message).await }))
    }

    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<InboxMessage>> {
        self.inner.inbox(run)
    }

    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>> {
        self.inner.with_mail(limit)
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>> {
        self.inner.due(now_ms, limit)
    }

    fn next_due(&self) -> Pending<'_, Option<i64>> {
        self.inner.next_due()
    }

    fn glance(&self) -> Pending<'_, Glance> {
        self.inner.glance()
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>> {
        self.around(Call::Claim, Box::pin(async move { self.inner.claim(claim).await }))
    }

    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>> {
        let worker = worker.clone();
        self.around(Call::Renew, Box::pin(async move { self.inner.renew(&worker, now_ms, lease_ms).await }))
    }

    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>> {
        self.inner.expired(now_ms, limit)
    }

    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>> {
        self.inner.tasks(run)
    }

    fn greet(&self, worker: Worker) -> Pending<'_, ()> {
        self.inner.greet(worker)
    }

    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()> {
        self.inner.dismiss(worker)
    }

    fn workers(&self) -> Pending<'_, Vec<Listed>> {
        self.inner.workers()
    }

    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>> {
        self.inner.unheld(limit)
    }

    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()> {
        let run = run.clone();
        self.around(Call::SaveSnapshot, Box::pin(async move { self.inner.save_snapshot(&run, seq, bytes).await }))
    }

    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>> {
        self.inner.snapshot(run)
    }

    fn restore(&self, run: &RunId, limit: usize) -> Pending<'_, Restored> {
        self.inner.restore(run, limit)
    }

    fn blobs(&self, run: &RunId) -> Pending<'_, Vec<Hash>> {
        self.inner.blobs(run)
    }

    fn timers(&self, run: &RunId) -> Pending<'_, Vec<Timer>> {
        self.inner.timers(run)
    }

    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>> {
        self.inner.posted(after, limit)
    }

    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()> {
        self.inner.remember(posted)
    }

    fn remove(&self, run: &RunId) -> Pending<'_, ()> {
        let run = run.clone();
        self.around(Call::Remove, Box::pin(async move { self.inner.remove(&run).await }))
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.inner.watch()
    }

    fn watch_work(&self) -> watch::Receiver<u64> {
        self.inner.watch_work()
    }

    fn wait_for_room(&self) -> Option<watch::Receiver<Option<String>>> {
        self.inner.wait_for_room()
    }

    fn check(&self) -> Pending<'_, Vec<StoreProblem>> {
        self.inner.check()
    }

    fn scope(&self) -> Option<&dyn LoginScope> {
        self.inner.scope()
    }

    fn now_ms(&self) -> Pending<'_, Option<i64>> {
        self.inner.now_ms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventId, Head, Memory, NewEvent};

    fn first(run: &str) -> Append {
        let event = NewEvent { id: EventId(uuid_of(run)), at_ms: 1, body: "{}".to_owned() };
        let mut append = Append::new(RunId::new(run).unwrap(), 0, vec![event]);
        append.head = Some(Head::default());
        append
    }

    fn uuid_of(text: &str) -> u128 {
        text.bytes().fold(1, |sum, byte| sum * 31 + u128::from(byte))
    }

    fn failing(text: &str) -> (Arc<Memory>, Failpoints) {
        let memory = Arc::new(Memory::default());
        let end = || std::panic::panic_any("the end");
        let inner: Arc<dyn Store> = memory.clone();
        (memory, Failpoints { end, ..Failpoints::new(inner, text.parse().unwrap()) })
    }

    async fn ends_at_the_second(text: &str) -> bool {
        let (memory, failing) = failing(text);
        failing.append(first("run-a")).await.unwrap();
        let second = tokio::spawn(async move { failing.append(first("run-b")).await.map(|_| ()) });
        assert!(second.await.unwrap_err().is_panic());
        memory.run(&RunId::new("run-b").unwrap()).await.unwrap().is_some()
    }

    #[tokio::test]
    async fn the_call_is_made_only_if_the_end_comes_after_it() {
        assert!(!ends_at_the_second("append:before:2").await);
        assert!(ends_at_the_second("append:after:2").await);
    }

    #[test]
    fn what_names_no_failpoint_is_refused() {
        for text in
            ["", "append", "append:before", "append:before:x", "append:during:1", "read:before:1", "append:after:1:1"]
        {
            assert_eq!(text.parse::<Failpoint>(), Err(NotAFailpoint(text.to_owned())), "{text}");
        }
    }
}
