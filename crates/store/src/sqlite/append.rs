//! Writes appends to SQLite.
//!
//! **Invariant:** after an error the writer undoes the whole request, so checks may follow writes.

use longhaul_core::id::RunId;
use rusqlite::{Connection, OptionalExtension, params};

use super::chain::{Chain, Checksum};
use crate::{Append, Error, Head, NewTask, TaskEnd};

/// See [`crate::Store::append`].
pub(super) fn append(db: &Connection, append: &Append) -> Result<u64, Error> {
    let run = match find(db, &append.run)? {
        Some((run, last)) => {
            in_place(db, append, (run, last))?;
            run
        }
        None if append.expected == 0 => make(db, append)?,
        None => return Err(Error::UnknownRun),
    };
    let last = events(db, append, run)?;
    head(db, append, (run, last))?;
    append.tasks_ended.iter().try_for_each(|end| end_task(db, run, end))?;
    append.tasks_started.iter().try_for_each(|task| start_task(db, append, (run, task)))?;
    consume(db, append, run)?;
    timers(db, append, run)?;
    blobs(db, append, run)?;
    Ok(last)
}

/// The row number of a run, and its last seq.
pub(super) fn find(db: &Connection, run: &RunId) -> Result<Option<(i64, u64)>, Error> {
    let mut query = db.prepare_cached("SELECT number, last_seq FROM run WHERE id = ?1")?;
    let found = query.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())));
    Ok(found.optional()?)
}

fn in_place(db: &Connection, append: &Append, (run, last): (i64, u64)) -> Result<(), Error> {
    if append.expected == last {
        return Ok(());
    }
    if append.expected < last && applied(db, append, run)? {
        return Err(Error::AlreadyApplied);
    }
    Err(if append.expected == 0 { Error::Exists } else { Error::Conflict { actual: last } })
}

fn applied(db: &Connection, append: &Append, run: i64) -> Result<bool, Error> {
    let mut query = db.prepare_cached("SELECT id FROM event WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3")?;
    let count = append.events.len() as i64;
    let ids = query.query_map(params![run, append.expected.cast_signed(), count], |row| row.get::<_, [u8; 16]>(0))?;
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok(ids.iter().copied().eq(append.events.iter().map(|event| event.id.0.to_be_bytes())))
}

fn make(db: &Connection, append: &Append) -> Result<i64, Error> {
    let created_ms = append.events.first().map_or(0, |event| event.at_ms);
    let sql = "INSERT INTO run (id, workflow, status, summary, last_seq, created_ms, updated_ms)
               VALUES (?1, '', '', '', 0, ?2, ?2)";
    db.prepare_cached(sql)?.execute(params![append.run.as_str(), created_ms])?;
    Ok(db.last_insert_rowid())
}

fn events(db: &Connection, append: &Append, run: i64) -> Result<u64, Error> {
    let mut chain = chain_after(db, &append.run, (run, append.expected))?;
    let sql = "INSERT INTO event (run, seq, id, at_ms, body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (id) DO NOTHING";
    let mut insert = db.prepare_cached(sql)?;
    for event in &append.events {
        let checksum = chain.link(event.id, event.at_ms, &event.body);
        let (seq, id) = (chain.seq().cast_signed(), event.id.0.to_be_bytes());
        if insert.execute(params![run, seq, id, event.at_ms, event.body, checksum])? == 0 {
            return Err(Error::Exists);
        }
    }
    Ok(chain.seq())
}

/// The chain after event `seq`, from the checksum that is stored with it.
pub(super) fn chain_after(db: &Connection, id: &RunId, (run, seq): (i64, u64)) -> Result<Chain, Error> {
    if seq == 0 {
        return Ok(Chain::start(id));
    }
    let mut query = db.prepare_cached("SELECT checksum FROM event WHERE run = ?1 AND seq = ?2")?;
    let tip: Option<Checksum> = query.query_row(params![run, seq.cast_signed()], |row| row.get(0)).optional()?;
    let tip = tip.ok_or_else(|| Error::Corrupt(format!("event {seq} of run {id} is missing")))?;
    Ok(Chain::after(id, seq, tip))
}

/// Writes indexed columns only when they change: each index adds a page to every commit.
fn head(db: &Connection, append: &Append, (run, last): (i64, u64)) -> Result<(), Error> {
    let (last, at_ms) = (last.cast_signed(), append.at_ms());
    let Some(Head { workflow, status, summary, group, parent }) = &append.head else {
        let mut update = db.prepare_cached("UPDATE run SET last_seq = ?2, updated_ms = ?3 WHERE number = ?1")?;
        update.execute(params![run, last, at_ms])?;
        return Ok(());
    };
    let sql = "UPDATE run SET last_seq = ?2, updated_ms = ?3, summary = ?4 WHERE number = ?1";
    db.prepare_cached(sql)?.execute(params![run, last, at_ms, summary])?;
    let sql = "UPDATE run SET workflow = ?2, status = ?3, run_group = ?4, parent = ?5
               WHERE number = ?1 AND (workflow, status, run_group, parent) IS NOT (?2, ?3, ?4, ?5)";
    let parent = parent.as_ref().map(RunId::as_str);
    db.prepare_cached(sql)?.execute(params![run, workflow, status, group, parent])?;
    Ok(())
}

/// The fence: refuses another attempt, another holder, or an unknown key.
fn end_task(db: &Connection, run: i64, end: &TaskEnd) -> Result<(), Error> {
    let sql = "DELETE FROM task WHERE run = ?1 AND key = ?2 AND attempt = ?3 AND (?4 IS NULL OR worker = ?4)";
    let worker = end.worker.as_ref().map(|worker| worker.as_str());
    match db.prepare_cached(sql)?.execute(params![run, end.key, end.attempt, worker])? {
        0 => Err(Error::Fenced { key: end.key.clone() }),
        _ => Ok(()),
    }
}

fn start_task(db: &Connection, append: &Append, (run, task): (i64, &NewTask)) -> Result<(), Error> {
    let sql = "INSERT INTO task (run, key, attempt, worker, lease_until_ms, labels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (run, key) DO NOTHING";
    let worker = task.worker.as_ref().map(|worker| worker.as_str());
    let labels = serde_json::Value::from(task.labels.clone()).to_string();
    let row = params![run, task.key, task.attempt, worker, append.lease_until_ms(task), labels];
    if db.prepare_cached(sql)?.execute(row)? == 0 { Err(Error::Exists) } else { Ok(()) }
}

fn consume(db: &Connection, append: &Append, run: i64) -> Result<(), Error> {
    let mut delete = db.prepare_cached("DELETE FROM message WHERE id = ?1 AND run = ?2")?;
    for message in &append.consumed {
        if delete.execute([message.0, run])? == 0 {
            return Err(Error::Conflict { actual: append.expected });
        }
    }
    Ok(())
}

fn timers(db: &Connection, append: &Append, run: i64) -> Result<(), Error> {
    let mut clear = db.prepare_cached("DELETE FROM timer WHERE run = ?1 AND id = ?2")?;
    for id in &append.timers_cleared {
        clear.execute(params![run, id])?;
    }
    let sql = "INSERT INTO timer (run, id, due_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT (run, id) DO UPDATE SET due_ms = excluded.due_ms";
    let mut set = db.prepare_cached(sql)?;
    for timer in &append.timers_set {
        set.execute(params![run, timer.id, timer.due_ms])?;
    }
    Ok(())
}

fn blobs(db: &Connection, append: &Append, run: i64) -> Result<(), Error> {
    for blob in &append.blobs {
        let mut keep = db.prepare_cached("INSERT INTO blob (hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        keep.execute(params![blob.hash.0, blob.bytes])?;
        let mut refer = db.prepare_cached("INSERT INTO blob_ref (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        refer.execute(params![run, blob.hash.0])?;
    }
    Ok(())
}
