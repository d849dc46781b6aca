//! Reads runs and their events from SQLite; saves snapshots; removes runs.

use longhaul_core::id::RunId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::append::{chain_after, find};
use super::chain::{Chain, Checksum};
use super::count;
use crate::{Error, EventId, Hash, Head, Query, Restored, RunRow, StoredEvent};

/// See [`crate::Store::read`].
pub(super) fn read(db: &Connection, id: &RunId, (after, limit): (u64, usize)) -> Result<Vec<StoredEvent>, Error> {
    let (run, last) = find(db, id)?.ok_or(Error::UnknownRun)?;
    if after >= last {
        return Ok(Vec::new());
    }
    let mut chain = chain_after(db, id, (run, after))?;
    let mut events = Vec::new();
    follow(db, run, (&mut chain, limit), |event| events.push(event))?;
    if events.len() < limit && chain.seq() != last {
        return Err(chain.broken("is missing"));
    }
    Ok(events)
}

/// Visits the next events on `chain`, at most `limit`, and stops at the first damaged one.
pub(super) fn follow(
    db: &Connection,
    run: i64,
    (chain, limit): (&mut Chain, usize),
    mut visit: impl FnMut(StoredEvent),
) -> Result<(), Error> {
    let sql = "SELECT seq, id, at_ms, body, checksum FROM event WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params![run, chain.seq().cast_signed(), count(limit)])?;
    while let Some(row) = rows.next()? {
        let (event, checksum) = event(row).ok_or_else(|| chain.broken("cannot be read"))?;
        chain.follow(&event, checksum)?;
        visit(event);
    }
    Ok(())
}

/// `None` if a column contains invalid data, such as text that is not UTF-8.
fn event(row: &Row<'_>) -> Option<(StoredEvent, Checksum)> {
    let ValueRef::Text(body) = row.get_ref(3).ok()? else { return None };
    let event = StoredEvent {
        seq: row.get::<_, i64>(0).ok()?.cast_unsigned(),
        id: EventId(u128::from_be_bytes(row.get(1).ok()?)),
        at_ms: row.get(2).ok()?,
        body: std::str::from_utf8(body).ok()?.to_owned(),
    };
    Some((event, row.get(4).ok()?))
}

const COLUMNS: &str =
    "SELECT id, workflow, status, summary, run_group, parent, last_seq, created_ms, updated_ms FROM run";

/// See [`crate::Store::run`].
pub(super) fn run(db: &Connection, id: &RunId) -> Result<Option<RunRow>, Error> {
    let mut query = db.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
    query.query_row([id.as_str()], |row| Ok(run_row(row))).optional()?.transpose()
}

fn run_row(row: &Row<'_>) -> Result<RunRow, Error> {
    let parent: Option<String> = row.get(5)?;
    // One damaged row must not hide the others: see `check`.
    let head = Head {
        workflow: lossy(row, 1)?,
        status: lossy(row, 2)?,
        summary: lossy(row, 3)?,
        group: row
            .get_ref(4)?
            .as_bytes_or_null()
            .ok()
            .flatten()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
        parent: parent.map(run_id).transpose()?,
    };
    Ok(RunRow {
        run: run_id(row.get(0)?)?,
        head,
        last_seq: row.get::<_, i64>(6)?.cast_unsigned(),
        created_ms: row.get(7)?,
        updated_ms: row.get(8)?,
    })
}

/// A text that may be damaged.
fn lossy(row: &Row<'_>, column: usize) -> Result<String, Error> {
    let bytes = row.get_ref(column)?.as_bytes().map_err(|error| Error::Corrupt(error.to_string()))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Parses an id from the file.
pub(super) fn run_id(text: String) -> Result<RunId, Error> {
    RunId::try_from(text).map_err(Error::Corrupt)
}

/// See [`crate::Store::runs`]. Conditions are added only when asked for, so that their indexes are used.
pub(super) fn runs(db: &Connection, query: Query) -> Result<Vec<RunRow>, Error> {
    let bound = |run: &RunId| Ok::<i64, Error>(find(db, run)?.ok_or(Error::UnknownRun)?.0);
    let mut sql = format!("{COLUMNS} WHERE TRUE");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut add = |condition: &str, value: Box<dyn ToSql>| {
        values.push(value);
        sql.push_str(&format!(" AND {}", condition.replace('?', &format!("?{}", values.len()))));
    };
    if !query.statuses.is_empty() {
        let statuses = serde_json::Value::from(query.statuses).to_string();
        add("status IN (SELECT value FROM json_each(?))", Box::new(statuses));
    }
    if let Some(workflow) = query.workflow {
        add("workflow = ?", Box::new(workflow));
    }
    if let Some(group) = query.group {
        add("run_group = ?", Box::new(group));
    }
    if let Some(parent) = query.parent {
        add("parent = ?", Box::new(String::from(parent)));
    }
    if let Some(prefix) = query.prefix {
        add("id >= ? AND substr(id, 1, length(?)) = ?", Box::new(prefix));
    }
    if let Some(before) = query.before {
        add("number < ?", Box::new(bound(&before)?));
    }
    if let Some(after) = query.after {
        add("number > ?", Box::new(bound(&after)?));
    }
    let times = [
        ("created_ms >= ?", query.created_from_ms),
        ("created_ms < ?", query.created_before_ms),
        ("updated_ms >= ?", query.updated_from_ms),
    ];
    for (condition, time) in times {
        if let Some(time) = time {
            add(condition, Box::new(time));
        }
    }
    if let Some(now) = query.unattended_at_ms {
        add(
            "NOT EXISTS (SELECT 1 FROM task WHERE task.run = run.number AND (worker IS NULL OR lease_until_ms > ?))",
            Box::new(now),
        );
    }
    add("TRUE ORDER BY number DESC LIMIT ?", Box::new(count(query.limit)));
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(values), |row| Ok(run_row(row)))?;
    rows.map(|row| row?).collect()
}

/// See [`crate::Store::save_snapshot`].
pub(super) fn save_snapshot(db: &Connection, id: &RunId, (seq, bytes): (u64, &[u8])) -> Result<(), Error> {
    let (run, last) = find(db, id)?.ok_or(Error::UnknownRun)?;
    if seq > last {
        return Err(Error::Invalid("a snapshot is of a seq that the run has reached"));
    }
    let sql = "INSERT INTO snapshot (run, seq, bytes) VALUES (?1, ?2, ?3)
               ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, bytes = excluded.bytes WHERE seq <= excluded.seq";
    db.prepare_cached(sql)?.execute(params![run, seq.cast_signed(), bytes])?;
    Ok(())
}

/// See [`crate::Store::snapshot`].
pub(super) fn snapshot(db: &Connection, id: &RunId) -> Result<Option<(u64, Vec<u8>)>, Error> {
    let sql = "SELECT seq, bytes FROM snapshot WHERE run = (SELECT number FROM run WHERE id = ?1)";
    let mut query = db.prepare_cached(sql)?;
    let found = query.query_row([id.as_str()], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)));
    Ok(found.optional()?)
}

/// See [`crate::Store::restore`].
pub(super) fn restore(db: &Connection, id: &RunId, limit: usize) -> Result<Restored, Error> {
    let snapshot = snapshot(db, id)?;
    let after = snapshot.as_ref().map_or(0, |(seq, _)| *seq);
    Ok(Restored { events: read(db, id, (after, limit))?, snapshot })
}

/// See [`crate::Store::blob`].
pub(super) fn blob(db: &Connection, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
    let mut query = db.prepare_cached("SELECT bytes FROM blob WHERE hash = ?1")?;
    let bytes: Option<Vec<u8>> = query.query_row([hash.0], |row| row.get(0)).optional()?;
    match bytes {
        Some(bytes) if Hash::of(&bytes) != hash => Err(Error::Corrupt(format!("blob {hash} is not what was written"))),
        bytes => Ok(bytes),
    }
}

/// See [`crate::Store::remove`]. The tables delete what refers to the run.
pub(super) fn remove(db: &Connection, id: &RunId) -> Result<(), Error> {
    let (run, _) = find(db, id)?.ok_or(Error::UnknownRun)?;
    let mut referred = db.prepare_cached("SELECT hash FROM blob_ref WHERE run = ?1")?;
    let hashes = referred.query_map([run], |row| row.get::<_, [u8; 32]>(0))?.collect::<Result<Vec<_>, _>>()?;
    db.prepare_cached("DELETE FROM run WHERE number = ?1")?.execute([run])?;
    let sql = "DELETE FROM blob WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM blob_ref WHERE hash = ?1)";
    let mut forget = db.prepare_cached(sql)?;
    for hash in hashes {
        forget.execute([hash])?;
    }
    Ok(())
}

/// See [`crate::Store::blobs`].
pub(super) fn blobs(db: &Connection, id: &RunId) -> Result<Vec<Hash>, Error> {
    let sql = "SELECT hash FROM blob_ref WHERE run = (SELECT number FROM run WHERE id = ?1) ORDER BY hash";
    let mut query = db.prepare_cached(sql)?;
    let hashes = query.query_map([id.as_str()], |row| row.get::<_, [u8; 32]>(0))?;
    Ok(hashes.map(|hash| hash.map(Hash)).collect::<Result<_, _>>()?)
}
