//! Keeping a store small by itself: what has long been over is written into an archive, and forgotten.
//!
//! **Invariant:** of several workers one does it at a time: its turn is an entry in a journal of the store, written by
//! compare-and-set. Nothing is forgotten that is not on the disk before, where an archive is wanted.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::{Append, EventId, Head, NewEvent};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::{Engine, Error};
use crate::run::codec;
use crate::run::run_loop::moved_on;

/// The journal of turns. No run is called so.
pub(crate) const UPKEEP: &str = "longhaul-upkeep";
/// How often is looked whether something is old enough.
const EVERY: Duration = Duration::from_secs(3600);
/// How long after its start a worker looks for the first time: who is started for a moment has other things to do.
const FIRST: Duration = Duration::from_secs(60);
/// How long somebody's turn lasts at the most.
const TURN_MS: i64 = 30 * 60 * 1000;
/// Runs that go in one turn; the rest goes at the next look.
const RUNS_MAX: usize = 1000;
/// Entries after which the journal begins again.
const ENTRIES_MAX: u64 = 500;

/// How long runs are kept that are over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those that have been over for longer go.
    pub finished: Option<Duration>,
    /// But never the newest so many.
    pub keep: usize,
    /// Where they are written before.
    pub archive: Option<PathBuf>,
}

/// What is in the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "upkeep", rename_all = "snake_case")]
enum Entry {
    /// Somebody has begun.
    Begun { by: String },
    /// They are done.
    Ended { removed: usize },
}

impl Engine {
    /// Looks now and then whether runs are to be forgotten, until it is stopped. `told` hears how many went, or why none did.
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

    /// Forgets what the retention says, unless somebody else is at it; answers how many runs went.
    pub async fn tidy(&self, retention: &Retention) -> Result<usize, Error> {
        let Some(age) = retention.finished else { return Ok(0) };
        let mut rows = self.old_runs(age, retention.keep).await?;
        // The oldest go first; they come last.
        rows.reverse();
        rows.truncate(RUNS_MAX);
        if rows.is_empty() {
            return Ok(0);
        }
        let Some(seq) = self.take_turn().await? else { return Ok(0) };
        let mut removed = 0;
        for row in &rows {
            match self.put_away(&row.run, retention.archive.as_deref()).await {
                // Somebody has taken it up again, or removed it.
                Err(Error::Refused(_) | Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => {}
                gone => {
                    gone?;
                    removed += 1;
                }
            }
        }
        self.note(seq, &Entry::Ended { removed }).await?;
        Ok(removed)
    }

    /// Takes the turn, if nobody has it; answers the number of the entry.
    async fn take_turn(&self) -> Result<Option<u64>, Error> {
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

    /// What was done long ago is of no use to anybody. Whoever does so at the same moment finds that there is nothing.
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
