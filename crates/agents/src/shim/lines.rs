//! Reads the output of an agent line by line, while it is written and after.
//!
//! It does not read every small change: after a change it waits a short time for more, and then takes everything at
//! once. It reads on the same thread, because the file was just written and is in the memory of the system.
//!
//! **Invariant:** a line is returned when it is complete. An incomplete line comes last, when nothing can follow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

use super::Error;
use super::folder::{Folder, disk};
use super::split::{OutputLine, Split};
use super::watch::Watch;
use crate::process::table;

/// The longest line. No agent prints a longer one on purpose.
const LINE_BYTES_MAX: usize = 16 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// How long to wait for more after a change; too short for a user to notice.
const TOGETHER: Duration = Duration::from_millis(80);

/// The lines of an output.
#[derive(Debug)]
pub struct Lines {
    folder: Folder,
    from: u64,
    /// `None` until the file exists.
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

    /// The next line; `None` when the output is over. Dropping it and calling it again loses nothing.
    pub async fn next(&mut self) -> Result<Option<OutputLine>, Error> {
        loop {
            if let Some(line) = self.split.next() {
                return Ok(Some(line));
            }
            // In this order: everything that was written before the end is read after the end is known.
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

    /// Another line, if one was already read.
    pub fn ready(&mut self) -> Option<OutputLine> {
        self.split.next()
    }

    /// Reads more, and returns whether there was something.
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
