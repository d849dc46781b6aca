//! How long a shim goes on when nobody is attached.
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
        // Where locks can not be waited for nobody can be missed.
        Err(_) => std::future::pending().await,
    }
}

/// Waits for an engine, and says whether one came in time. One that came and went starts the time anew.
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
