//! What agents say whose engine is another process: the ends of the transcripts of open attempts.
//!
//! What agents of this process say is heard at once and has the same numbers; a feed takes each number once.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::{Engine, Error, Said};

use super::feed::Feed;
use crate::http::attempts::TRANSCRIPT;

/// How much of a transcript is read at once.
const BYTES_MAX: u64 = 1 << 20;

type Key = (RunId, StepPath, u32);

/// The ends of the transcripts of open attempts.
pub(super) struct Tails {
    engine: Engine,
    open: HashMap<Key, Tail>,
    /// The event at which the open attempts of a run were looked up.
    known: HashMap<RunId, u64>,
}

struct Tail {
    file: PathBuf,
    bytes: u64,
    next: u64,
}

impl Tails {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, open: HashMap::new(), known: HashMap::new() }
    }

    /// Finds the attempts of a run that are open now. What they said before somebody watched is in their transcripts.
    pub(super) async fn follow(&mut self, feed: &Feed) -> Result<(), Error> {
        let seq = feed.seq();
        let before = self.known.insert(feed.run.clone(), seq);
        if before == Some(seq) {
            return Ok(());
        }
        let loaded = match self.engine.load(&feed.run).await {
            Ok(loaded) => loaded,
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let agents = loaded.state.open_attempts().filter(|step| loaded.plan.0.step(step.step).is_agent());
        let open: HashSet<(StepPath, u32)> = agents.map(|step| (step.path.clone(), step.attempts)).collect();
        // What was said until the end was read by then, or is in the transcript.
        self.open.retain(|(run, path, attempt), tail| {
            let stays = *run != feed.run || open.contains(&(path.clone(), *attempt));
            if !stays {
                tail.tell(feed, path, *attempt);
            }
            stays
        });
        for (path, attempt) in open {
            let file = self.engine.attempt_dir(&feed.run, &path, attempt).join(TRANSCRIPT);
            let key = (feed.run.clone(), path.clone(), attempt);
            self.open.entry(key).or_insert_with(|| {
                let mut tail = Tail { file, bytes: 0, next: 0 };
                if before.is_none() {
                    tail.skip();
                    feed.spoken(path.to_string(), attempt, tail.next);
                }
                tail
            });
        }
        Ok(())
    }

    /// Reads what was said since the last time.
    pub(super) fn listen(&mut self, feeds: &[Arc<Feed>]) {
        self.open.retain(|(run, _, _), _| feeds.iter().any(|feed| feed.run == *run));
        self.known.retain(|run, _| feeds.iter().any(|feed| feed.run == *run));
        for ((run, path, attempt), tail) in &mut self.open {
            if let Some(feed) = feeds.iter().find(|feed| feed.run == *run) {
                tail.tell(feed, path, *attempt);
            }
        }
    }
}

impl Tail {
    fn skip(&mut self) {
        while let Some(lines) = self.lines().filter(|lines| !lines.is_empty()) {
            self.next += lines.len() as u64;
        }
    }

    fn tell(&mut self, feed: &Feed, path: &StepPath, attempt: u32) {
        for line in self.lines().unwrap_or_default() {
            let number = self.next;
            self.next += 1;
            // A version to come may keep more than this one knows.
            if let Ok(entry) = serde_json::from_slice(&line) {
                feed.say(&Said { path: path.clone(), attempt, number, entry });
            }
        }
    }

    /// The next whole lines.
    fn lines(&mut self) -> Option<Vec<Vec<u8>>> {
        let size = size(&self.file)?;
        if size < self.bytes {
            // It is written anew, and says the same again.
            (self.bytes, self.next) = (0, 0);
        }
        if size == self.bytes {
            return None;
        }
        let mut file = File::open(&self.file).ok()?;
        file.seek(SeekFrom::Start(self.bytes)).ok()?;
        let mut reader = BufReader::new(file.take(BYTES_MAX));
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = reader.read_until(b'\n', &mut line).ok()?;
            if line.pop() != Some(b'\n') {
                return Some(lines);
            }
            self.bytes += read as u64;
            lines.push(line);
        }
    }
}

fn size(file: &Path) -> Option<u64> {
    Some(std::fs::metadata(file).ok()?.len())
}
