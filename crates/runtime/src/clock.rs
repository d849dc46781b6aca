//! The clock, behind an interface so that tests can own it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longhaul_store::Store;
use tokio_util::task::AbortOnDropHandle;

/// What time it is.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;

    /// Where it is that time: notices speak of hours without saying whose.
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

/// The clock that all who share a store go by: that of the store, or of this machine if the store is never shared by machines.
pub async fn clock_of(store: &Arc<dyn Store>) -> Result<Arc<dyn Clock>, longhaul_store::Error> {
    Ok(match measure(store.as_ref()).await? {
        Some((mark, _)) => Arc::new(Following::start(store, mark)),
        None => Arc::new(System),
    })
}

/// How often the store is asked. Between two answers clocks drift apart by a few milliseconds at the most.
const ASK_EVERY: Duration = Duration::from_secs(15);
/// What took longer says too little about when it was answered.
const TOO_LONG: Duration = Duration::from_secs(1);

/// Goes by the clock of a store: a lease then means the same to everybody, whatever the machines think what time it is, and
/// a jump of this machine's clock moves nothing, because only the time since the last answer is counted here.
struct Following {
    mark: Arc<Mutex<Mark>>,
    _asking: AbortOnDropHandle<()>,
}

/// What time it was, and when.
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
        // One that does not answer now is asked again; until then the last answer holds.
        if let Ok(Some((answer, took))) = measure(store.as_ref()).await
            && took < TOO_LONG
            && let Ok(mut mark) = mark.lock()
        {
            *mark = answer;
        }
    }
}

/// The time of the store, taken for that of the middle between question and answer; and how long that took.
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
