//! Messages, timers and tasks in SQLite.

use longhaul_core::id::RunId;
use rusqlite::{Connection, Params, Row, params};

use super::append::find;
use super::count;
use super::runs::run_id;
use crate::{Error, Glance, InboxMessage, MessageId, NewMessage, Posted, Task, Timer, WorkerId};

/// See [`crate::Store::post`].
pub(super) fn post(db: &Connection, message: &NewMessage) -> Result<Posted, Error> {
    let NewMessage { run, source, dedup, body, at_ms } = message;
    let mut note = db.prepare_cached("INSERT INTO posted (source, dedup) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    if note.execute(params![source, dedup])? == 0 {
        return Ok(Posted::Duplicate);
    }
    let (run, _) = find(db, run)?.ok_or(Error::UnknownRun)?;
    let sql = "INSERT INTO message (run, source, dedup, body, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    db.prepare_cached(sql)?.execute(params![run, source, dedup, body, at_ms])?;
    Ok(Posted::New)
}

/// See [`crate::Store::inbox`].
pub(super) fn inbox(db: &Connection, run: &RunId) -> Result<Vec<InboxMessage>, Error> {
    let sql = "SELECT id, source, dedup, body, at_ms FROM message
               WHERE run = (SELECT number FROM run WHERE id = ?1) ORDER BY id";
    all(db, sql, [run.as_str()], |row| {
        Ok(InboxMessage {
            id: MessageId(row.get(0)?),
            run: run.clone(),
            source: row.get(1)?,
            dedup: row.get(2)?,
            body: row.get(3)?,
            at_ms: row.get(4)?,
        })
    })
}

/// See [`crate::Store::with_mail`].
pub(super) fn with_mail(db: &Connection, limit: usize) -> Result<Vec<RunId>, Error> {
    let sql = "SELECT run.id FROM message JOIN run ON run.number = message.run
               GROUP BY message.run ORDER BY min(message.id) LIMIT ?1";
    all(db, sql, [count(limit)], |row| run_id(row.get(0)?))
}

/// See [`crate::Store::due`].
pub(super) fn due(db: &Connection, now_ms: i64, limit: usize) -> Result<Vec<Timer>, Error> {
    let sql = "SELECT run.id, timer.id, due_ms FROM timer JOIN run ON run.number = timer.run
               WHERE due_ms <= ?1 ORDER BY due_ms, run.id, timer.id LIMIT ?2";
    all(db, sql, [now_ms, count(limit)], |row| {
        Ok(Timer { run: run_id(row.get(0)?)?, id: row.get(1)?, due_ms: row.get(2)? })
    })
}

/// See [`crate::Store::next_due`].
pub(super) fn next_due(db: &Connection) -> Result<Option<i64>, Error> {
    Ok(db.prepare_cached("SELECT min(due_ms) FROM timer")?.query_row([], |row| row.get(0))?)
}

/// See [`crate::Store::glance`].
pub(super) fn glance(db: &Connection) -> Result<Glance, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM message), (SELECT min(due_ms) FROM timer),
               EXISTS (SELECT 1 FROM task WHERE worker IS NULL), (SELECT id FROM run ORDER BY number DESC LIMIT 1)";
    db.prepare_cached(sql)?.query_row([], |row| {
        let newest = row.get::<_, Option<String>>(3)?.map(run_id).transpose();
        let (mail, next_due, unheld) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(newest.map(|newest| Glance { mail, next_due, unheld, newest, moved: false }))
    })?
}

/// See [`crate::Store::timers`].
pub(super) fn timers(db: &Connection, run: &RunId) -> Result<Vec<Timer>, Error> {
    let sql = "SELECT id, due_ms FROM timer WHERE run = (SELECT number FROM run WHERE id = ?1) ORDER BY id";
    all(db, sql, [run.as_str()], |row| Ok(Timer { run: run.clone(), id: row.get(0)?, due_ms: row.get(1)? }))
}

/// See [`crate::Store::posted`].
pub(super) fn posted(
    db: &Connection,
    after: Option<&(String, String)>,
    limit: usize,
) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT source, dedup FROM posted WHERE ?1 IS NULL OR (source, dedup) > (?1, ?2)
               ORDER BY source, dedup LIMIT ?3";
    let (source, dedup) = (after.map(|(source, _)| source), after.map(|(_, dedup)| dedup));
    all(db, sql, params![source, dedup, count(limit)], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// See [`crate::Store::remember`].
pub(super) fn remember(db: &Connection, posted: &[(String, String)]) -> Result<(), Error> {
    let mut note = db.prepare_cached("INSERT INTO posted (source, dedup) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    posted.iter().try_for_each(|(source, dedup)| Ok(note.execute(params![source, dedup]).map(drop)?))
}

pub(super) const TASK: &str = "SELECT run.id, key, attempt, worker, lease_until_ms, labels, task.number
                    FROM task JOIN run ON run.number = task.run";

/// See [`crate::Store::renew`].
pub(super) fn renew(db: &Connection, worker: &WorkerId, until_ms: i64) -> Result<Vec<Task>, Error> {
    let mut update = db.prepare_cached("UPDATE task SET lease_until_ms = ?2 WHERE worker = ?1")?;
    update.execute(params![worker.as_str(), until_ms])?;
    all(db, &format!("{TASK} WHERE worker = ?1 ORDER BY task.number"), [worker.as_str()], task)
}

/// See [`crate::Store::expired`].
pub(super) fn expired(db: &Connection, now_ms: i64, limit: usize) -> Result<Vec<Task>, Error> {
    let sql = format!(
        "{TASK} WHERE worker IS NOT NULL AND lease_until_ms <= ?1 ORDER BY lease_until_ms, task.number LIMIT ?2"
    );
    all(db, &sql, [now_ms, count(limit)], task)
}

/// See [`crate::Store::tasks`].
pub(super) fn tasks(db: &Connection, run: &RunId) -> Result<Vec<Task>, Error> {
    all(db, &format!("{TASK} WHERE run.id = ?1 ORDER BY task.number"), [run.as_str()], task)
}

pub(super) fn task(row: &Row<'_>) -> Result<Task, Error> {
    let labels: String = row.get(5)?;
    Ok(Task {
        run: run_id(row.get(0)?)?,
        key: row.get(1)?,
        attempt: row.get(2)?,
        worker: row.get::<_, Option<String>>(3)?.map(WorkerId),
        lease_until_ms: row.get(4)?,
        labels: serde_json::from_str(&labels).map_err(|error| Error::Corrupt(format!("labels of a task: {error}")))?,
    })
}

pub(super) fn all<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut query = db.prepare_cached(sql)?;
    let rows = query.query_map(values, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}
