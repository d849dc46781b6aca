//! Several workers: the list of workers, and claims.

use rusqlite::{Connection, OptionalExtension, params};

use super::append::find;
use super::count;
use super::waiting::{TASK, all, task};
use crate::claim::{Free, Held, choose};
use crate::{Claim, Error, FORGOTTEN_MS, Listed, Task, Worker, WorkerId};

/// The number of runs that a claim chooses from: the oldest ones with a task that fits.
const RUNS_MAX: usize = 64;

/// See [`crate::Store::claim`].
pub(super) fn claim(db: &Connection, claim: &Claim) -> Result<Vec<Task>, Error> {
    let free = free(db, claim)?;
    if free.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "UPDATE task SET worker = ?2, lease_until_ms = ?3 WHERE number = ?1 AND worker IS NULL";
    let mut update = db.prepare_cached(sql)?;
    let mut claimed = Vec::new();
    for number in choose(claim, free, held(db)?) {
        let number = number.cast_signed();
        update.execute(params![number, claim.worker.as_str(), claim.until_ms()])?;
        claimed.extend(all(db, &format!("{TASK} WHERE task.number = ?1"), [number], task)?);
    }
    Ok(claimed)
}

/// All held tasks. There are few at a time.
fn held(db: &Connection) -> Result<Held<i64>, Error> {
    let sql = "SELECT run, labels, count(*) FROM task WHERE worker IS NOT NULL GROUP BY run, labels";
    let mut held = Held::new();
    for (run, labels, times) in
        all(db, sql, [], |row| Ok((row.get::<_, i64>(0)?, labels(&row.get::<_, String>(1)?)?, row.get(2)?)))?
    {
        held.add(run, &labels, times);
    }
    Ok(held)
}

/// The tasks that a claim chooses from: of each run at most as many as the claim can take.
fn free(db: &Connection, claim: &Claim) -> Result<Vec<Free<i64>>, Error> {
    let only = match &claim.run {
        Some(run) => match find(db, run)? {
            Some((number, _)) => Some(number),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let mut free = Vec::new();
    let mut asked_for = String::new();
    while let Some(next) = next_labels(db, &asked_for)? {
        let wanted = labels(&next)?;
        if claim.fits(&wanted) {
            for run in runs(db, &next, only)? {
                let sql = "SELECT number FROM task WHERE worker IS NULL AND labels = ?1 AND run = ?2
                           ORDER BY number LIMIT ?3";
                for number in all(db, sql, params![next, run, count(claim.limit)], |row| Ok(row.get::<_, i64>(0)?))? {
                    free.push(Free { number: number.cast_unsigned(), run, labels: wanted.clone() });
                }
            }
        }
        asked_for = next;
    }
    Ok(free)
}

/// The next list of labels among the free tasks.
fn next_labels(db: &Connection, after: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT labels FROM task WHERE worker IS NULL AND labels > ?1 ORDER BY labels LIMIT 1";
    Ok(db.prepare_cached(sql)?.query_row([after], |row| row.get(0)).optional()?)
}

/// The oldest runs with free tasks that have these labels.
fn runs(db: &Connection, labels: &str, only: Option<i64>) -> Result<Vec<i64>, Error> {
    let sql = "SELECT run FROM task WHERE worker IS NULL AND labels = ?1 AND run > ?2 ORDER BY run LIMIT 1";
    let mut next = db.prepare_cached(sql)?;
    let mut runs: Vec<i64> = Vec::new();
    while runs.len() < RUNS_MAX && only.is_none() {
        let after = runs.last().copied().unwrap_or_default();
        match next.query_row(params![labels, after], |row| row.get(0)).optional()? {
            Some(run) => runs.push(run),
            None => break,
        }
    }
    runs.extend(only);
    Ok(runs)
}

fn labels(text: &str) -> Result<Vec<String>, Error> {
    serde_json::from_str(text).map_err(|error| Error::Corrupt(format!("labels: {error}")))
}

/// See [`crate::Store::unheld`].
pub(super) fn unheld(db: &Connection, limit: usize) -> Result<Vec<Task>, Error> {
    all(db, &format!("{TASK} WHERE worker IS NULL ORDER BY task.number LIMIT ?1"), [count(limit)], task)
}

/// See [`crate::Store::greet`].
pub(super) fn greet(db: &Connection, worker: &Worker) -> Result<(), Error> {
    let silent = worker.seen_ms.saturating_sub(FORGOTTEN_MS);
    db.prepare_cached("DELETE FROM worker WHERE seen_ms <= ?1")?.execute([silent])?;
    let sql = "INSERT INTO worker (id, name, host, labels, slots, version, since_ms, seen_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (id) DO UPDATE SET name = excluded.name, host = excluded.host, labels = excluded.labels,
               slots = excluded.slots, version = excluded.version, since_ms = excluded.since_ms, seen_ms = excluded.seen_ms";
    let labels = serde_json::Value::from(worker.labels.clone()).to_string();
    let Worker { id, name, host, slots, version, since_ms, seen_ms, .. } = worker;
    db.prepare_cached(sql)?.execute(params![id.as_str(), name, host, labels, slots, version, since_ms, seen_ms])?;
    Ok(())
}

/// See [`crate::Store::dismiss`].
pub(super) fn dismiss(db: &Connection, worker: &WorkerId) -> Result<(), Error> {
    db.prepare_cached("DELETE FROM worker WHERE id = ?1")?.execute([worker.as_str()])?;
    Ok(())
}

/// See [`crate::Store::workers`].
pub(super) fn workers(db: &Connection) -> Result<Vec<Listed>, Error> {
    let sql = "SELECT id, name, host, labels, slots, version, since_ms, seen_ms,
               (SELECT count(*) FROM task WHERE task.worker = worker.id) FROM worker ORDER BY name, id";
    all(db, sql, [], |row| {
        let worker = Worker {
            id: WorkerId(row.get(0)?),
            name: row.get(1)?,
            host: row.get(2)?,
            labels: labels(&row.get::<_, String>(3)?)?,
            slots: row.get(4)?,
            version: row.get(5)?,
            since_ms: row.get(6)?,
            seen_ms: row.get(7)?,
        };
        Ok(Listed { worker, busy: row.get(8)? })
    })
}
