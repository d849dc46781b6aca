//! Looks for damage: changed events and blobs, gaps, and rows without an owner.
//!
//! **Invariant:** damage in one place does not hide damage in another. PostgreSQL checks its own pages: see
//! `pg_amcheck`.

use longhaul_core::id::RunId;

use super::Postgres;
use super::runs::{read, run_id};
use crate::{Error, Hash, StoreProblem};

/// The number of events or runs in one page.
const PAGE: usize = 1000;
/// The number of blobs in one page: each can be large.
const BLOBS: i64 = 8;

/// See [`crate::Store::check`].
pub(super) async fn check(store: &Postgres) -> Result<Vec<StoreProblem>, Error> {
    let mut problems = Vec::new();
    orphans(store, &mut problems).await?;
    chains(store, &mut problems).await?;
    blobs(store, &mut problems).await?;
    Ok(problems)
}

fn about(run: Option<RunId>, text: impl ToString) -> StoreProblem {
    StoreProblem { run, text: text.to_string() }
}

/// No write leaves such rows, but a table that was damaged or repaired by hand may contain them.
async fn orphans(store: &Postgres, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    for table in ["event", "task", "timer", "message", "blob_ref", "snapshot"] {
        let sql =
            format!("SELECT count(*) FROM {table} WHERE NOT EXISTS (SELECT FROM run WHERE run.number = {table}.run)");
        let count: i64 = store.desk.read(&sql, &[]).await?.first().map_or(0, |row| row.get(0));
        if count > 0 {
            problems.push(about(None, format!("{count} rows of `{table}` refer to nothing in `run`")));
        }
    }
    Ok(())
}

async fn chains(store: &Postgres, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let sql = "SELECT run.number, run.id, last_seq, (SELECT max(seq) FROM event WHERE event.run = run.number)
                   FROM run WHERE run.number > $1 ORDER BY run.number LIMIT $2";
        let rows = store.desk.read(sql, &[&after, &(PAGE as i64)]).await?;
        for row in &rows {
            after = row.get(0);
            let id: String = row.get(1);
            let Ok(run) = run_id(id.clone()) else {
                problems.push(about(None, format!("`{id}` is not the id of a run")));
                continue;
            };
            let (last, there) = (row.get::<_, i64>(2), row.get::<_, Option<i64>>(3).unwrap_or(0));
            if there > last {
                let text = format!("run {run} has {there} events, {last} were acknowledged");
                problems.push(about(Some(run.clone()), Error::Corrupt(text)));
            }
            whole(store, &run, problems).await?;
        }
        if rows.len() < PAGE {
            return Ok(());
        }
    }
}

/// Stops at the first damaged event of a run.
async fn whole(store: &Postgres, run: &RunId, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut after = 0;
    loop {
        match read(store, run, (after, PAGE)).await {
            Ok(events) if events.len() < PAGE => return Ok(()),
            Ok(events) => after += events.len() as u64,
            Err(error @ Error::Corrupt(_)) => {
                problems.push(about(Some(run.clone()), error));
                return Ok(());
            }
            // The run was removed meanwhile.
            Err(Error::UnknownRun) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

async fn blobs(store: &Postgres, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut after: Vec<u8> = Vec::new();
    loop {
        let sql = "SELECT hash, bytes, EXISTS (SELECT FROM blob_ref WHERE blob_ref.hash = blob.hash)
                   FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2";
        let rows = store.desk.read(sql, &[&after, &BLOBS]).await?;
        for row in &rows {
            after = row.get(0);
            let name: String = after.iter().map(|byte| format!("{byte:02x}")).collect();
            if Hash::of(row.get(1)).0[..] != after[..] {
                problems.push(about(None, format!("blob {name} is not what was written")));
            }
            if !row.get::<_, bool>(2) {
                problems.push(about(None, format!("no run refers to blob {name}")));
            }
        }
        if (rows.len() as i64) < BLOBS {
            return Ok(());
        }
    }
}
