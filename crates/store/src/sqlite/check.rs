//! Looks for damage: SQLite's pages, the chains of events, blobs and their references.
//!
//! **Invariant:** damage in one place does not hide damage in another: every part is checked, even if an earlier part
//! has damage.

use longhaul_core::id::RunId;
use rusqlite::Connection;

use super::chain::Chain;
use super::runs::{follow, run_id};
use crate::{Error, Hash, StoreProblem};

/// See [`crate::Store::check`].
pub(super) fn check(db: &Connection) -> Vec<StoreProblem> {
    let mut problems = Vec::new();
    for look in [pages, references, texts, chains, blobs] {
        if let Err(error) = look(db, &mut problems) {
            problems.push(about(None, error));
        }
    }
    problems
}

fn about(run: Option<RunId>, error: impl ToString) -> StoreProblem {
    StoreProblem { run, text: error.to_string() }
}

fn pages(db: &Connection, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut query = db.prepare("PRAGMA integrity_check(20)")?;
    let said = query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    problems.extend(said.into_iter().filter(|text| text != "ok").map(|text| about(None, text)));
    Ok(())
}

fn references(db: &Connection, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut query = db.prepare("SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for row in rows {
        let (table, parent, count): (String, String, i64) = row?;
        problems.push(about(None, format!("{count} rows of `{table}` refer to nothing in `{parent}`")));
    }
    Ok(())
}

/// The text columns of each table. Each value must be text.
const TEXTS: [(&str, &[&str]); 5] = [
    ("run", &["id", "workflow", "status", "summary", "run_group", "parent"]),
    ("task", &["key", "worker", "labels"]),
    ("timer", &["id"]),
    ("message", &["source", "dedup", "body"]),
    ("worker", &["id", "name", "host", "labels", "version"]),
];

fn texts(db: &Connection, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    for (table, columns) in TEXTS {
        let run = if ["run", "worker"].contains(&table) { "NULL" } else { "run" };
        let mut query = db.prepare(&format!("SELECT {run}, {} FROM {table}", columns.join(", ")))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            for (at, column) in columns.iter().enumerate() {
                let is_text = row
                    .get_ref(at + 1)?
                    .as_bytes_or_null()
                    .is_ok_and(|bytes| bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok()));
                if !is_text {
                    problems.push(about(None, format!("`{column}` of {} is not text", whose(table, row)?)));
                }
            }
        }
    }
    Ok(())
}

/// The name of a damaged row, as far as it can be read.
fn whose(table: &str, row: &rusqlite::Row<'_>) -> Result<String, Error> {
    let name = row.get_ref(1)?.as_bytes_or_null().ok().flatten().map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(format!("{table} `{}`", name.unwrap_or_default()))
}

fn chains(db: &Connection, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let mut query = db.prepare("SELECT number, id, last_seq FROM run ORDER BY number")?;
    let runs = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for run in runs.collect::<Result<Vec<(i64, String, i64)>, _>>()? {
        let (number, id, last) = run;
        let Ok(id) = run_id(id.clone()) else {
            problems.push(about(None, format!("`{id}` is not the id of a run")));
            continue;
        };
        if let Err(error) = whole(db, (number, &id, last.cast_unsigned())) {
            problems.push(about(Some(id), error));
        }
    }
    Ok(())
}

fn whole(db: &Connection, (number, id, last): (i64, &RunId, u64)) -> Result<(), Error> {
    let mut chain = Chain::start(id);
    follow(db, number, (&mut chain, usize::MAX), drop)?;
    if chain.seq() < last {
        return Err(chain.broken("is missing"));
    }
    if chain.seq() > last {
        return Err(Error::Corrupt(format!("run {id} has {} events, {last} were acknowledged", chain.seq())));
    }
    Ok(())
}

fn blobs(db: &Connection, problems: &mut Vec<StoreProblem>) -> Result<(), Error> {
    let sql = "SELECT hash, bytes, EXISTS (SELECT 1 FROM blob_ref WHERE blob_ref.hash = blob.hash) FROM blob";
    let mut query = db.prepare(sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let hash = Hash(row.get(0)?);
        let written = row.get_ref(1)?.as_bytes().is_ok_and(|bytes| Hash::of(bytes) == hash);
        if !written {
            problems.push(about(None, format!("blob {hash} is not what was written")));
        }
        if !row.get::<_, bool>(2)? {
            problems.push(about(None, format!("no run refers to blob {hash}")));
        }
    }
    Ok(())
}
