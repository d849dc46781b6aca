//! Tracks the open streams and calls of each token and browser, and ends them with their token.
//!
//! **Invariant:** when a token or session ends, its streams and calls end a moment later, no matter which process ended
//! it. One token can never hold all streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use tokio_util::sync::CancellationToken;

use super::keys::{Holder, Keys};
use super::problem::Problem;
use super::serve::Inner;
use crate::ending::Ending;

/// The most streams of one token at once: a quarter of all.
pub(super) const STREAMS_MAX: usize = 128;
/// How often to check whether the tokens are still valid.
const LOOK: Duration = Duration::from_millis(500);

/// The open streams and calls of all callers.
#[derive(Clone)]
pub(super) struct Passes {
    keys: Keys,
    known: Arc<Mutex<HashMap<Holder, Entry>>>,
}

/// The open streams and calls of one caller.
#[derive(Default)]
struct Entry {
    ended: CancellationToken,
    passes: usize,
    streams: usize,
}

/// One open stream or call.
pub(super) struct Pass {
    of: Passes,
    holder: Holder,
    streams: usize,
    ended: CancellationToken,
}

impl Passes {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, known: Arc::default() }
    }

    /// Opens streams, unless the token has too many.
    pub(super) fn streams(&self, holder: &Holder, streams: usize) -> Result<Pass, Problem> {
        let mut known = self.known();
        let open: usize = known.iter().filter(|(one, _)| one.key == holder.key).map(|(_, entry)| entry.streams).sum();
        if open + streams > STREAMS_MAX {
            return Err(Problem::too_many_streams(STREAMS_MAX));
        }
        let entry = known.entry(holder.clone()).or_default();
        entry.streams += streams;
        Ok(self.pass(entry, holder, streams))
    }

    /// Opens a call.
    pub(super) fn call(&self, holder: &Holder) -> Pass {
        self.pass(self.known().entry(holder.clone()).or_default(), holder, 0)
    }

    fn pass(&self, entry: &mut Entry, holder: &Holder, streams: usize) -> Pass {
        entry.passes += 1;
        Pass { of: self.clone(), holder: holder.clone(), streams, ended: entry.ended.clone() }
    }

    /// Ends all streams and calls of a caller.
    pub(super) fn end(&self, holder: &Holder) {
        if let Some(entry) = self.known().get(holder) {
            entry.ended.cancel();
        }
    }

    /// Ends the streams and calls whose token or session is over.
    fn look(&self, now: i64) {
        let holders: Vec<Holder> = self.known().keys().cloned().collect();
        for holder in holders.iter().filter(|holder| !self.keys.holds(holder, now)) {
            self.end(holder);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Holder, Entry>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// Waits until the token or the session is over.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// A body that ends with the pass.
    pub(super) fn ends(self, body: Body) -> Body {
        Body::new(Ending::new(body, self.ended.clone(), self))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut known = self.of.known();
        let Some(entry) = known.get_mut(&self.holder) else { return };
        entry.passes -= 1;
        entry.streams -= self.streams;
        if entry.passes == 0 {
            known.remove(&self.holder);
        }
    }
}

/// Checks the tokens regularly, until the server stops.
pub(super) async fn watch(site: Arc<Inner>) {
    let stop = site.desk.stop().clone();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = site.desk.engine().now_ms();
        site.passes.look(now);
        let holds = |key: &str| site.keys.holds(&Holder { key: key.to_owned(), session: None }, now);
        for session in site.owners.orphans(holds) {
            site.end_session(&session).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Role;

    #[test]
    fn a_token_has_its_share_and_others_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let passes = Passes::new(keys);
        let holder = |key: &str| Holder { key: key.to_owned(), session: None };
        let mut open: Vec<Pass> = (0..STREAMS_MAX).map(|_| passes.streams(&holder("a"), 1).unwrap()).collect();
        assert!(passes.streams(&holder("a"), 1).is_err());
        let browser = Holder { session: Some("b".to_owned()), ..holder("a") };
        assert!(passes.streams(&browser, 1).is_err(), "a browser has the share of its token");
        assert!(passes.streams(&holder("b"), 1).is_ok());
        open.pop();
        assert!(passes.streams(&holder("a"), 2).is_err(), "a stream of several counts as several");
        assert!(passes.streams(&holder("a"), 1).is_ok());
        open.clear();
        assert!(passes.known().is_empty());
    }

    #[test]
    fn what_is_open_ends_with_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Viewer, 1, None).unwrap();
        let passes = Passes::new(keys.clone());
        let holder = Holder { key: minted.key.id.clone(), session: None };
        let pass = passes.call(&holder);
        passes.look(2);
        assert!(!pass.ended.is_cancelled());
        keys.revoke(&minted.key.id);
        passes.look(2);
        assert!(pass.ended.is_cancelled());
    }
}
