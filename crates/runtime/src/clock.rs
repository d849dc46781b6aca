//! The clock, as a trait so that tests can replace it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longhaul_store::Store;
use tokio_util::task::AbortOnDropHandle;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;

    /// The time zone. Messages of agents name hours without a zone.
    fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::UTC
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Clock for System {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::system()
    }
}

/// A time in the zone of this machine, for lists: `Nov 16 22:10`.
pub fn local_time(ms: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    moment.to_zoned(System.zone()).strftime("%b %d %H:%M").to_string()
}

/// The clock for all engines that share a store: the store's own clock, or this machine's clock if machines never share
/// the store.
pub async fn clock_of(store: &Arc<dyn Store>) -> Result<Arc<dyn Clock>, longhaul_store::Error> {
    Ok(match measure(store.as_ref()).await? {
        Some((mark, _)) => Arc::new(Following::start(store, mark)),
        None => Arc::new(System),
    })
}

/// How often to ask the store. Between two answers the clocks drift apart by a few milliseconds at most.
const ASK_EVERY: Duration = Duration::from_secs(15);
/// An answer that took longer is too imprecise, so the clock ignores it.
const TOO_LONG: Duration = Duration::from_secs(1);

/// Follows the clock of a store, so a lease means the same on all machines. It counts only the time since the last
/// answer, so a jump of this machine's clock changes nothing.
struct Following {
    mark: Arc<Mutex<Mark>>,
    _asking: AbortOnDropHandle<()>,
}

/// The store's time, and the local moment of the answer.
#[derive(Debug, Clone, Copy)]
struct Mark {
    store_ms: i64,
    at: Instant,
}

impl Following {
    fn start(store: &Arc<dyn Store>, mark: Mark) -> Self {
        let mark = Arc::new(Mutex::new(mark));
        let asking = tokio::spawn(ask(Arc::downgrade(store), Arc::clone(&mark)));
        Self { mark, _asking: AbortOnDropHandle::new(asking) }
    }
}

async fn ask(store: Weak<dyn Store>, mark: Arc<Mutex<Mark>>) {
    loop {
        tokio::time::sleep(ASK_EVERY).await;
        let Some(store) = store.upgrade() else { return };
        // If the store does not answer, ask again later. Until then the last answer counts.
        if let Ok(Some((answer, took))) = measure(store.as_ref()).await
            && took < TOO_LONG
            && let Ok(mut mark) = mark.lock()
        {
            *mark = answer;
        }
    }
}

/// Reads the store's time, which counts for the middle between question and answer; also returns how long the answer
/// took.
async fn measure(store: &dyn Store) -> Result<Option<(Mark, Duration)>, longhaul_store::Error> {
    let asked = Instant::now();
    let Some(store_ms) = store.now_ms().await? else { return Ok(None) };
    let took = asked.elapsed();
    Ok(Some((Mark { store_ms, at: asked + took / 2 }, took)))
}

impl Clock for Following {
    fn now_ms(&self) -> i64 {
        let mark = *self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        mark.store_ms.saturating_add(i64::try_from(mark.at.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::system()
    }
}
