//! How long a shim continues when nobody is attached.
//!
//! While an engine is, a thread waits for its lock and costs nothing. While none is, the shim looks every second.
//! Time in which the machine sleeps does not count.

use std::path::Path;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::locks;

const LOOK: Duration = Duration::from_secs(1);

/// Comes back when nobody has been attached for so long; never, without a bound.
pub(super) async fn for_too_long(engine_lock: &Path, bound: Option<Duration>) {
    let Some(bound) = bound else { return std::future::pending().await };
    loop {
        let last = left(engine_lock).await;
        if !somebody_comes(engine_lock, last, bound).await {
            return;
        }
    }
}

/// Waits until no engine is attached, and says which was.
async fn left(engine_lock: &Path) -> String {
    let (say, heard) = oneshot::channel();
    let path = engine_lock.to_owned();
    let wait = move || drop(locks::until_free(&path).map(|last| say.send(last)));
    drop(std::thread::Builder::new().name("longhaul-alone".to_owned()).stack_size(64 << 10).spawn(wait));
    match heard.await {
        Ok(last) => last,
        // Where locks cannot be waited for nobody can be missed.
        Err(_) => std::future::pending().await,
    }
}

/// Waits for an engine, and says whether one came in time. One that came and went starts the time again.
async fn somebody_comes(engine_lock: &Path, mut last: String, bound: Duration) -> bool {
    let mut give_up = Instant::now() + bound;
    while Instant::now() < give_up {
        tokio::time::sleep_until(give_up.min(Instant::now() + LOOK)).await;
        match locks::free_since(engine_lock) {
            Ok(Some(now)) if now == last => {}
            Ok(Some(now)) => (last, give_up) = (now, Instant::now() + bound),
            Ok(None) => return true,
            // The folder was taken away, and with it everybody who could come.
            Err(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const BOUND: Duration = Duration::from_secs(30 * 60);

    fn lock(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("engine.lock");
        fs::write(&path, "first").unwrap();
        path
    }

    fn hold(path: &Path) -> File {
        let file = File::options().write(true).open(path).unwrap();
        file.lock().unwrap();
        file
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_comes_and_that_is_known_when_the_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let began = Instant::now();
        assert!(!somebody_comes(&lock(&folder), "first".to_owned(), BOUND).await);
        assert_eq!(began.elapsed(), BOUND);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_comes_and_stays_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = lock(&folder);
        let coming = async {
            tokio::time::sleep(29 * MINUTE).await;
            let held = hold(&path);
            tokio::time::sleep(29 * MINUTE).await;
            drop(held);
        };
        let (came, ()) = tokio::join!(somebody_comes(&path, "first".to_owned(), BOUND), coming);
        assert!(came);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_comes_and_goes_between_two_looks_starts_the_time_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, began) = (lock(&folder), Instant::now());
        let passing = async {
            tokio::time::sleep(29 * MINUTE).await;
            fs::write(&path, "second").unwrap();
        };
        let (came, ()) = tokio::join!(somebody_comes(&path, "first".to_owned(), BOUND), passing);
        assert!(!came);
        assert!(began.elapsed() >= 59 * MINUTE);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_begins_when_the_engine_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let (path, began) = (lock(&folder), Instant::now());
        let held = hold(&path);
        let leaving = async {
            tokio::time::sleep(100 * MINUTE).await;
            drop(held);
        };
        tokio::join!(for_too_long(&path, Some(BOUND)), leaving);
        assert!(began.elapsed() >= 130 * MINUTE);
    }
}
