//! Hears what happens, here and in other processes, and hands it to the feeds of runs that somebody watches.
//!
//! What this process records is heard at once; the store says when any process wrote something, and then the journals of watched
//! runs are looked at. Nothing is heard while nobody watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use longhaul_core::id::RunId;
use longhaul_core::state::State;
use longhaul_runtime::{Engine, Error, Pulse};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::board::{Board, Viewer};
use super::feed::{Batch, Feed, Place};
use super::tails::Tails;
use super::{Pieces, SIGN_OF_LIFE, event};
use crate::http::problem::Problem;

/// Changes within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(25);
/// What happens within this time is sent together: fifty who watch cost less than one who is told each event alone.
const SENT_TOGETHER: Duration = Duration::from_millis(100);
/// How often transcripts are looked at that another process writes, while somebody watches.
const LISTEN: Duration = Duration::from_millis(250);
/// How long to wait for a store that does not answer.
const AGAIN: Duration = Duration::from_secs(1);
/// Events that are read at once.
const PAGE: usize = 500;
/// Streams at once.
const STREAMS_MAX: usize = 512;

/// Hands what happens to those who watch.
#[derive(Clone)]
pub(crate) struct Hub {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    stop: CancellationToken,
    feeds: Mutex<Feeds>,
    /// Somebody new watches.
    joined: Notify,
    board: Board,
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct Feeds {
    by_run: HashMap<RunId, Arc<Feed>>,
    is_heard: bool,
}

impl Hub {
    pub(crate) fn new(engine: Engine, stop: CancellationToken) -> Self {
        let board = Board::new(engine.clone(), stop.clone());
        let places = Arc::new(Semaphore::new(STREAMS_MAX));
        Self { inner: Arc::new(Inner { engine, stop, feeds: Mutex::default(), joined: Notify::new(), board, places }) }
    }

    /// Somebody watches a run, and has its events up to one.
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

    /// How many watch.
    pub(crate) fn streams(&self) -> usize {
        STREAMS_MAX - self.inner.places.available_permits()
    }

    /// Somebody watches the list.
    pub(crate) fn board(&self) -> Result<Viewer, Problem> {
        Ok(self.inner.board.view(self.inner.permit()?))
    }
}

impl Inner {
    fn permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| Problem::too_many(5))
    }

    /// The feed of a run, which begins now if there is none.
    fn join(self: &Arc<Self>, run: &RunId, state: &State) -> Arc<Feed> {
        let mut feeds = self.feeds();
        let feed = feeds.by_run.entry(run.clone()).or_insert_with(|| Arc::new(Feed::new(run.clone(), state)));
        let feed = Arc::clone(feed);
        if !std::mem::replace(&mut feeds.is_heard, true) {
            tokio::spawn(hear(Arc::clone(self)));
        }
        drop(feeds);
        self.joined.notify_one();
        feed
    }

    fn find(&self, run: &RunId) -> Option<Arc<Feed>> {
        self.feeds().by_run.get(run).cloned()
    }

    /// The runs that somebody watches; none, and nobody listens any more.
    fn watched(&self) -> Vec<Arc<Feed>> {
        let mut feeds = self.feeds();
        feeds.by_run.retain(|_, feed| Arc::strong_count(feed) > 1);
        feeds.is_heard = !feeds.by_run.is_empty();
        feeds.by_run.values().cloned().collect()
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what the journal has and a feed does not.
    async fn look(&self, feed: &Feed) -> Result<(), Error> {
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

/// Hears what happens for as long as somebody watches.
async fn hear(hub: Arc<Inner>) {
    let (mut pulse, mut changes) = (hub.engine.pulse(), hub.engine.changes());
    let mut tails = Tails::new(hub.engine.clone());
    // Since when something may have been written that no feed has.
    let mut owed: Option<Instant> = Some(Instant::now());
    let mut listen = Instant::now() + LISTEN;
    loop {
        tokio::select! {
            () = hub.stop.cancelled() => return,
            () = hub.joined.notified() => owed = Some(Instant::now()),
            news = pulse.recv() => match news {
                Ok(Pulse::Events(run, events)) => {
                    if let Some(feed) = hub.find(&run)
                        && !feed.take(&events)
                    {
                        owed = Some(Instant::now());
                    }
                }
                Ok(Pulse::Entry(run, said)) => {
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

/// Looks at all that are watched; when to look again, if the store did not answer.
async fn look_at(hub: &Inner, watched: &[Arc<Feed>]) -> Option<Instant> {
    let mut again = None;
    for feed in watched {
        if hub.look(feed).await.is_err() {
            again = Some(Instant::now() + AGAIN);
        }
    }
    again
}

/// Somebody who watches a run.
pub(crate) struct Watcher {
    engine: Engine,
    feed: Arc<Feed>,
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

    /// A page of the journal, for somebody who is behind. Who cannot be told now comes back.
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
