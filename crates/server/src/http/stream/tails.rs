//! What agents say whose engine is another process: the ends of the transcripts of open attempts.
//!
//! What agents of this process say is heard at once and has the same numbers; a feed takes each number once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::id::RunId;
use longhaul_runtime::{Engine, Said};

use super::feed::{Feed, Tried};
use crate::http::attempts::TRANSCRIPT;

/// How much of a transcript is read at once.
const BYTES_MAX: u64 = 1 << 20;

/// The ends of the transcripts of open attempts.
pub(super) struct Tails {
    engine: Engine,
    open: HashMap<(RunId, Tried), Tail>,
}

struct Tail {
    file: PathBuf,
    bytes: u64,
    next: u64,
}

impl Tails {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, open: HashMap::new() }
    }

    /// Reads what was said since the last time.
    pub(super) fn listen(&mut self, feeds: &[Arc<Feed>]) {
        self.open.retain(|(run, _), _| feeds.iter().any(|feed| feed.run == *run));
        for feed in feeds {
            self.listen_to(feed);
        }
    }

    fn listen_to(&mut self, feed: &Feed) {
        let under_way = feed.open();
        for (tried, is_old) in &under_way {
            let folder = || self.engine.attempt_dir(&feed.run, &tried.0, tried.1);
            self.open.entry((feed.run.clone(), tried.clone())).or_insert_with(|| {
                let mut tail = Tail { file: folder().join(TRANSCRIPT), bytes: 0, next: 0 };
                if *is_old {
                    // What was said before somebody watched is asked for by those who want it.
                    tail.skip();
                }
                tail
            });
        }
        self.open.retain(|(run, tried), tail| {
            if *run != feed.run {
                return true;
            }
            // Of one that is over what was said last, too.
            tail.tell(feed, tried);
            under_way.contains_key(tried)
        });
    }
}

impl Tail {
    fn skip(&mut self) {
        while let Some(lines) = self.lines().filter(|lines| !lines.is_empty()) {
            self.next += lines.len() as u64;
        }
    }

    fn tell(&mut self, feed: &Feed, (path, attempt): &Tried) {
        for line in self.lines().unwrap_or_default() {
            let number = self.next;
            self.next += 1;
            // A version to come may keep more than this one knows.
            if let Ok(entry) = serde_json::from_slice(&line) {
                feed.say(&Said { path: path.clone(), attempt: *attempt, number, entry });
            }
        }
    }

    /// The next whole lines.
    fn lines(&mut self) -> Option<Vec<Vec<u8>>> {
        let size = size(&self.file)?;
        if size < self.bytes {
            // It is written again, and says the same again.
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
