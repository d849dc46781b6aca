//! Copies a store into another one, of any kind.
//!
//! **Invariant:** the copy reads back the same: events with their ids and times, timers, open tasks, messages, the
//! names of all messages ever posted, blobs and snapshots. A run that exists in the target is refused before anything
//! of it is written.

use longhaul_core::id::RunId;

use crate::{Append, Blob, Error, NewEvent, NewMessage, NewTask, Query, RunRow, Store, StoredEvent};

/// The number of events in one append.
const PAGE: usize = 500;
/// The number of runs, or of posted messages, in one page.
const LISTED: usize = 1000;

/// The result of a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// The number of copied runs.
    pub runs: usize,
    /// The number of copied events.
    pub events: u64,
}

/// Copies every run of `from` that is not in `to`, in the order of creation, and the names of all posted messages. No
/// other process may write to either store meanwhile: a run that changes during the copy is refused.
pub async fn copy(from: &dyn Store, to: &dyn Store) -> Result<Copied, Error> {
    let rows = all_runs(from).await?;
    for row in &rows {
        if to.run(&row.run).await?.is_some() {
            return Err(Error::Exists);
        }
    }
    let mut copied = Copied::default();
    for row in rows.iter().rev() {
        copied.events += one(from, to, row).await?;
        copied.runs += 1;
    }
    remember(from, to).await?;
    let after = all_runs(from).await?;
    let moved = |row: &&RunRow| !rows.iter().any(|known| known.run == row.run && known.last_seq == row.last_seq);
    match after.iter().find(moved) {
        Some(row) => Err(Error::Conflict { actual: row.last_seq }),
        None => Ok(copied),
    }
}

/// All runs, newest first.
async fn all_runs(store: &dyn Store) -> Result<Vec<RunRow>, Error> {
    let mut all: Vec<RunRow> = Vec::new();
    loop {
        let before = all.last().map(|row| row.run.clone());
        let rows = store.runs(Query { before, limit: LISTED, ..Query::default() }).await?;
        let is_last = rows.len() < LISTED;
        all.extend(rows);
        if is_last {
            return Ok(all);
        }
    }
}

/// Copies one run and returns its number of events.
async fn one(from: &dyn Store, to: &dyn Store, row: &RunRow) -> Result<u64, Error> {
    let run = &row.run;
    let mut seq = 0;
    while seq < row.last_seq {
        let events = from.read(run, seq, PAGE).await?;
        let expected = seq;
        seq += events.len() as u64;
        let mut append = Append::new(run.clone(), expected, events.into_iter().map(as_new).collect());
        append.head = (expected == 0).then(|| row.head.clone());
        if seq >= row.last_seq {
            last(from, run, &mut append).await?;
        }
        to.append(append).await?;
    }
    if seq != row.last_seq {
        return Err(Error::Conflict { actual: seq });
    }
    for message in from.inbox(run).await? {
        let (source, dedup, body, at_ms) = (message.source, message.dedup, message.body, message.at_ms);
        to.post(NewMessage { run: run.clone(), source, dedup, body, at_ms }).await?;
    }
    if let Some((seq, bytes)) = from.snapshot(run).await? {
        to.save_snapshot(run, seq, bytes).await?;
    }
    Ok(seq)
}

fn as_new(event: StoredEvent) -> NewEvent {
    NewEvent { id: event.id, at_ms: event.at_ms, body: event.body }
}

/// Adds the blobs, timers and open tasks of the run to its last append.
async fn last(from: &dyn Store, run: &RunId, append: &mut Append) -> Result<(), Error> {
    for hash in from.blobs(run).await? {
        let bytes =
            from.blob(hash).await?.ok_or_else(|| Error::Corrupt(format!("blob {hash} of run {run} is missing")))?;
        append.blobs.push(Blob { hash, bytes });
    }
    append.timers_set = from.timers(run).await?;
    let at_ms = append.at_ms();
    append.tasks_started = from
        .tasks(run)
        .await?
        .into_iter()
        .map(|task| {
            let lease_ms = task.lease_until_ms.saturating_sub(at_ms);
            NewTask { key: task.key, attempt: task.attempt, worker: task.worker, lease_ms, labels: task.labels }
        })
        .collect();
    Ok(())
}

async fn remember(from: &dyn Store, to: &dyn Store) -> Result<(), Error> {
    let mut after = None;
    loop {
        let posted = from.posted(after, LISTED).await?;
        after = posted.last().cloned();
        let is_last = posted.len() < LISTED;
        to.remember(posted).await?;
        if is_last {
            return Ok(());
        }
    }
}
