//! A store in one SQLite file, which several processes of one machine can share.
//!
//! One thread writes and commits what waits together; a few connections read. See `sqlite/001.sql` for the tables.
//!
//! **Invariant:** what was acknowledged survives the end of the process at any moment, and with
//! [`Synchronous::Full`] the loss of power. What is read is what was written, or an error.

mod append;
mod chain;
mod check;
mod fault;
mod fleet;
mod on_disk;
mod readers;
mod runs;
mod schema;
mod sharing;
mod threads;
mod waiting;
mod writer;

use std::path::Path;
use std::sync::Arc;

use longhaul_core::id::RunId;
use tokio::sync::watch;

use crate::append::validated;
use crate::{
    Append, Claim, Error, Glance, Hash, Listed, Message, NewMessage, Pending, Posted, Problem, Query, Restored, RunRow,
    Store, StoredEvent, Task, Timer, Worker, WorkerId, validate_snapshot,
};
use on_disk::OnDisk;
use readers::Readers;
use writer::Writer;

/// A store in a file.
pub struct Sqlite {
    // Dropped first: the last connection that closes puts the log back into the file, and only the writer can.
    readers: Arc<Readers>,
    writer: Writer,
}

/// How a file is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What an acknowledged write survives.
    pub synchronous: Synchronous,
    /// How many callers can read at once.
    pub readers: usize,
    /// How long to wait for other processes before [`Error::Busy`].
    pub busy_ms: u32,
    /// The most bytes of the file, [`Error::Full`] above it; `None` leaves it to the disk.
    pub bytes_max: Option<u64>,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// The loss of power: each commit is flushed to the disk.
    #[default]
    Full,
    /// The end of the process. The loss of power may undo the last commits, never half of one.
    Normal,
}

impl Default for Options {
    fn default() -> Self {
        Self { synchronous: Synchronous::Full, readers: 4, busy_ms: 5_000, bytes_max: None }
    }
}

impl Sqlite {
    /// Opens the file, or makes it. The folder must be there. Blocks; meant for the start of a program.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let path = path.as_ref();
        let db = schema::open_writer(path, &options)?;
        let writer = Writer::start(db, OnDisk::of(path))?;
        Ok(Self { readers: Readers::new(path.to_owned(), options), writer })
    }

    /// Writes a copy of the store in a file, as it is at this moment, into a new file. Others may continue meanwhile. Blocks.
    pub fn back_up(from: &Path, to: &Path) -> Result<(), Error> {
        let db = schema::open_reader(from, &Options::default())?;
        sharing::make(to, schema::folder(to)).map_err(|error| Error::Io(error.to_string()))?;
        db.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
        Ok(())
    }
}

/// A limit, as SQLite counts.
fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Store for Sqlite {
    fn append(&self, append: Append) -> Pending<'_, u64> {
        Box::pin(async move {
            let append = validated(append).await?;
            self.writer.call(move |db| append::append(db, &append)).await
        })
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>> {
        let run = run.clone();
        self.readers.call(move |db| runs::read(db, &run, (after, limit)))
    }

    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>> {
        let run = run.clone();
        self.readers.call(move |db| runs::run(db, &run))
    }

    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>> {
        self.readers.call(move |db| runs::runs(db, query))
    }

    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>> {
        self.readers.call(move |db| runs::blob(db, hash))
    }

    fn post(&self, message: NewMessage) -> Pending<'_, Posted> {
        Box::pin(async move {
            message.validate()?;
            self.writer.call(move |db| waiting::post(db, &message)).await
        })
    }

    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<Message>> {
        let run = run.clone();
        self.readers.call(move |db| waiting::inbox(db, &run))
    }

    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>> {
        self.readers.call(move |db| waiting::with_mail(db, limit))
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>> {
        self.readers.call(move |db| waiting::due(db, now_ms, limit))
    }

    fn next_due(&self) -> Pending<'_, Option<i64>> {
        self.readers.call(waiting::next_due)
    }

    fn glance(&self) -> Pending<'_, Glance> {
        self.readers.call(waiting::glance)
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>> {
        self.writer.call(move |db| fleet::claim(db, &claim))
    }

    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>> {
        let (worker, until_ms) = (worker.clone(), now_ms.saturating_add(lease_ms));
        self.writer.call(move |db| waiting::renew(db, &worker, until_ms))
    }

    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>> {
        self.readers.call(move |db| waiting::expired(db, now_ms, limit))
    }

    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>> {
        let run = run.clone();
        self.readers.call(move |db| waiting::tasks(db, &run))
    }

    fn greet(&self, worker: Worker) -> Pending<'_, ()> {
        self.writer.call(move |db| fleet::greet(db, &worker))
    }

    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()> {
        let worker = worker.clone();
        self.writer.call(move |db| fleet::dismiss(db, &worker))
    }

    fn workers(&self) -> Pending<'_, Vec<Listed>> {
        self.readers.call(fleet::workers)
    }

    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>> {
        self.readers.call(move |db| fleet::unheld(db, limit))
    }

    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()> {
        let run = run.clone();
        Box::pin(async move {
            validate_snapshot(&bytes)?;
            self.writer.call(move |db| runs::save_snapshot(db, &run, (seq, &bytes))).await
        })
    }

    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>> {
        let run = run.clone();
        self.readers.call(move |db| runs::snapshot(db, &run))
    }

    fn restore(&self, run: &RunId, limit: usize) -> Pending<'_, Restored> {
        let run = run.clone();
        self.readers.call(move |db| runs::restore(db, &run, limit))
    }

    fn blobs(&self, run: &RunId) -> Pending<'_, Vec<Hash>> {
        let run = run.clone();
        self.readers.call(move |db| runs::blobs(db, &run))
    }

    fn timers(&self, run: &RunId) -> Pending<'_, Vec<Timer>> {
        let run = run.clone();
        self.readers.call(move |db| waiting::timers(db, &run))
    }

    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>> {
        self.readers.call(move |db| waiting::posted(db, after.as_ref(), limit))
    }

    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()> {
        self.writer.call(move |db| waiting::remember(db, &posted))
    }

    fn remove(&self, run: &RunId) -> Pending<'_, ()> {
        let run = run.clone();
        self.writer.call(move |db| runs::remove(db, &run))
    }

    fn wait_for_room(&self) -> Option<watch::Receiver<Option<String>>> {
        Some(self.writer.wait_for_room())
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.writer.watch()
    }

    fn check(&self) -> Pending<'_, Vec<Problem>> {
        self.readers.call(|db| Ok(check::check(db)))
    }
}
