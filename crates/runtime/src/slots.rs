//! How many attempts run at once: over all runs, and of each backend.
//!
//! **Invariant:** a slot of a backend is taken before one of all, by everybody; so nobody who waits for a busy backend keeps
//! others from working, and no two wait for each other.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Attempts that are held at once, for each slot.
const HELD_TIMES: usize = 8;

/// The slots of an engine.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    /// How many there are.
    max: usize,
    /// Attempts that wait for one of all.
    waiting: AtomicUsize,
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
        Self { all: Arc::new(Semaphore::new(all)), max: all, waiting: AtomicUsize::new(0), backends }
    }

    /// How many more attempts could begin now, while so many are `held`. Those that wait for a backend take no slot of all, but there
    /// is an end to how many of them one process keeps from others.
    pub(crate) fn room(&self, held: usize) -> usize {
        let free = self.all.available_permits().saturating_sub(self.waiting.load(Ordering::SeqCst));
        free.min((self.max * HELD_TIMES).saturating_sub(held))
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
        let _waiting = Waiting::begin(&self.waiting);
        Slot { _backend: backend, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }
}

/// Counts somebody who waits, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
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
    fn room_is_what_nobody_has_or_waits_for() {
        let slots = slots();
        assert_eq!(slots.room(0), 3);
        let taken = [now(&slots, &[]).unwrap(), now(&slots, &[]).unwrap()];
        assert_eq!((slots.room(2), slots.room(23), slots.room(24)), (1, 1, 0));
        let _third = now(&slots, &[]).unwrap();
        let mut waiting = Box::pin(slots.take(&[]));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(slots.room(3), 0);
        drop((waiting, taken));
        assert_eq!(slots.room(1), 2);
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
