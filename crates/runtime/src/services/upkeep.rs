//! Keeps a store small: archives and removes runs that ended long ago.
//!
//! **Invariant:** only one worker does this at a time. Its turn is an entry in a journal of the store, written by
//! compare-and-set. If an archive is configured, a run is removed only after its archive is on the disk.

use std::time::Duration;

use longhaul_config::Retention;
use longhaul_core::id::RunId;
use longhaul_store::{Append, EventId, Head, NewEvent};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::{Engine, Error};
use crate::run::codec;
use crate::run::run_loop::moved_on;

/// The id of the journal of turns. No run can have it.
pub(crate) const UPKEEP: &str = "longhaul-upkeep";
/// How often to check for old runs.
const EVERY: Duration = Duration::from_secs(3600);
/// How long after its start a worker checks first. A worker that runs only for a moment does not check.
const FIRST: Duration = Duration::from_secs(60);
/// The longest time of one turn.
const TURN_MS: i64 = 30 * 60 * 1000;
/// The most runs to remove in one turn. The next turn removes the rest.
const RUNS_MAX: usize = 1000;
/// How many entries the journal may have before it starts again.
const ENTRIES_MAX: u64 = 500;

/// An entry of the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "upkeep", rename_all = "snake_case")]
enum Entry {
    /// A worker has started its turn.
    Begun { by: String },
    /// The turn is over.
    Ended { removed: usize },
}

impl Engine {
    /// Checks from time to time for runs to remove, until `stop`. Calls `told` with the number of removed runs, or the
    /// error.
    pub async fn keep_small(
        &self,
        retention: &Retention,
        stop: CancellationToken,
        told: &(dyn Fn(Result<usize, &Error>) + Send + Sync),
    ) {
        if retention.finished.is_none() {
            return;
        }
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => pause = EVERY,
            }
            match self.tidy(retention).await {
                Ok(0) => {}
                Ok(removed) => told(Ok(removed)),
                Err(error) => told(Err(&error)),
            }
        }
    }

    /// Removes the runs that the retention names, unless another worker does so now. Returns how many.
    pub async fn tidy(&self, retention: &Retention) -> Result<usize, Error> {
        let Some(age) = retention.finished else { return Ok(0) };
        let mut rows = self.old_runs(age, retention.keep).await?;
        // Remove the oldest first; the list has them last.
        rows.reverse();
        rows.truncate(RUNS_MAX);
        if rows.is_empty() {
            return Ok(0);
        }
        let Some(seq) = self.reserve_turn().await? else { return Ok(0) };
        let mut removed = 0;
        for row in &rows {
            match self.put_away(&row.run, retention.archive.as_deref()).await {
                // Another process has restarted the run, or removed it.
                Err(Error::Rejected(_) | Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => {}
                gone => {
                    gone?;
                    removed += 1;
                }
            }
        }
        self.note(seq, &Entry::Ended { removed }).await?;
        Ok(removed)
    }

    /// Takes the turn, if no worker has it. Returns the number of the entry.
    async fn reserve_turn(&self) -> Result<Option<u64>, Error> {
        let journal = journal();
        let last = self.shared.store.run(&journal).await?.map_or(0, |row| row.last_seq);
        if last > 0 && self.is_taken(last).await? {
            return Ok(None);
        }
        let last = if last < ENTRIES_MAX { last } else { self.begin_anew().await? };
        match self.note(last, &Entry::Begun { by: self.shared.options.member.name.clone() }).await {
            Ok(()) => Ok(Some(last + 1)),
            Err(error) if moved_on(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn is_taken(&self, last: u64) -> Result<bool, Error> {
        let rows = self.shared.store.read(&journal(), last - 1, 1).await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let is_open = matches!(codec::what(&row.body, self.shared.store.as_ref()).await?, Entry::Begun { .. });
        Ok(is_open && self.shared.clock.now_ms().saturating_sub(row.at_ms) < TURN_MS)
    }

    /// Removes the old journal. If another worker removes it at the same moment, it is already gone, which is fine.
    async fn begin_anew(&self) -> Result<u64, Error> {
        match self.shared.store.remove(&journal()).await {
            Ok(()) | Err(longhaul_store::Error::UnknownRun) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    async fn note(&self, after: u64, entry: &Entry) -> Result<(), Error> {
        let body = codec::body(entry, &mut Vec::new())?;
        let event = NewEvent { id: EventId(Uuid::now_v7().as_u128()), at_ms: self.shared.clock.now_ms(), body };
        let mut append = Append::new(journal(), after, vec![event]);
        append.head = (after == 0).then(head);
        self.shared.store.append(append).await?;
        Ok(())
    }
}

#[expect(clippy::expect_used, reason = "the name follows the grammar; a test opens it")]
fn journal() -> RunId {
    RunId::new(UPKEEP).expect("the name follows the grammar")
}

fn head() -> Head {
    Head { workflow: UPKEEP.to_owned(), status: "upkeep".to_owned(), summary: "null".to_owned(), ..Head::default() }
}
