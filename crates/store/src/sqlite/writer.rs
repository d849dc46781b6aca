//! The only thread of a process that writes to the file.
//!
//! It takes all waiting requests, performs one after another, and commits them together: one flush to disk for all.
//! Other processes share the file; `BEGIN IMMEDIATE` admits one at a time.
//!
//! A refused request must leave nothing. Most are refused before they write. If one was not, the thread undoes
//! everything and performs all requests again, each inside a savepoint. Savepoints copy every page that changes, so
//! they are the exception.
//!
//! **Invariant:** no caller gets an answer before the commit. If the commit fails, all callers get the error. After a
//! failure of the machine the writer accepts nothing more, because the content of the disk is unknown. It
//! acknowledges nothing in a file that was deleted or replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::fault::of_the_machine;
use super::on_disk::OnDisk;
use crate::{Error, Pending};

/// The most requests in one commit, so that no caller waits too long for the others.
const BATCH_MAX: usize = 256;

/// The first and the longest pause before a write without space is tried again. A lease must not end meanwhile.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// How often the thread checks the file for writes of other processes, while there are watchers.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The part of the writer that callers use.
pub(super) struct Writer {
    queue: Option<Sender<Note>>,
    thread: Option<JoinHandle<()>>,
    changes: watch::Sender<u64>,
    /// The reason for which writes wait now.
    waits: watch::Sender<Option<String>>,
    /// Whether a write without space waits until there is some.
    is_patient: AtomicBool,
}

enum Note {
    Perform(Box<dyn Request>),
    /// There is a watcher from now on.
    Watched,
}

/// A call on its way: performed first, answered after the commit.
trait Request: Send {
    fn perform(&mut self, db: &Connection) -> Result<(), Error>;
    fn answer(self: Box<Self>, committed: Result<(), Error>);
}

struct Call<W, T> {
    work: W,
    outcome: Result<T, Error>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<W, T> Request for Call<W, T>
where
    W: Fn(&Connection) -> Result<T, Error> + Send,
    T: Send,
{
    fn perform(&mut self, db: &Connection) -> Result<(), Error> {
        self.outcome = (self.work)(db);
        self.outcome.as_ref().map(|_| ()).map_err(Error::clone)
    }

    /// If the commit fails, a refusal is void as well: it was decided from uncommitted data.
    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        // The caller may have gone; committed data stays.
        let _ = self.reply.send(committed.and(self.outcome));
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(db: Connection, files: OnDisk) -> Result<Self, Error> {
        let (queue, notes) = channel();
        let changes = watch::Sender::new(0);
        let seen = data_version(&db)?;
        let clerk = Clerk { db, files, notes, changes: changes.clone(), seen, failed: None };
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(move || clerk.serve());
        let thread = thread.map_err(|error| Error::Starved(format!("no thread can be started ({error})")))?;
        let (waits, is_patient) = (watch::Sender::new(None), AtomicBool::new(false));
        Ok(Self { queue: Some(queue), thread: Some(thread), changes, waits, is_patient })
    }

    /// Runs `work` in a transaction, and once more if that transaction had to be undone.
    pub(super) fn call<'a, T: Send + 'static>(
        &'a self,
        work: impl Fn(&Connection) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            let (work, mut pause) = (Arc::new(work), PAUSES.0);
            loop {
                let (reply, answer) = oneshot::channel();
                let same = Arc::clone(&work);
                let call = Call { work: move |db: &Connection| same(db), outcome: Err(Error::Closed), reply };
                self.send(Note::Perform(Box::new(call)))?;
                let done = answer.await.unwrap_or(Err(Error::Closed));
                if !self.waits_after(done.as_ref().err()) {
                    return done;
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        })
    }

    /// Whether a call found no space and must be made again. Nothing of it was stored.
    fn waits_after(&self, error: Option<&Error>) -> bool {
        let shortage = error.filter(|error| matches!(error, Error::Full | Error::Starved(_)));
        let told = shortage.filter(|_| self.is_patient.load(Ordering::Relaxed)).map(Error::to_string);
        let waits = told.is_some();
        self.waits.send_if_modified(|known| {
            let is_news = *known != told;
            *known = told;
            is_news
        });
        waits
    }

    /// See [`crate::Store::wait_for_room`].
    pub(super) fn wait_for_room(&self) -> watch::Receiver<Option<String>> {
        self.is_patient.store(true, Ordering::Relaxed);
        self.waits.subscribe()
    }

    /// See [`crate::Store::watch`].
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        let receiver = self.changes.subscribe();
        // A closed store sends no news.
        let _ = self.send(Note::Watched);
        receiver
    }

    fn send(&self, note: Note) -> Result<(), Error> {
        self.queue.as_ref().ok_or(Error::Closed)?.send(note).map_err(|_| Error::Closed)
    }
}

/// Finishes earlier requests; the file is closed when this returns.
impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // The callers of a panicked request have noticed already.
            let _ = thread.join();
        }
    }
}

/// The part of the writer on its thread.
struct Clerk {
    db: Connection,
    files: OnDisk,
    notes: Receiver<Note>,
    changes: watch::Sender<u64>,
    /// The data version at which `changes` last reported writes of other processes.
    seen: i64,
    failed: Option<Error>,
}

impl Clerk {
    fn serve(mut self) {
        while let Some(first) = self.next() {
            let mut requests = vec![first];
            let done = self.transact(&mut requests);
            if done == Ok(true) {
                self.tell();
            }
            let committed = done.map(|_| ());
            for request in requests {
                request.answer(committed.clone());
            }
        }
    }

    /// The next request. Checks the file meanwhile if there are watchers.
    fn next(&mut self) -> Option<Box<dyn Request>> {
        loop {
            let note = if self.changes.receiver_count() == 0 {
                self.notes.recv().ok()?
            } else {
                match self.notes.recv_timeout(LOOK_EVERY) {
                    Ok(note) => note,
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {
                        self.look();
                        continue;
                    }
                }
            };
            if let Note::Perform(request) = note {
                return Some(request);
            }
        }
    }

    fn look(&mut self) {
        if let Ok(version) = data_version(&self.db)
            && version != self.seen
        {
            self.seen = version;
            self.tell();
        }
    }

    fn tell(&self) {
        self.changes.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Performs and commits; returns whether anything was written.
    fn transact(&mut self, requests: &mut Vec<Box<dyn Request>>) -> Result<bool, Error> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let done = self.try_transact(requests);
        if done.is_err() && !self.db.is_autocommit() && self.db.execute_batch("ROLLBACK").is_err() {
            self.failed = Some(Error::Io("a transaction could not be rolled back".to_owned()));
        }
        if let Err(error @ Error::Io(_)) = &done {
            self.failed = Some(error.clone());
        }
        done
    }

    fn try_transact(&mut self, requests: &mut Vec<Box<dyn Request>>) -> Result<bool, Error> {
        self.begin()?;
        // Only now: more requests may have come while other processes had the lock.
        requests.extend(self.waiting(BATCH_MAX - requests.len()));
        let written = match self.perform_all(requests, Self::perform)? {
            Some(written) => written,
            None => {
                self.db.execute_batch("ROLLBACK")?;
                self.begin()?;
                self.perform_all(requests, Self::perform_apart)?.unwrap_or_default()
            }
        };
        self.files.verify()?;
        self.db.prepare_cached("COMMIT")?.execute([])?;
        // Once more: the file may have gone meanwhile, and acknowledged data must be in it.
        self.files.verify()?;
        Ok(written)
    }

    fn begin(&self) -> Result<(), Error> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    /// Whether anything was written; `None` if a refused request wrote something that must be undone.
    fn perform_all(&self, requests: &mut [Box<dyn Request>], perform: Perform) -> Result<Option<bool>, Error> {
        let mut written = false;
        for request in requests {
            match perform(self, request.as_mut())? {
                Some(wrote) => written |= wrote,
                None => return Ok(None),
            }
        }
        Ok(Some(written))
    }

    fn waiting(&self, most: usize) -> Vec<Box<dyn Request>> {
        let requests = self.notes.try_iter().filter_map(|note| match note {
            Note::Perform(request) => Some(request),
            Note::Watched => None,
        });
        requests.take(most).collect()
    }

    /// A failure of the machine fails the whole transaction.
    fn perform(&self, request: &mut dyn Request) -> Result<Option<bool>, Error> {
        let before = self.db.total_changes();
        let performed = request.perform(&self.db);
        let wrote = self.db.total_changes() != before;
        match performed {
            Ok(()) => Ok(Some(wrote)),
            Err(error) if of_the_machine(&error) || self.db.is_autocommit() => Err(error),
            Err(_) => Ok((!wrote).then_some(false)),
        }
    }

    /// Performs a request inside a savepoint, so that a refusal undoes only this request.
    fn perform_apart(&self, request: &mut dyn Request) -> Result<Option<bool>, Error> {
        self.db.prepare_cached("SAVEPOINT request")?.execute([])?;
        let performed = self.perform(request)?;
        if performed.is_none() {
            self.db.execute_batch("ROLLBACK TO request")?;
        }
        self.db.prepare_cached("RELEASE request")?.execute([])?;
        Ok(performed.or(Some(false)))
    }
}

/// Performs a request: whether it wrote, `None` if it was refused after it had written.
type Perform = fn(&Clerk, &mut dyn Request) -> Result<Option<bool>, Error>;

/// Changes when another connection has written to the file.
fn data_version(db: &Connection) -> Result<i64, Error> {
    Ok(db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}
