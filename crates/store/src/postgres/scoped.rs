//! A PostgreSQL store that is opened with a login.
//!
//! A login writes through functions that check its rights: see `postgres/004.sql`. All other calls are the usual
//! ones, and the database answers or refuses them.
//!
//! **Invariant:** this file does not decide what a login may do.

use longhaul_core::id::RunId;
use tokio::sync::watch;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::fleet::json;
use super::logins::labels_in;
use super::news::Written;
use super::waiting::task;
use super::{Postgres, count};
use crate::{
    Append, Claim, Error, Glance, Hash, InboxMessage, Listed, LoginScope, NewMessage, Pending, Posted, Query,
    REPORT_BYTES_MAX, RunRow, Store, StoreProblem, StoredEvent, Task, Timer, WorkReport, Worker, WorkerId,
};

const TASK: &str = "SELECT run, key, attempt, worker, lease_until_ms, labels FROM";

/// A store in a database, opened with a login.
pub struct Scoped {
    inner: Postgres,
    login: String,
    labels: Option<Vec<String>>,
}

impl Postgres {
    /// The login with which the store was opened, if any.
    pub async fn login(&self) -> Result<Option<String>, Error> {
        Ok(self.desk.read("SELECT login_1()", &[]).await?.first().and_then(|row| row.get(0)))
    }

    /// The store as a login sees it.
    pub async fn scoped(self, login: String) -> Result<Scoped, Error> {
        let sql = "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = session_user";
        let rows = self.desk.read(sql, &[]).await?;
        let labels = rows.first().and_then(|row| row.get::<_, Option<&str>>(0)).and_then(labels_in);
        Ok(Scoped { inner: self, login, labels })
    }
}

/// PostgreSQL's error code for a function that the user may not see.
const NO_SUCH_FUNCTION: &str = "(42883)";

impl Scoped {
    /// Calls a function that writes about `bytes` bytes. If the login was removed, the error says so.
    async fn call(&self, sql: &str, values: &[&(dyn ToSql + Sync)], bytes: usize) -> Result<Vec<Row>, Error> {
        match self.inner.desk.write(sql, values, bytes).await {
            Err(Error::Denied(_) | Error::Io(_)) if self.is_taken_back().await => {
                Err(Error::Denied(format!("the login `{}` was removed", self.login)))
            }
            answer => Ok(answer?.rows),
        }
    }

    async fn is_taken_back(&self) -> bool {
        match self.inner.login().await {
            Ok(login) => login.as_ref() != Some(&self.login),
            Err(Error::Denied(_)) => true,
            Err(Error::Io(why)) => why.ends_with(NO_SUCH_FUNCTION),
            Err(_) => false,
        }
    }

    async fn tasks_of(&self, call: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Task>, Error> {
        let rows = self.call(&format!("{TASK} {call}"), values, 0).await?;
        if !rows.is_empty() {
            self.inner.news.wrote(Written::Progress);
        }
        rows.iter().map(task).collect()
    }

    async fn claim_some(&self, claim: &Claim) -> Result<Vec<Task>, Error> {
        let token = Uuid::new_v4().into_bytes();
        let capped: Vec<&str> = claim.caps.labels.keys().map(String::as_str).collect();
        let capped_max: Vec<i64> = claim.caps.labels.values().map(|max| i64::from(*max)).collect();
        let values: [&(dyn ToSql + Sync); 8] = [
            &claim.worker.as_str(),
            &json(&claim.labels),
            &claim.until_ms(),
            &count(claim.limit),
            &&token[..],
            &claim.caps.all.map(i64::from),
            &capped,
            &capped_max,
        ];
        self.tasks_of("scoped_claim_1($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8)", &values).await
    }

    async fn say_there(&self, worker: &Worker) -> Result<(), Error> {
        let Worker { id, name, host, labels, slots, version, since_ms, seen_ms } = worker;
        let values: [&(dyn ToSql + Sync); 8] =
            [&id.as_str(), name, host, &json(labels), &i64::from(*slots), version, since_ms, seen_ms];
        self.call("SELECT scoped_greet_1($1, $2, $3, $4, $5, $6, $7, $8)", &values, 0).await.map(drop)
    }

    async fn tell(&self, report: &WorkReport) -> Result<(), Error> {
        let WorkReport { worker, run, key, attempt, text, at_ms } = report;
        if text.len() > REPORT_BYTES_MAX {
            return Err(Error::TooLarge { what: "a report", bytes: text.len(), limit: REPORT_BYTES_MAX });
        }
        let token = Uuid::new_v4().into_bytes();
        let values: [&(dyn ToSql + Sync); 7] =
            [&worker.as_str(), &run.as_str(), key, &i64::from(*attempt), text, at_ms, &&token[..]];
        let sql = "SELECT scoped_report_1($1, $2, $3, $4, $5, $6, $7)";
        self.call(sql, &values, text.len()).await?;
        self.inner.news.wrote(Written::Work);
        Ok(())
    }
}

impl LoginScope for Scoped {
    fn login(&self) -> &str {
        &self.login
    }

    fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    fn report(&self, report: WorkReport) -> Pending<'_, ()> {
        Box::pin(async move { self.tell(&report).await })
    }

    fn inherit(&self, worker: &WorkerId, from: &WorkerId, until_ms: i64) -> Pending<'_, Vec<Task>> {
        let (worker, from) = (worker.clone(), from.clone());
        Box::pin(async move {
            self.tasks_of("scoped_inherit_1($1, $2, $3)", &[&worker.as_str(), &from.as_str(), &until_ms]).await
        })
    }
}

impl Store for Scoped {
    fn scope(&self) -> Option<&dyn LoginScope> {
        Some(self)
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>> {
        Box::pin(async move { self.claim_some(&claim).await })
    }

    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>> {
        let (worker, until_ms) = (worker.clone(), now_ms.saturating_add(lease_ms));
        Box::pin(async move { self.tasks_of("scoped_renew_1($1, $2)", &[&worker.as_str(), &until_ms]).await })
    }

    fn greet(&self, worker: Worker) -> Pending<'_, ()> {
        Box::pin(async move { self.say_there(&worker).await })
    }

    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()> {
        let worker = worker.clone();
        Box::pin(async move {
            let sql = "SELECT scoped_dismiss_1($1)";
            self.inner.desk.write(sql, &[&worker.as_str()], 0).await.map(drop)
        })
    }

    /// A login cannot read messages: the engine records them.
    fn with_mail(&self, _: usize) -> Pending<'_, Vec<RunId>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn append(&self, append: Append) -> Pending<'_, u64> {
        self.inner.append(append)
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
        self.inner.post(message)
    }

    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<InboxMessage>> {
        self.inner.inbox(run)
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

    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>> {
        self.inner.expired(now_ms, limit)
    }

    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>> {
        self.inner.tasks(run)
    }

    fn workers(&self) -> Pending<'_, Vec<Listed>> {
        self.inner.workers()
    }

    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>> {
        self.inner.unheld(limit)
    }

    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()> {
        self.inner.save_snapshot(run, seq, bytes)
    }

    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>> {
        self.inner.snapshot(run)
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
        self.inner.remove(run)
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.inner.watch()
    }

    fn watch_work(&self) -> watch::Receiver<u64> {
        self.inner.watch_work()
    }

    fn check(&self) -> Pending<'_, Vec<StoreProblem>> {
        self.inner.check()
    }

    fn now_ms(&self) -> Pending<'_, Option<i64>> {
        self.inner.now_ms()
    }
}
