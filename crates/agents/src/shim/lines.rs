//! The output of an agent, line by line, while it is written and after.
//!
//! Who talks is not read word by word: after a change there is a short wait for more, and then everything is taken at once.
//! Reading is not handed to another thread: the file was just written, so it comes from the memory of the system.
//!
//! **Invariant:** a line comes when it is whole. One that is not comes last, when nothing can follow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

use super::Error;
use super::folder::{Folder, disk};
use super::split::{OutputLine, Split};
use super::watch::Watch;
use crate::process::table;

/// More than any agent says in one line on purpose.
const LINE_BYTES_MAX: usize = 16 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// How long it is waited for more after a change. Nobody who watches notices it.
const TOGETHER: Duration = Duration::from_millis(80);

/// The lines of an output.
#[derive(Debug)]
pub struct Lines {
    folder: Folder,
    from: u64,
    /// `None` until there is one.
    file: Option<File>,
    chunk: Vec<u8>,
    split: Split,
    watch: Watch,
}

impl Lines {
    pub(super) fn of_running(folder: &Folder, shim: &table::Process, from: u64) -> Result<Self, Error> {
        Ok(Self::new(folder, from, Watch::of(folder, shim)?))
    }

    pub(super) fn of_ended(folder: &Folder, from: u64) -> Self {
        Self::new(folder, from, Watch::ended())
    }

    fn new(folder: &Folder, from: u64, watch: Watch) -> Self {
        let (folder, split) = (folder.clone(), Split::new(from, LINE_BYTES_MAX));
        Self { folder, from, file: None, chunk: vec![0; CHUNK_BYTES], split, watch }
    }

    /// The next line; `None` when the output is over. Nothing is lost when this is dropped and called again.
    pub async fn next(&mut self) -> Result<Option<OutputLine>, Error> {
        loop {
            if let Some(line) = self.split.next() {
                return Ok(Some(line));
            }
            // In this order: what was written before the end is read after it is known.
            let is_ended = self.watch.is_ended();
            if self.fill().map_err(disk(&self.folder.stdout()))? {
                continue;
            }
            if is_ended {
                return Ok(self.split.finish());
            }
            self.watch.changed().await?;
            self.watch.settled(TOGETHER).await?;
        }
    }

    /// Another line, if one has been read already.
    pub fn ready(&mut self) -> Option<OutputLine> {
        self.split.next()
    }

    /// Reads on, and says whether there was something.
    fn fill(&mut self) -> io::Result<bool> {
        let Some(file) = &mut self.file else { return self.open() };
        let got = file.read(&mut self.chunk)?;
        self.split.push(&self.chunk[..got]);
        Ok(got > 0)
    }

    fn open(&mut self) -> io::Result<bool> {
        let mut file = match File::open(self.folder.stdout()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(self.from))?;
        self.file = Some(file);
        Ok(true)
    }
}
