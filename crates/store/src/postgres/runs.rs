//! Reads runs and their events from PostgreSQL; saves snapshots; removes runs.

use longhaul_core::id::RunId;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::append::checksum;
use super::news::Written;
use super::{Postgres, count};
use crate::{Error, EventId, Hash, Head, Query, RunRow, StoredEvent};

const READ: &str = "SELECT last_seq, seq, event.id, at_ms, body, checksum
    FROM run LEFT JOIN event ON event.run = run.number AND seq > $2
    WHERE run.id = $1 ORDER BY seq LIMIT $3";

/// See [`crate::Store::read`].
pub(super) async fn read(
    store: &Postgres,
    run: &RunId,
    (after, limit): (u64, usize),
) -> Result<Vec<StoredEvent>, Error> {
    // No run gets this long, and larger numbers do not fit the column.
    let after = after.min(1 << 62);
    let from = after.cast_signed();
    // At least one row, which says whether the run exists.
    let rows = store.desk.read(READ, &[&run.as_str(), &from, &count(limit.max(1))]).await?;
    let last = rows.first().ok_or(Error::UnknownRun)?.get::<_, i64>(0).cast_unsigned();
    let mut events = Vec::with_capacity(rows.len());
    for row in rows.iter().take(limit) {
        events.extend(event(run, row, after + 1 + events.len() as u64)?);
    }
    let reached = after + events.len() as u64;
    if events.len() < limit && reached < last {
        return Err(broken(run, reached + 1, "is missing"));
    }
    Ok(events)
}

/// The event of a row. It must be number `due` and unchanged. `None` for the row of a run without later events.
pub(super) fn event(run: &RunId, row: &Row, due: u64) -> Result<Option<StoredEvent>, Error> {
    let Some(seq) = row.get::<_, Option<i64>>(1).map(i64::cast_unsigned) else { return Ok(None) };
    if seq != due {
        return Err(broken(run, due, "is missing"));
    }
    let unreadable = |_| broken(run, seq, "cannot be read");
    let id = EventId(u128::from_be_bytes(
        row.get::<_, &[u8]>(2).try_into().map_err(|_| broken(run, seq, "cannot be read"))?,
    ));
    let (at_ms, body, stored): (i64, &[u8], &[u8]) = (row.get(3), row.get(4), row.get(5));
    if checksum(run, seq, (id, at_ms, body)) != stored {
        return Err(broken(run, seq, "is not what was written"));
    }
    let body = std::str::from_utf8(body).map_err(unreadable)?.to_owned();
    Ok(Some(StoredEvent { seq, id, at_ms, body }))
}

/// The error for a damaged event.
pub(super) fn broken(run: &RunId, seq: u64, how: &str) -> Error {
    Error::Corrupt(format!("event {seq} of run {run} {how}"))
}

const COLUMNS: &str =
    "SELECT id, workflow, status, summary, run_group, parent, last_seq, created_ms, updated_ms FROM run";

/// See [`crate::Store::run`].
pub(super) async fn run(store: &Postgres, id: &RunId) -> Result<Option<RunRow>, Error> {
    let rows = store.desk.read(&format!("{COLUMNS} WHERE id = $1"), &[&id.as_str()]).await?;
    rows.first().map(run_row).transpose()
}

fn run_row(row: &Row) -> Result<RunRow, Error> {
    let summary = String::from_utf8(row.get(3)).map_err(|_| Error::Corrupt("a summary is not text".to_owned()))?;
    let parent: Option<String> = row.get(5);
    let head = Head {
        workflow: row.get(1),
        status: row.get(2),
        summary,
        group: row.get(4),
        parent: parent.map(run_id).transpose()?,
    };
    Ok(RunRow {
        run: run_id(row.get(0))?,
        head,
        last_seq: row.get::<_, i64>(6).cast_unsigned(),
        created_ms: row.get(7),
        updated_ms: row.get(8),
    })
}

/// Parses an id from the database.
pub(super) fn run_id(text: String) -> Result<RunId, Error> {
    RunId::try_from(text).map_err(Error::Corrupt)
}

async fn number(store: &Postgres, run: &RunId) -> Result<i64, Error> {
    let rows = store.desk.read("SELECT number FROM run WHERE id = $1", &[&run.as_str()]).await?;
    rows.first().map(|row| row.get(0)).ok_or(Error::UnknownRun)
}

/// See [`crate::Store::runs`]. Conditions are added only when asked for, so that their indexes are used.
pub(super) async fn runs(store: &Postgres, query: Query) -> Result<Vec<RunRow>, Error> {
    let mut sql = format!("{COLUMNS} WHERE true");
    let mut values: Vec<Box<dyn ToSql + Sync + Send>> = Vec::new();
    let mut add = |condition: &str, value: Box<dyn ToSql + Sync + Send>| {
        values.push(value);
        sql.push_str(&format!(" AND {}", condition.replace('?', &format!("${}", values.len()))));
    };
    if !query.statuses.is_empty() {
        add("status = ANY (?)", Box::new(query.statuses));
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
        add("starts_with(id, ?)", Box::new(prefix));
    }
    if let Some(before) = query.before {
        add("number < ?", Box::new(number(store, &before).await?));
    }
    if let Some(after) = query.after {
        add("number > ?", Box::new(number(store, &after).await?));
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
            "NOT EXISTS (SELECT FROM task WHERE task.run = run.number AND (worker IS NULL OR lease_until_ms > ?))",
            Box::new(now),
        );
    }
    add("true ORDER BY number DESC LIMIT ?", Box::new(count(query.limit)));
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    store.desk.read(&sql, &values).await?.iter().map(run_row).collect()
}

/// See [`crate::Store::save_snapshot`].
pub(super) async fn save_snapshot(store: &Postgres, run: &RunId, (seq, bytes): (u64, &[u8])) -> Result<(), Error> {
    let seq = seq.min(i64::MAX as u64).cast_signed();
    let answer =
        store.desk.write("SELECT save_snapshot_1($1, $2, $3)", &[&run.as_str(), &seq, &bytes], bytes.len()).await?;
    if answer.rows.first().is_some_and(|row| row.get(0)) {
        store.news.wrote(Written::Progress);
    }
    Ok(())
}

/// See [`crate::Store::snapshot`].
pub(super) async fn snapshot(store: &Postgres, run: &RunId) -> Result<Option<(u64, Vec<u8>)>, Error> {
    let sql = "SELECT seq, bytes FROM snapshot WHERE run = (SELECT number FROM run WHERE id = $1)";
    let rows = store.desk.read(sql, &[&run.as_str()]).await?;
    Ok(rows.first().map(|row| (row.get::<_, i64>(0).cast_unsigned(), row.get(1))))
}

/// See [`crate::Store::blob`].
pub(super) async fn blob(store: &Postgres, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
    let rows = store.desk.read("SELECT bytes FROM blob WHERE hash = $1", &[&&hash.0[..]]).await?;
    let bytes: Option<Vec<u8>> = rows.first().map(|row| row.get(0));
    match bytes {
        Some(bytes) if Hash::of(&bytes) != hash => Err(Error::Corrupt(format!("blob {hash} is not what was written"))),
        bytes => Ok(bytes),
    }
}

/// See [`crate::Store::remove`].
pub(super) async fn remove(store: &Postgres, run: &RunId) -> Result<(), Error> {
    let answer = store.desk.write("SELECT remove_1($1)", &[&run.as_str()], 0).await?;
    let removed = answer.rows.first().is_some_and(|row| row.get(0));
    // Our first try removed it; its answer was lost.
    if !removed && !answer.again {
        return Err(Error::UnknownRun);
    }
    store.news.wrote(Written::Progress);
    Ok(())
}

/// See [`crate::Store::blobs`].
pub(super) async fn blobs(store: &Postgres, run: &RunId) -> Result<Vec<Hash>, Error> {
    let sql = "SELECT hash FROM blob_ref WHERE run = (SELECT number FROM run WHERE id = $1) ORDER BY hash";
    let whole = |row: &Row| row.get::<_, &[u8]>(0).try_into().map(Hash);
    let hashes = store.desk.read(sql, &[&run.as_str()]).await?.iter().map(whole).collect::<Result<_, _>>();
    hashes.map_err(|_| Error::Corrupt(format!("run {run} refers to a blob by what is not a hash")))
}
