//! Messages, timers and tasks in PostgreSQL.

use longhaul_core::id::RunId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::news::Written;
use super::runs::run_id;
use super::{Postgres, count};
use crate::{Error, Glance, InboxMessage, MessageId, NewMessage, Posted, Task, Timer, WorkerId};

/// See [`crate::Store::post`].
pub(super) async fn post(store: &Postgres, message: &NewMessage) -> Result<Posted, Error> {
    let NewMessage { run, source, dedup, body, at_ms } = message;
    let token = Uuid::new_v4().into_bytes();
    let sql = "SELECT post_1($1, $2, $3, $4, $5, $6)";
    let answer = store
        .desk
        .write(sql, &[&run.as_str(), source, dedup, &body.as_bytes(), at_ms, &&token[..]], body.len())
        .await?;
    if answer.rows.first().is_some_and(|row| row.get::<_, &str>(0) == "duplicate") {
        return Ok(Posted::Duplicate);
    }
    store.news.wrote(Written::Work);
    Ok(Posted::New)
}

/// See [`crate::Store::inbox`].
pub(super) async fn inbox(store: &Postgres, run: &RunId) -> Result<Vec<InboxMessage>, Error> {
    let sql = "SELECT id, source, dedup, body, at_ms FROM message
               WHERE run = (SELECT number FROM run WHERE id = $1) ORDER BY id";
    let rows = store.desk.read(sql, &[&run.as_str()]).await?;
    rows.iter().map(|row| message(run, row)).collect()
}

fn message(run: &RunId, row: &Row) -> Result<InboxMessage, Error> {
    let body = String::from_utf8(row.get(3)).map_err(|_| Error::Corrupt("a message is not text".to_owned()))?;
    let id = MessageId(row.get(0));
    Ok(InboxMessage { id, run: run.clone(), source: row.get(1), dedup: row.get(2), body, at_ms: row.get(4) })
}

/// See [`crate::Store::with_mail`].
pub(super) async fn with_mail(store: &Postgres, limit: usize) -> Result<Vec<RunId>, Error> {
    let sql = "SELECT run.id FROM message JOIN run ON run.number = message.run
               GROUP BY run.id ORDER BY min(message.id) LIMIT $1";
    store.desk.read(sql, &[&count(limit)]).await?.iter().map(|row| run_id(row.get(0))).collect()
}

/// See [`crate::Store::due`].
pub(super) async fn due(store: &Postgres, now_ms: i64, limit: usize) -> Result<Vec<Timer>, Error> {
    let sql = "SELECT run.id, timer.id, due_ms FROM timer JOIN run ON run.number = timer.run
               WHERE due_ms <= $1 ORDER BY due_ms, run.id, timer.id LIMIT $2";
    let rows = store.desk.read(sql, &[&now_ms, &count(limit)]).await?;
    rows.iter().map(|row| Ok(Timer { run: run_id(row.get(0))?, id: row.get(1), due_ms: row.get(2) })).collect()
}

/// See [`crate::Store::next_due`].
pub(super) async fn next_due(store: &Postgres) -> Result<Option<i64>, Error> {
    let rows = store.desk.read("SELECT min(due_ms) FROM timer", &[]).await?;
    Ok(rows.first().and_then(|row| row.get(0)))
}

/// A statement, not a function: it is asked most often, and a prepared statement costs half as much.
const GLANCE: &str = "SELECT pg_sequence_last_value('change'),
    (SELECT id FROM message ORDER BY id LIMIT 1) IS NOT NULL,
    (SELECT due_ms FROM timer ORDER BY due_ms LIMIT 1),
    (SELECT number FROM task WHERE worker IS NULL ORDER BY number LIMIT 1) IS NOT NULL,
    (SELECT id FROM run ORDER BY number DESC LIMIT 1)";

/// See [`crate::Store::glance`].
pub(super) async fn glance(store: &Postgres) -> Result<Glance, Error> {
    let own = store.news.own();
    let rows = store.desk.read(GLANCE, &[]).await?;
    let row = rows.first().ok_or_else(|| Error::Corrupt("a glance was not answered".to_owned()))?;
    let moved = store.news.saw(row.get(0), own);
    let newest = row.get::<_, Option<String>>(4).map(run_id).transpose()?;
    Ok(Glance { mail: row.get(1), next_due: row.get(2), unheld: row.get(3), newest, moved })
}

/// See [`crate::Store::timers`].
pub(super) async fn timers(store: &Postgres, run: &RunId) -> Result<Vec<Timer>, Error> {
    let sql = "SELECT id, due_ms FROM timer WHERE run = (SELECT number FROM run WHERE id = $1) ORDER BY id";
    let rows = store.desk.read(sql, &[&run.as_str()]).await?;
    Ok(rows.iter().map(|row| Timer { run: run.clone(), id: row.get(0), due_ms: row.get(1) }).collect())
}

/// See [`crate::Store::posted`].
pub(super) async fn posted(
    store: &Postgres,
    after: Option<(String, String)>,
    limit: usize,
) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT source, dedup FROM posted WHERE $1::text IS NULL OR (source, dedup) > ($1, $2)
               ORDER BY source, dedup LIMIT $3";
    let (source, dedup) = after.unzip();
    let rows = store.desk.read(sql, &[&source, &dedup, &count(limit)]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// See [`crate::Store::remember`].
pub(super) async fn remember(store: &Postgres, posted: Vec<(String, String)>) -> Result<(), Error> {
    let (sources, dedups): (Vec<String>, Vec<String>) = posted.into_iter().unzip();
    let sql = "INSERT INTO posted (source, dedup, token)
               SELECT source, dedup, '' FROM unnest($1::text[], $2::text[]) AS one (source, dedup)
               ON CONFLICT (source, dedup) DO NOTHING";
    store.desk.write(sql, &[&sources, &dedups], 0).await.map(drop)
}

pub(super) const TASK: &str = "SELECT run.id, key, attempt, worker, lease_until_ms, labels FROM";

/// See [`crate::Store::renew`].
pub(super) async fn renew(store: &Postgres, worker: &WorkerId, until_ms: i64) -> Result<Vec<Task>, Error> {
    let sql = format!("{TASK} renew_1($1, $2) AS task JOIN run ON run.number = task.run ORDER BY task.number");
    let answer = store.desk.write(&sql, &[&worker.as_str(), &until_ms], 0).await?;
    taken(store, &answer.rows)
}

pub(super) fn taken(store: &Postgres, rows: &[Row]) -> Result<Vec<Task>, Error> {
    if !rows.is_empty() {
        store.news.wrote(Written::Progress);
    }
    rows.iter().map(task).collect()
}

/// See [`crate::Store::expired`].
pub(super) async fn expired(store: &Postgres, now_ms: i64, limit: usize) -> Result<Vec<Task>, Error> {
    let sql = format!(
        "{TASK} task JOIN run ON run.number = task.run
         WHERE worker IS NOT NULL AND lease_until_ms <= $1 ORDER BY lease_until_ms, task.number LIMIT $2"
    );
    store.desk.read(&sql, &[&now_ms, &count(limit)]).await?.iter().map(task).collect()
}

/// See [`crate::Store::tasks`].
pub(super) async fn tasks(store: &Postgres, run: &RunId) -> Result<Vec<Task>, Error> {
    let sql = format!("{TASK} task JOIN run ON run.number = task.run WHERE run.id = $1 ORDER BY task.number");
    store.desk.read(&sql, &[&run.as_str()]).await?.iter().map(task).collect()
}

pub(super) fn task(row: &Row) -> Result<Task, Error> {
    let attempt = u32::try_from(row.get::<_, i64>(2)).map_err(|_| Error::Corrupt("an attempt of a task".to_owned()))?;
    let labels =
        serde_json::from_str(row.get(5)).map_err(|error| Error::Corrupt(format!("labels of a task: {error}")))?;
    Ok(Task {
        run: run_id(row.get(0))?,
        key: row.get(1),
        attempt,
        worker: row.get::<_, Option<String>>(3).map(WorkerId),
        lease_until_ms: row.get(4),
        labels,
    })
}
