//! A few connections that only read, each used by one caller at a time.
//!
//! **Invariant:** a reader sees the file as it was at one moment, never half of a write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{Options, schema};
use crate::{Error, Pending};

pub(super) struct Readers {
    path: PathBuf,
    options: Options,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, options: Options) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(options.readers.max(1)));
        Arc::new(Self { path, options, idle: Mutex::default(), permits })
    }

    /// Has `work` done on a thread that may block.
    pub(super) fn call<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Pending<'static, T> {
        let this = Arc::clone(self);
        Box::pin(async move {
            let permit = Arc::clone(&this.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
            let task = tokio::task::spawn_blocking(move || {
                let outcome = this.read(work);
                drop(permit);
                outcome
            });
            task.await.unwrap_or_else(|error| Err(Error::Io(error.to_string())))
        })
    }

    /// A connection on which something went wrong is not used again.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.idle().pop();
        let db = idle.map_or_else(|| schema::open_reader(&self.path, &self.options), Ok)?;
        let transaction = db.unchecked_transaction()?;
        let answer = work(&transaction)?;
        transaction.finish()?;
        self.idle().push(db);
        Ok(answer)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
