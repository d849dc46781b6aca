//! A store in a PostgreSQL database, which the processes of many machines can share.
//!
//! Each call is one statement, and each write is one function of the database: see `postgres/001.sql`. A connection that is lost
//! is made again, and what may have been done is asked for again under the same name.
//!
//! **Invariant:** what was acknowledged is on the disk of the server. What is read is what was written, or an error, and
//! is read where it was written: never from a copy that may be behind.

mod address;
mod append;
mod ask;
mod check;
mod fault;
mod fleet;
mod logins;
mod news;
mod runs;
mod schema;
mod scoped;
mod session;
mod tls;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use tokio::sync::watch;

pub use address::Address;
pub use logins::{Admitted, Expelled, Login, NewLogin};
pub use scoped::Scoped;

use crate::append::validated;
use crate::{
    Append, Claim, Error, Glance, Hash, Listed, Message, NewMessage, Pending, Posted, Problem, Query, RunRow, Store,
    StoredEvent, Task, Timer, Worker, WorkerId, validate_snapshot,
};
use ask::Desk;
use news::News;

/// A store in a database.
pub struct Postgres {
    news: News,
    desk: Arc<Desk>,
}

/// How a database is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many statements run at once.
    pub connections: usize,
    /// How long a database that does not answer is waited for when it is opened.
    pub opening: Duration,
    /// How long one that has answered before is waited for, before a call ends with [`Error::Unreachable`].
    pub patience: Duration,
    /// How long one answer is waited for, before another connection is tried.
    pub answer: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let [opening, patience, answer] = [10, 30, 10].map(Duration::from_secs);
        Self { connections: 8, opening, patience: told_patience().unwrap_or(patience), answer }
    }
}

/// Debug builds can be told to wait less, to test what happens after.
fn told_patience() -> Option<Duration> {
    let told = std::env::var("LONGHAUL_PATIENCE_MS").ok().filter(|_| cfg!(debug_assertions));
    told?.parse().ok().map(Duration::from_millis)
}

impl Postgres {
    /// Opens the store, and makes its tables if they are not there. Must be called inside a Tokio runtime.
    pub async fn open(address: &Address, options: Options) -> Result<Self, Error> {
        Self::opened(address, options, None).await
    }

    /// The same, but one that does not answer is waited for as long as it takes; every [`Options::opening`] it is told why.
    pub async fn open_patiently(
        address: &Address,
        options: Options,
        told: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, Error> {
        Self::opened(address, options, Some(told)).await
    }

    async fn opened(address: &Address, options: Options, told: Option<&(dyn Fn(&str) + Sync)>) -> Result<Self, Error> {
        schema::prepare(address, &options, told).await?;
        let desk = Arc::new(Desk::new(session::pool(address, &options)?, options));
        Ok(Self { news: News::start(address, &desk).await?, desk })
    }

    /// Whether there is a store at this address that this program can use; makes nothing. Must be called inside a Tokio runtime.
    pub async fn is_there(address: &Address, patience: Duration) -> Result<bool, Error> {
        schema::is_there(address, patience).await
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.desk.close();
    }
}

/// A limit, as PostgreSQL counts.
fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Store for Postgres {
    fn append(&self, append: Append) -> Pending<'_, u64> {
        Box::pin(async move {
            let append = validated(append).await?;
            append::append(self, &append).await
        })
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>> {
        let run = run.clone();
        Box::pin(async move { runs::read(self, &run, (after, limit)).await })
    }

    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>> {
        let run = run.clone();
        Box::pin(async move { runs::run(self, &run).await })
    }

    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>> {
        Box::pin(runs::runs(self, query))
    }

    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>> {
        Box::pin(runs::blob(self, hash))
    }

    fn post(&self, message: NewMessage) -> Pending<'_, Posted> {
        Box::pin(async move {
            message.validate()?;
            waiting::post(self, &message).await
        })
    }

    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<Message>> {
        let run = run.clone();
        Box::pin(async move { waiting::inbox(self, &run).await })
    }

    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>> {
        Box::pin(waiting::with_mail(self, limit))
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>> {
        Box::pin(waiting::due(self, now_ms, limit))
    }

    fn next_due(&self) -> Pending<'_, Option<i64>> {
        Box::pin(waiting::next_due(self))
    }

    fn glance(&self) -> Pending<'_, Glance> {
        Box::pin(waiting::glance(self))
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>> {
        Box::pin(async move { fleet::claim(self, &claim).await })
    }

    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>> {
        let (worker, until_ms) = (worker.clone(), now_ms.saturating_add(lease_ms));
        Box::pin(async move { waiting::renew(self, &worker, until_ms).await })
    }

    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>> {
        Box::pin(waiting::expired(self, now_ms, limit))
    }

    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>> {
        let run = run.clone();
        Box::pin(async move { waiting::tasks(self, &run).await })
    }

    fn greet(&self, worker: Worker) -> Pending<'_, ()> {
        Box::pin(async move { fleet::greet(self, &worker).await })
    }

    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()> {
        let worker = worker.clone();
        Box::pin(async move { fleet::dismiss(self, &worker).await })
    }

    fn workers(&self) -> Pending<'_, Vec<Listed>> {
        Box::pin(fleet::workers(self))
    }

    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>> {
        Box::pin(fleet::unheld(self, limit))
    }

    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()> {
        let run = run.clone();
        Box::pin(async move {
            validate_snapshot(&bytes)?;
            runs::save_snapshot(self, &run, (seq, &bytes)).await
        })
    }

    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>> {
        let run = run.clone();
        Box::pin(async move { runs::snapshot(self, &run).await })
    }

    fn blobs(&self, run: &RunId) -> Pending<'_, Vec<Hash>> {
        let run = run.clone();
        Box::pin(async move { runs::blobs(self, &run).await })
    }

    fn timers(&self, run: &RunId) -> Pending<'_, Vec<Timer>> {
        let run = run.clone();
        Box::pin(async move { waiting::timers(self, &run).await })
    }

    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>> {
        Box::pin(waiting::posted(self, after, limit))
    }

    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()> {
        Box::pin(waiting::remember(self, posted))
    }

    fn remove(&self, run: &RunId) -> Pending<'_, ()> {
        let run = run.clone();
        Box::pin(async move { runs::remove(self, &run).await })
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.news.watch()
    }

    fn watch_work(&self) -> watch::Receiver<u64> {
        self.news.watch_work()
    }

    fn check(&self) -> Pending<'_, Vec<Problem>> {
        Box::pin(check::check(self))
    }

    fn now_ms(&self) -> Pending<'_, Option<i64>> {
        Box::pin(async move {
            let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
            Ok(self.desk.read(sql, &[]).await?.first().map(|row| row.get(0)))
        })
    }
}
