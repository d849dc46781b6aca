//! Writes appends to PostgreSQL.

use longhaul_core::id::RunId;

use super::Postgres;
use super::news::Written;
use crate::{Append, Blob, Error, EventId, Head};

/// The checksum that is stored with each event.
pub(super) type Checksum = [u8; 16];

/// Covers the place of an event and its content, so that a reader notices a changed or moved event.
pub(super) fn checksum(run: &RunId, seq: u64, (id, at_ms, body): (EventId, i64, &[u8])) -> Checksum {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(run.as_str().len() as u64).to_be_bytes()).update(run.as_str().as_bytes());
    hasher.update(&seq.to_be_bytes()).update(&id.0.to_be_bytes()).update(&at_ms.to_be_bytes()).update(body);
    let mut checksum = [0; 16];
    checksum.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    checksum
}

const APPEND: &str = "SELECT outcome, seq FROM append_2(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)";

/// See [`crate::Store::append`].
pub(super) async fn append(store: &Postgres, append: &Append) -> Result<u64, Error> {
    // No run gets this long, and larger numbers do not fit the column.
    let expected = append.expected.min(1 << 62).cast_signed();
    let events = Events::of(append);
    let head = append.head.as_ref().map(head_of);
    let summary = append.head.as_ref().map(|head| head.summary.as_bytes());
    let cleared: Vec<&str> = append.timers_cleared.iter().map(String::as_str).collect();
    let timers: Vec<&str> = append.timers_set.iter().map(|timer| timer.id.as_str()).collect();
    let dues: Vec<i64> = append.timers_set.iter().map(|timer| timer.due_ms).collect();
    let ended: Vec<&str> = append.tasks_ended.iter().map(|end| end.key.as_str()).collect();
    let ended_at: Vec<i64> = append.tasks_ended.iter().map(|end| end.attempt.into()).collect();
    let ended_by: Vec<Option<&str>> =
        append.tasks_ended.iter().map(|end| end.worker.as_ref().map(|worker| worker.as_str())).collect();
    let tasks = Tasks::of(append);
    let consumed: Vec<i64> = append.consumed.iter().map(|message| message.0).collect();
    let blobs = each_once(&append.blobs);
    let hashes: Vec<&[u8]> = blobs.iter().map(|blob| &blob.hash.0[..]).collect();
    let bytes: Vec<&[u8]> = blobs.iter().map(|blob| &blob.bytes[..]).collect();
    let answer = store
        .desk
        .write(
            APPEND,
            &[
                &append.run.as_str(),
                &expected,
                &events.ids,
                &events.ats,
                &events.bodies,
                &events.sums,
                &head,
                &summary,
                &cleared,
                &timers,
                &dues,
                &ended,
                &ended_at,
                &ended_by,
                &tasks.keys,
                &tasks.attempts,
                &tasks.workers,
                &tasks.leases,
                &tasks.labels,
                &consumed,
                &hashes,
                &bytes,
            ],
            size(append),
        )
        .await?;
    let row = answer.rows.first().ok_or_else(|| Error::Corrupt("an append was not answered".to_owned()))?;
    let (outcome, seq) = (row.get::<_, &str>(0), row.get::<_, i64>(1).cast_unsigned());
    match outcome {
        "done" => {
            store.news.wrote(kind(append));
            Ok(seq)
        }
        // This was our own first try, whose answer was lost.
        "applied" if answer.again => {
            store.news.wrote(kind(append));
            Ok(append.expected + append.events.len() as u64)
        }
        "applied" => Err(Error::AlreadyApplied),
        "exists" => Err(Error::Exists),
        "unknown" => Err(Error::UnknownRun),
        _ => Err(Error::Conflict { actual: seq }),
    }
}

fn kind(append: &Append) -> Written {
    let is_offered = append.tasks_started.iter().any(|task| task.worker.is_none());
    if append.expected == 0 || is_offered { Written::Work } else { Written::Progress }
}

fn size(append: &Append) -> usize {
    let bodies: usize = append.events.iter().map(|event| event.body.len()).sum();
    bodies + append.blobs.iter().map(|blob| blob.bytes.len()).sum::<usize>()
}

/// Every caller sorts blobs the same way, so that two callers with the same blobs do not deadlock.
fn each_once(blobs: &[Blob]) -> Vec<&Blob> {
    let mut blobs: Vec<&Blob> = blobs.iter().collect();
    blobs.sort_by_key(|blob| blob.hash);
    blobs.dedup_by_key(|blob| blob.hash);
    blobs
}

fn head_of(head: &Head) -> Vec<Option<&str>> {
    vec![Some(&head.workflow), Some(&head.status), head.group.as_deref(), head.parent.as_ref().map(RunId::as_str)]
}

struct Events<'a> {
    ids: Vec<Vec<u8>>,
    ats: Vec<i64>,
    bodies: Vec<&'a [u8]>,
    sums: Vec<Vec<u8>>,
}

impl<'a> Events<'a> {
    fn of(append: &'a Append) -> Self {
        let sums = append.events.iter().zip(1..).map(|(event, place)| (append.expected.saturating_add(place), event));
        Self {
            ids: append.events.iter().map(|event| event.id.0.to_be_bytes().to_vec()).collect(),
            ats: append.events.iter().map(|event| event.at_ms).collect(),
            bodies: append.events.iter().map(|event| event.body.as_bytes()).collect(),
            sums: sums
                .map(|(seq, event)| checksum(&append.run, seq, (event.id, event.at_ms, event.body.as_bytes())).to_vec())
                .collect(),
        }
    }
}

struct Tasks<'a> {
    keys: Vec<&'a str>,
    attempts: Vec<i64>,
    workers: Vec<Option<&'a str>>,
    leases: Vec<i64>,
    labels: Vec<String>,
}

impl<'a> Tasks<'a> {
    fn of(append: &'a Append) -> Self {
        let tasks = &append.tasks_started;
        Self {
            keys: tasks.iter().map(|task| task.key.as_str()).collect(),
            attempts: tasks.iter().map(|task| task.attempt.into()).collect(),
            workers: tasks.iter().map(|task| task.worker.as_ref().map(|worker| worker.as_str())).collect(),
            leases: tasks.iter().map(|task| append.lease_until_ms(task)).collect(),
            labels: tasks.iter().map(|task| serde_json::Value::from(task.labels.clone()).to_string()).collect(),
        }
    }
}
