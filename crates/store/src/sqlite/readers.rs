//! A few connections that only read, each used by one caller at a time.
//!
//! **Invariant:** a reader sees the file as it was at one moment, never half of a write. A machine that is short of files or threads makes
//! reading slower, and nothing else.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use rustix::io::Errno;
use tokio::sync::{Semaphore, oneshot};

use super::threads::Threads;
use super::{Options, schema};
use crate::{Error, Pending};

/// How long a reader waits for a file to be closed somewhere, before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Readers {
    path: PathBuf,
    options: Options,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    threads: Threads,
}

impl Readers {
    pub(super) fn new(path: PathBuf, options: Options) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(options.readers.max(1)));
        Arc::new(Self { path, options, idle: Mutex::default(), permits, threads: Threads::default() })
    }

    /// Has `work` done on a thread that may block.
    pub(super) fn call<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Pending<'static, T> {
        let this = Arc::clone(self);
        Box::pin(async move {
            let permit = Arc::clone(&this.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
            let (reply, answer) = oneshot::channel();
            let readers = Arc::clone(&this);
            this.threads.have_done(Box::new(move || {
                let outcome = readers.read(work);
                drop((permit, readers));
                // Whoever asked may have gone.
                let _ = reply.send(outcome);
            }));
            // Before the wait: whoever closes the store meanwhile must not be kept from it.
            drop(this);
            answer.await.unwrap_or_else(|_| Err(Error::Io("a reader broke off".to_owned())))
        })
    }

    /// A connection on which something went wrong is not used again.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let db = self.connection()?;
        let transaction = db.unchecked_transaction()?;
        let answer = work(&transaction)?;
        transaction.finish()?;
        self.idle().push(db);
        Ok(answer)
    }

    /// One that is free, or a new one; waits while the machine has no files for it.
    fn connection(&self) -> Result<Connection, Error> {
        loop {
            if let Some(db) = self.idle().pop() {
                return Ok(db);
            }
            match schema::open_reader(&self.path, &self.options) {
                Err(Error::Io(_) | Error::Starved(_)) if self.lacks_files() => std::thread::sleep(PAUSE),
                opened => return opened,
            }
        }
    }

    /// Whether the file cannot be opened because too many are.
    fn lacks_files(&self) -> bool {
        let lacking = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
        let opened = File::open(&self.path);
        opened.err().and_then(|error| Errno::from_io_error(&error)).is_some_and(|errno| lacking.contains(&errno))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
