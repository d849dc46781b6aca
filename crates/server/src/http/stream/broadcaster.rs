//! Collects events of this and other processes, and passes them to the buffers of watched runs.
//!
//! Events of this process arrive at once. For other processes, the store signals each write, and the broadcaster then
//! reads the journals of watched runs. While there are no watchers, it does nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use longhaul_core::id::RunId;
use longhaul_core::state::State;
use longhaul_runtime::{Engine, EngineEvent, Error};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ring_buffer::{Batch, Place, RingBuffer};
use super::run_list::{RunList, Viewer};
use super::transcript_tail::TranscriptTails;
use super::{Pieces, SIGN_OF_LIFE, event};
use crate::http::problem::Problem;

/// Collects changes within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(25);
/// Sends events within this time together: fifty watchers then cost less than one that gets each event alone.
const SENT_TOGETHER: Duration = Duration::from_millis(100);
/// How often to read transcripts of other processes, while there are watchers.
const LISTEN: Duration = Duration::from_millis(250);
/// How long to wait for a store that does not answer.
const AGAIN: Duration = Duration::from_secs(1);
/// How many events to read at once.
const PAGE: usize = 500;
/// The most streams at once.
const STREAMS_MAX: usize = 512;

/// Passes events to watchers.
#[derive(Clone)]
pub(crate) struct Broadcaster {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    stop: CancellationToken,
    feeds: Mutex<Feeds>,
    /// Signals a new watcher.
    joined: Notify,
    board: RunList,
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct Feeds {
    by_run: HashMap<RunId, Arc<RingBuffer>>,
    is_heard: bool,
}

impl Broadcaster {
    pub(crate) fn new(engine: Engine, stop: CancellationToken) -> Self {
        let board = RunList::new(engine.clone(), stop.clone());
        let places = Arc::new(Semaphore::new(STREAMS_MAX));
        Self { inner: Arc::new(Inner { engine, stop, feeds: Mutex::default(), joined: Notify::new(), board, places }) }
    }

    /// Adds a watcher to a run. It already has the events up to `after`.
    pub(crate) async fn watch(&self, run: &RunId, after: u64) -> Result<Watcher, Problem> {
        let permit = self.inner.permit()?;
        let feed = match self.inner.find(run) {
            Some(feed) => feed,
            None => self.inner.join(run, &self.inner.engine.load(run).await?.state),
        };
        let (news, place) = (feed.news(), feed.place(after));
        let engine = self.inner.engine.clone();
        let stop = self.inner.stop.clone();
        Ok(Watcher { engine, feed, place, news, stop, sent: None, is_over: false, _permit: permit })
    }

    /// The run with this id, or the only one whose id starts with it.
    pub(crate) async fn find(&self, id: &str) -> Result<RunId, Problem> {
        Ok(self.inner.engine.find(id).await?)
    }

    /// How many watchers there are.
    pub(crate) fn streams(&self) -> usize {
        STREAMS_MAX - self.inner.places.available_permits()
    }

    /// Adds a watcher to the list.
    pub(crate) fn board(&self) -> Result<Viewer, Problem> {
        Ok(self.inner.board.view(self.inner.permit()?))
    }
}

impl Inner {
    fn permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| Problem::too_many(5))
    }

    /// The buffer of a run. Creates it if there is none.
    fn join(self: &Arc<Self>, run: &RunId, state: &State) -> Arc<RingBuffer> {
        let mut feeds = self.feeds();
        let feed = feeds.by_run.entry(run.clone()).or_insert_with(|| Arc::new(RingBuffer::new(run.clone(), state)));
        let feed = Arc::clone(feed);
        if !std::mem::replace(&mut feeds.is_heard, true) {
            tokio::spawn(hear(Arc::clone(self)));
        }
        drop(feeds);
        self.joined.notify_one();
        feed
    }

    fn find(&self, run: &RunId) -> Option<Arc<RingBuffer>> {
        self.feeds().by_run.get(run).cloned()
    }

    /// The watched runs. If there are none, the listener stops.
    fn watched(&self) -> Vec<Arc<RingBuffer>> {
        let mut feeds = self.feeds();
        feeds.by_run.retain(|_, feed| Arc::strong_count(feed) > 1);
        feeds.is_heard = !feeds.by_run.is_empty();
        feeds.by_run.values().cloned().collect()
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the events of the journal that a buffer does not have.
    async fn look(&self, feed: &RingBuffer) -> Result<(), Error> {
        loop {
            match self.engine.events(&feed.run, feed.seq(), PAGE).await {
                Ok(page) if page.is_empty() => return Ok(()),
                Ok(page) => drop(feed.take(&page)),
                Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => {
                    feed.end();
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Collects events while there are watchers.
async fn hear(hub: Arc<Inner>) {
    let (mut pulse, mut changes) = (hub.engine.pulse(), hub.engine.changes());
    let mut tails = TranscriptTails::new(hub.engine.clone());
    // Since when the store may have events that the buffers do not have.
    let mut owed: Option<Instant> = Some(Instant::now());
    let mut listen = Instant::now() + LISTEN;
    loop {
        tokio::select! {
            () = hub.stop.cancelled() => return,
            () = hub.joined.notified() => owed = Some(Instant::now()),
            news = pulse.recv() => match news {
                Ok(EngineEvent::Events(run, events)) => {
                    if let Some(feed) = hub.find(&run)
                        && !feed.take(&events)
                    {
                        owed = Some(Instant::now());
                    }
                }
                Ok(EngineEvent::Entry(run, said)) => {
                    if let Some(feed) = hub.find(&run) {
                        feed.say(&said);
                    }
                }
                Err(RecvError::Lagged(_)) => owed = Some(Instant::now()),
                Ok(_) => {}
                Err(RecvError::Closed) => return,
            },
            known = changes.changed(), if owed.is_none() => match known {
                Ok(()) => owed = Some(Instant::now() + TOGETHER),
                Err(_) => return,
            },
            () = tokio::time::sleep_until(owed.unwrap_or(listen)), if owed.is_some() => {
                changes.borrow_and_update();
                let watched = hub.watched();
                if watched.is_empty() {
                    return;
                }
                owed = look_at(&hub, &watched).await;
            }
            () = tokio::time::sleep_until(listen) => {
                listen = Instant::now() + LISTEN;
                let watched = hub.watched();
                if watched.is_empty() {
                    return;
                }
                tails.listen(&watched);
            }
        }
    }
}

/// Reads the journals of all watched runs. Returns when to try again if the store did not answer.
async fn look_at(hub: &Inner, watched: &[Arc<RingBuffer>]) -> Option<Instant> {
    let mut again = None;
    for feed in watched {
        if hub.look(feed).await.is_err() {
            again = Some(Instant::now() + AGAIN);
        }
    }
    again
}

/// A watcher of a run.
pub(crate) struct Watcher {
    engine: Engine,
    feed: Arc<RingBuffer>,
    place: Place,
    news: tokio::sync::watch::Receiver<u64>,
    stop: CancellationToken,
    sent: Option<Instant>,
    is_over: bool,
    _permit: OwnedSemaphorePermit,
}

impl Pieces for Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(sent) = self.sent {
            tokio::time::sleep_until(sent + SENT_TOGETHER).await;
        }
        self.sent = None;
        self.piece().await
    }
}

impl Watcher {
    /// Whether the run is gone and the watcher has said so.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    async fn piece(&mut self) -> Option<Bytes> {
        loop {
            if self.is_over || self.stop.is_cancelled() {
                return None;
            }
            self.news.borrow_and_update();
            match self.feed.batch(&mut self.place) {
                Batch::Some(bytes) => {
                    self.sent = Some(Instant::now());
                    return Some(bytes);
                }
                Batch::Behind => return self.caught_up().await,
                Batch::Gone => return self.gone(),
                Batch::Nothing => {}
            }
            tokio::select! {
                () = self.stop.cancelled() => return None,
                known = self.news.changed() => known.ok()?,
                () = tokio::time::sleep(SIGN_OF_LIFE) => return Some(Bytes::from_static(b": \n\n")),
            }
        }
    }

    /// A page of the journal, for a watcher that is behind. If the store fails, the stream ends and the client connects
    /// again.
    async fn caught_up(&mut self) -> Option<Bytes> {
        match self.engine.events(&self.feed.run, self.place.seq, PAGE).await {
            Ok(page) => {
                self.place.seq = page.last()?.seq;
                let pieces: Vec<Bytes> =
                    page.iter().map(|envelope| event("journal", Some(envelope.seq), envelope)).collect();
                Some(pieces.concat().into())
            }
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => self.gone(),
            Err(_) => None,
        }
    }

    fn gone(&mut self) -> Option<Bytes> {
        self.is_over = true;
        Some(event("gone", None, &serde_json::json!({})))
    }
}
