//! Copies a store into another one, of whatever kind.
//!
//! **Invariant:** what is copied reads back as the same: events with their ids and times, timers, open tasks, messages, what was ever
//! posted, blobs and snapshots. A run that is there already is refused before anything of it is written.

use longhaul_core::id::RunId;

use crate::{Append, Blob, Error, NewEvent, NewMessage, NewTask, Query, RunRow, Store, StoredEvent};

/// Events that go into one append.
const PAGE: usize = 500;
/// Runs and posted messages that are listed together.
const LISTED: usize = 1000;

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many runs.
    pub runs: usize,
    /// With how many events.
    pub events: u64,
}

/// Copies every run of `from` that is not in `to`, in the order in which they were made, and everything that was ever posted. Nobody
/// may write to either meanwhile: a run that moves on under it is refused.
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

/// Newest first.
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

/// Answers how many events it had.
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

/// What goes with the last event.
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
