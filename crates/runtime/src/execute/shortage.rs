//! Waits for a machine that is short of something, and says so.
//!
//! **Invariant:** only what has no effect when it fails is tried again. The attempt stays open meanwhile: it is neither lost nor failed,
//! and counts for no `retry`.

use std::sync::Arc;

use longhaul_agents::machine::{Backoff, Short, Shortage};
use longhaul_agents::process::Chunk;
use longhaul_core::event::Event;
use tokio::sync::watch;

use crate::engine::{Pulse, Shared};
use crate::execute::kinds::Attempt;
use crate::fleet::membership::attempt_of;

/// Says in every run that is running here what the store waits for: it cannot be recorded.
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
                // Nobody watching is fine.
                let _ = shared.pulse.send(Pulse::Notice(run, path, Arc::clone(&text)));
            }
        }
    }
}

impl Attempt {
    /// Does something, again and again while the machine is short of something; `None` if nobody wants the attempt any more.
    pub(crate) async fn patiently<T, E: Short>(&self, mut work: impl FnMut() -> Result<T, E>) -> Option<Result<T, E>> {
        let mut backoff = Backoff::default();
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

    /// Waits before the next try, and says why; false if nobody wants the attempt any more.
    pub(crate) async fn wait_for(&self, shortage: Shortage, backoff: &mut Backoff) -> bool {
        self.delayed(Some(shortage));
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => true,
            () = self.cancel.cancelled() => false,
        }
    }

    /// Makes sure that somebody clears up if this process is killed.
    pub(crate) async fn guarded(&self) {
        let mut backoff = Backoff::default();
        while let Err(error) = self.shared.guarded().await {
            let Some(shortage) = error.shortage() else { return };
            if !self.wait_for(shortage, &mut backoff).await {
                return;
            }
        }
        self.delayed(None);
    }

    /// Takes note of what a command says about its machine.
    pub(crate) fn hear(&self, chunk: Chunk<'_>) {
        match chunk {
            Chunk::Short(shortage) => self.delayed(Some(shortage)),
            Chunk::Room => self.delayed(None),
            Chunk::Stdout(_) | Chunk::Stderr(_) => {}
        }
    }

    /// Tells what it waits for, once.
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
