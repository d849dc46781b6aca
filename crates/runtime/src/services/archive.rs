//! A run that is over as one file: all that the store and this machine know of it, to be brought back whenever somebody asks.
//!
//! The file is gzip around lines of JSON, so other programs can read it: what the run is, its events as they were stored, its blobs,
//! the files about it, and at the end a hash of all that.
//!
//! **Invariant:** a file under its final name is whole and on the disk. What is brought back was held against every hash first, and
//! is in the store with one commit.

mod read;
mod write;

use std::path::{Path, PathBuf};

use longhaul_agents::private;
use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_core::id::RunId;
use longhaul_store::{Append, Blob, Error as Refusal, Head, NewEvent};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Error};
use crate::run::codec;
use crate::run::record::refuse_reserved;

/// The version of the format.
const FORMAT: u32 = 1;
/// How files are called that hold a run.
const SUFFIX: &str = ".longhaul.gz";
/// Events that are read at once.
const PAGE: usize = 500;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The first one.
    Run { format: u32, run: RunId, head: Head, last_seq: u64 },
    /// An event, as it was stored.
    Event { id: String, at: i64, body: String },
    /// Bytes that events refer to.
    Blob { hash: String, bytes: Bytes },
    /// A part of a file about the run; further parts of the same file follow it.
    File { path: String, bytes: Bytes },
    /// The last one: how many came before it, and the hash of their text.
    End { lines: u64, hash: String },
}

/// Bytes, as text where they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Bytes {
    Text(String),
    Hex(String),
}

/// What a file holds.
#[derive(Debug)]
struct Archive {
    run: RunId,
    head: Head,
    events: Vec<NewEvent>,
    blobs: Vec<Blob>,
}

impl Engine {
    /// Writes a run that is over into a file of a folder, and syncs it; answers where, and the last event that is in it.
    pub async fn archive(&self, run: &RunId, folder: &Path) -> Result<(PathBuf, u64), Error> {
        let row = self.shared.store.run(run).await?.ok_or_else(|| Error::UnknownRun(run.to_string()))?;
        if !self.is_over(run).await? {
            return Err(Error::Refused(format!("{run} is not over; cancel it first")));
        }
        let file = folder.join(format!("{run}{SUFFIX}"));
        // Who was killed after it was written has perhaps removed files that are in it.
        if read::read(&file, u64::MAX, None)
            .is_ok_and(|known| known.run == *run && known.events.len() as u64 == row.last_seq)
        {
            return Ok((file, row.last_seq));
        }
        write::write(self.shared.store.as_ref(), &row, &self.shared.artifacts.run(run), &file).await?;
        // It is about to be the only copy: what cannot be read back is none.
        let read = read::read(&file, u64::MAX, None)?;
        match read.events.len() as u64 == row.last_seq {
            true => Ok((file, row.last_seq)),
            false => Err(Error::Damaged(format!("{} does not have all of {run}", file.display()))),
        }
    }

    /// Brings a run back from a file, with the files about it. One that is there is refused, and one that is larger than
    /// `bytes_max` when it is unpacked; without that, one that is suspiciously much larger than its file.
    pub async fn import(&self, file: &Path, bytes_max: Option<u64>, by: Option<String>) -> Result<RunId, Error> {
        let beside = self.shared.artifacts.home().join(format!("importing-{}", uuid::Uuid::new_v4().simple()));
        let bytes_max = bytes_max.unwrap_or_else(|| usual_bytes_max(file));
        let brought = self.bring(file, bytes_max, &beside, by).await;
        // What was not moved to its place is not needed.
        let _ = std::fs::remove_dir_all(&beside);
        brought
    }

    async fn bring(&self, file: &Path, bytes_max: u64, beside: &Path, by: Option<String>) -> Result<RunId, Error> {
        let Archive { run, head, mut events, mut blobs } = read::read(file, bytes_max, Some(beside))?;
        refuse_reserved(&run)?;
        if self.shared.store.run(&run).await?.is_some() {
            return Err(Error::Refused(format!("{run} is there already; prune it first to take the file's")));
        }
        // Whatever lies under its name is of no run that the store knows.
        let place = self.shared.artifacts.run(&run);
        let _ = std::fs::remove_dir_all(&place);
        if beside.exists() {
            private::create_dir_all(place.parent().unwrap_or(Path::new(".")))?;
            std::fs::rename(beside, &place)?;
        }
        let (seq, at) = (events.len() as u64 + 1, self.shared.clock.now_ms());
        let brought = Envelope { v: VERSION, seq, at, event: Event::Imported { by } };
        events.extend(codec::encode_all(&[brought], &mut blobs)?);
        let mut append = Append::new(run.clone(), 0, events);
        (append.head, append.blobs) = (Some(head), blobs);
        match self.shared.store.append(append).await {
            Ok(_) => Ok(run),
            // Somebody else has brought it back meanwhile, and the files are theirs.
            Err(error @ (Refusal::Exists | Refusal::Conflict { .. })) => Err(error.into()),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&place);
                Err(error.into())
            }
        }
    }
}

/// A run that is larger, and so much larger than its file, is hardly one that was put away.
fn usual_bytes_max(file: &Path) -> u64 {
    let packed = file.metadata().map_or(0, |file| file.len());
    packed.saturating_mul(100).max(1 << 30)
}
