//! How many attempts run at once: over all runs, and of each backend.
//!
//! **Invariant:** a slot of a backend is taken before one of all, by everybody; so nobody who waits for a busy backend keeps
//! others from working, and no two wait for each other.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The slots of an engine.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    backends: HashMap<String, Arc<Semaphore>>,
}

/// What an attempt holds while it is made.
#[derive(Debug)]
pub(crate) struct Slot {
    _backend: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(all: usize, backends: &IndexMap<String, usize>) -> Self {
        let slots = |(name, max): (&String, &usize)| (name.clone(), Arc::new(Semaphore::new((*max).max(1))));
        let backends = backends.iter().map(slots).collect();
        Self { all: Arc::new(Semaphore::new(all)), backends }
    }

    /// Waits until an attempt may begin that is made by an agent with one of these names, the first that is limited; by
    /// no agent, without names. Dropping the future gives its place away.
    pub(crate) async fn take(&self, agent: &[&str]) -> Slot {
        let limited = agent.iter().find_map(|name| self.backends.get(*name)).cloned();
        // A semaphore that is never closed always answers.
        let backend = match limited {
            Some(slots) => slots.acquire_owned().await.ok(),
            None => None,
        };
        Slot { _backend: backend, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// A slot, if there is one now.
    fn now(slots: &Slots, agent: &[&str]) -> Option<Slot> {
        match pin!(slots.take(agent)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    fn slots() -> Slots {
        Slots::new(3, &IndexMap::from([("claude".to_owned(), 1)]))
    }

    #[test]
    fn a_backend_has_no_more_than_its_own_slots() {
        let slots = slots();
        let first = now(&slots, &["claude"]).unwrap();
        assert!(now(&slots, &["mine", "claude"]).is_none());
        assert!(now(&slots, &["codex"]).is_some());
        assert!(now(&slots, &[]).is_some());
        drop(first);
        assert!(now(&slots, &["mine", "claude"]).is_some());
    }

    #[test]
    fn who_waits_for_a_backend_holds_no_slot_of_all() {
        let slots = slots();
        let _first = now(&slots, &["mine", "claude"]).unwrap();
        let mut waiting = pin!(slots.take(&["claude"]));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let others = [now(&slots, &[]), now(&slots, &[])];
        assert!(others.iter().all(Option::is_some));
        assert!(now(&slots, &[]).is_none());
    }
}
