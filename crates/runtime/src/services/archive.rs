//! Archives a finished run as one file: all data of it in the store and on this machine. `import` brings it back.
//!
//! The file is gzip around lines of JSON, so other programs can read it. It has the run, its events as they were
//! stored, its blobs, its files, and at the end a hash of all lines.
//!
//! **Invariant:** a file under its final name is complete and on the disk. An import checks every hash first, and
//! writes the run to the store in one commit.

mod read;
mod write;

use std::path::{Path, PathBuf};

use longhaul_agents::private;
use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_store::{Append, Blob, Error as Refusal, Head, NewEvent};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Error};
use crate::run::codec;
use crate::run::record::refuse_reserved;

/// The version of the format.
const FORMAT: u32 = 1;
/// The ending of archive files.
const SUFFIX: &str = ".longhaul.gz";
/// How many events to read at once.
const PAGE: usize = 500;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The first line: the run itself.
    Run { format: u32, run: RunId, head: Head, last_seq: u64 },
    /// An event, as it was stored.
    Event { id: String, at: i64, body: String },
    /// A blob that events refer to.
    Blob { hash: String, bytes: Bytes },
    /// A part of a file of the run. Further parts of the same file follow it.
    File { path: String, bytes: Bytes },
    /// The last line: how many lines came before it, and the hash of their text.
    End { lines: u64, hash: String },
}

/// Bytes, as text if they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Bytes {
    Text(String),
    Hex(String),
}

/// The content of a file.
#[derive(Debug)]
struct Archive {
    run: RunId,
    head: Head,
    events: Vec<NewEvent>,
    blobs: Vec<Blob>,
}

impl Engine {
    /// Writes a finished run into a file of a folder, and syncs it. Returns the path, and the last event in it.
    pub async fn archive(&self, run: &RunId, folder: &Path) -> Result<(PathBuf, u64), Error> {
        let row = self.shared.store.run(run).await?.ok_or_else(|| Error::UnknownRun(run.to_string()))?;
        if !self.is_over(run).await? {
            return Err(Rejection::untimely(format!("{run} is not over")).with(Remedy::CancelFirst).into());
        }
        let file = folder.join(format!("{run}{SUFFIX}"));
        // An earlier process may have written this file, and then removed files that are in it before it was killed.
        if read::read(&file, u64::MAX, None)
            .is_ok_and(|known| known.run == *run && known.events.len() as u64 == row.last_seq)
        {
            return Ok((file, row.last_seq));
        }
        write::write(self.shared.store.as_ref(), &row, &self.shared.artifacts.run(run), &file).await?;
        // This is about to be the only copy, so check that it can be read.
        let read = read::read(&file, u64::MAX, None)?;
        match read.events.len() as u64 == row.last_seq {
            true => Ok((file, row.last_seq)),
            false => Err(Error::Damaged(format!("{} does not have all events of {run}", file.display()))),
        }
    }

    /// Imports a run and its files from an archive. Refuses a run that is already in the store, and one that is larger
    /// than `bytes_max` when unpacked. Without `bytes_max`, refuses one that is far larger than its file.
    pub async fn import(&self, file: &Path, bytes_max: Option<u64>, by: Option<String>) -> Result<RunId, Error> {
        let beside = self.shared.artifacts.home().join(format!("importing-{}", uuid::Uuid::new_v4().simple()));
        let bytes_max = bytes_max.unwrap_or_else(|| usual_bytes_max(file));
        let brought = self.bring(file, bytes_max, &beside, by).await;
        // Files that were not moved to their place are not needed.
        let _ = std::fs::remove_dir_all(&beside);
        brought
    }

    async fn bring(&self, file: &Path, bytes_max: u64, beside: &Path, by: Option<String>) -> Result<RunId, Error> {
        let Archive { run, head, mut events, mut blobs } = read::read(file, bytes_max, Some(beside))?;
        refuse_reserved(&run)?;
        if self.shared.store.run(&run).await?.is_some() {
            return Err(Rejection::conflict(format!("{run} is there already"))
                .say("prune the run first, then import the file again")
                .into());
        }
        // The store does not know this run, so files under its name belong to no run.
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
            // Another process has imported the run meanwhile, and the files belong to it.
            Err(error @ (Refusal::Exists | Refusal::Conflict { .. })) => Err(error.into()),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&place);
                Err(error.into())
            }
        }
    }
}

/// The default limit: a run that is larger, and far larger than its file, is hardly a real archive.
fn usual_bytes_max(file: &Path) -> u64 {
    let packed = file.metadata().map_or(0, |file| file.len());
    packed.saturating_mul(100).max(1 << 30)
}
