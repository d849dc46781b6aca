//! The output of an agent, line by line, while it is written and after.
//!
//! **Invariant:** a line comes when it is whole. One that is not comes last, when nothing can follow.

use std::io::{self, SeekFrom};

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::Error;
use super::folder::{Folder, disk};
use super::split::{Line, Split};
use super::watch::Watch;
use crate::process::table;

/// More than any agent says in one line on purpose.
const LINE_BYTES_MAX: usize = 16 << 20;
const CHUNK_BYTES: usize = 64 << 10;

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
    pub async fn next(&mut self) -> Result<Option<Line>, Error> {
        loop {
            if let Some(line) = self.split.next() {
                return Ok(Some(line));
            }
            // In this order: what was written before the end is read after it is known.
            let is_ended = self.watch.is_ended();
            if self.fill().await.map_err(disk(&self.folder.stdout()))? {
                continue;
            }
            if is_ended {
                return Ok(self.split.finish());
            }
            self.watch.changed().await?;
        }
    }

    /// Reads on, and says whether there was something.
    async fn fill(&mut self) -> io::Result<bool> {
        let Some(file) = &mut self.file else { return self.open().await };
        let got = file.read(&mut self.chunk).await?;
        self.split.push(&self.chunk[..got]);
        Ok(got > 0)
    }

    async fn open(&mut self) -> io::Result<bool> {
        let mut file = match File::open(self.folder.stdout()).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(self.from)).await?;
        self.file = Some(file);
        Ok(true)
    }
}
