//! Waits while a machine is short of something, and reports it.
//!
//! **Invariant:** only actions without an effect on failure are repeated. The attempt stays open meanwhile. It is
//! neither lost nor failed, and does not count as a retry.

use std::sync::Arc;

use longhaul_agents::machine::{Short, Shortage, ShortageBackoff};
use longhaul_agents::process::Chunk;
use longhaul_core::event::Event;
use tokio::sync::watch;

use crate::engine::{EngineEvent, Shared};
use crate::execute::kinds::Attempt;
use crate::fleet::membership::attempt_of;

/// Reports in all runs of this process what the store waits for. The store cannot record it.
pub(crate) async fn say_what_the_store_waits_for(shared: Arc<Shared>, waits: Option<watch::Receiver<Option<String>>>) {
    let Some(mut waits) = waits else { return };
    while waits.changed().await.is_ok() {
        let why = waits.borrow_and_update().clone();
        let text: Arc<str> = match why {
            Some(why) => format!("{why}; make room, it then continues by itself").into(),
            None => "there is room for the store again".into(),
        };
        for (run, key) in shared.leases.keys() {
            if let Some((path, _)) = attempt_of(&key) {
                // No watcher is fine.
                let _ = shared.pulse.send(EngineEvent::Notice(run, path, Arc::clone(&text)));
            }
        }
    }
}

impl Attempt {
    /// Repeats an action while the machine is short of something; `None` if the attempt was cancelled.
    pub(crate) async fn patiently<T, E: Short>(&self, mut work: impl FnMut() -> Result<T, E>) -> Option<Result<T, E>> {
        let mut backoff = ShortageBackoff::default();
        loop {
            let done = work();
            match done.as_ref().err().and_then(Short::shortage) {
                None => {
                    self.delayed(None);
                    return Some(done);
                }
                Some(shortage) if self.wait_for(shortage, &mut backoff).await => {}
                Some(_) => return None,
            }
        }
    }

    /// Reports the shortage and waits before the next try; false if the attempt was cancelled.
    pub(crate) async fn wait_for(&self, shortage: Shortage, backoff: &mut ShortageBackoff) -> bool {
        self.delayed(Some(shortage));
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => true,
            () = self.cancel.cancelled() => false,
        }
    }

    /// Starts the process that cleans up if this one is killed.
    pub(crate) async fn guarded(&self) {
        let mut backoff = ShortageBackoff::default();
        while let Err(error) = self.shared.guarded().await {
            let Some(shortage) = error.shortage() else { return };
            if !self.wait_for(shortage, &mut backoff).await {
                return;
            }
        }
        self.delayed(None);
    }

    /// Notes a shortage that a command reports.
    pub(crate) fn hear(&self, chunk: Chunk<'_>) {
        match chunk {
            Chunk::Short(shortage) => self.delayed(Some(shortage)),
            Chunk::Room => self.delayed(None),
            Chunk::Stdout(_) | Chunk::Stderr(_) => {}
        }
    }

    /// Reports once what the attempt waits for.
    pub(crate) fn delayed(&self, shortage: Option<Shortage>) {
        let Ok(mut known) = self.delay.lock() else { return };
        if *known != shortage {
            *known = shortage;
            let (path, attempt) = (self.start.path.clone(), self.start.attempt);
            let why = shortage.map(|shortage| shortage.to_string());
            self.news.tell(Event::AttemptDelayed { path, attempt, why });
        }
    }
}
