//! How many attempts run at once: over all runs, and of each backend.
//!
//! **Invariant:** a slot of a backend is taken before one of all, by everybody; so nobody who waits for a busy backend keeps
//! others from working, and no two wait for each other. Between the decision that an attempt is made here and its first breath its slot
//! is promised, or two runs would count on the same one, and what one of them cannot begin others would wait for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    promised: Arc<Mutex<usize>>,
    backends: HashMap<String, Arc<Semaphore>>,
}

/// Slots of all that attempts will need which are to be made here and have not asked yet.
#[derive(Debug, Default)]
pub(crate) struct Promise {
    count: usize,
    of: Arc<Mutex<usize>>,
}

impl Promise {
    /// How many slots are promised.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// What one attempt needs, as far as it was promised.
    pub(crate) fn one(&mut self) -> Self {
        let count = self.count.min(1);
        self.count -= count;
        Self { count, of: Arc::clone(&self.of) }
    }

    /// Both together; they are of the same slots.
    pub(crate) fn join(&mut self, mut other: Self) {
        if self.count == 0 {
            std::mem::swap(self, &mut other);
        } else {
            self.count += std::mem::take(&mut other.count);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let mut promised = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        *promised = promised.saturating_sub(self.count);
    }
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
        let promised = Arc::default();
        Self { all: Arc::new(Semaphore::new(all)), max: all, waiting: AtomicUsize::new(0), promised, backends }
    }

    /// Asks how many of the slots that could be had now, while so many attempts are `held`, are wanted, and promises those. Attempts that wait
    /// for a backend take no slot of all, but there is an end to how many of them one process keeps from others.
    pub(crate) fn promise(&self, held: usize, wanted: impl FnOnce(usize) -> usize) -> Promise {
        let mut promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.waiting.load(Ordering::SeqCst) + *promised;
        let free = self.all.available_permits().saturating_sub(asked);
        let count = wanted(free.min((self.max * HELD_TIMES).saturating_sub(held)));
        *promised += count;
        Promise { count, of: Arc::clone(&self.promised) }
    }

    /// Waits until an attempt may begin that is made by an agent with one of these names, the first that is limited; by
    /// no agent, without names. Dropping the future gives its place away.
    pub(crate) async fn take(&self, agent: &[&str], promise: Promise) -> Slot {
        let limited = agent.iter().find_map(|name| self.backends.get(*name)).cloned();
        let mut promise = Some(promise);
        // A semaphore that is never closed always answers.
        let backend = match limited {
            Some(slots) => {
                drop(promise.take());
                slots.acquire_owned().await.ok()
            }
            None => None,
        };
        let _waiting = Waiting::begin(&self.waiting);
        drop(promise);
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
        match pin!(slots.take(agent, Promise::default())).poll(&mut Context::from_waker(Waker::noop())) {
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

    /// How many could be had.
    fn room(slots: &Slots, held: usize) -> usize {
        slots.promise(held, |room| room).count
    }

    #[test]
    fn room_is_what_nobody_has_or_waits_for() {
        let slots = slots();
        assert_eq!(room(&slots, 0), 3);
        let taken = [now(&slots, &[]).unwrap(), now(&slots, &[]).unwrap()];
        assert_eq!((room(&slots, 2), room(&slots, 23), room(&slots, 24)), (1, 1, 0));
        let _third = now(&slots, &[]).unwrap();
        let mut waiting = Box::pin(slots.take(&[], Promise::default()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(room(&slots, 3), 0);
        drop((waiting, taken));
        assert_eq!(room(&slots, 1), 2);
    }

    #[test]
    fn what_is_promised_to_one_is_not_promised_to_another() {
        let slots = slots();
        let mut first = slots.promise(0, |room| room - 1);
        assert_eq!(room(&slots, 0), 1);
        let mut both = first.one();
        both.join(slots.promise(0, |room| room));
        assert_eq!(room(&slots, 0), 0);
        drop(first);
        assert_eq!(room(&slots, 0), 1);
        // Whoever has asked for its slot is counted as that, and not twice.
        let slot = match pin!(slots.take(&[], both.one())).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => slot,
            Poll::Pending => panic!("there was a slot"),
        };
        assert_eq!(room(&slots, 1), 1);
        drop((slot, both));
        assert_eq!(room(&slots, 0), 3);
    }

    #[test]
    fn who_waits_for_a_backend_gives_its_promise_back() {
        let slots = slots();
        let _first = now(&slots, &["claude"]).unwrap();
        let mut waiting = Box::pin(slots.take(&["claude"], slots.promise(1, |room| room)));
        assert_eq!(room(&slots, 1), 0);
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(room(&slots, 2), 2);
    }

    #[test]
    fn who_waits_for_a_backend_holds_no_slot_of_all() {
        let slots = slots();
        let _first = now(&slots, &["mine", "claude"]).unwrap();
        let mut waiting = pin!(slots.take(&["claude"], Promise::default()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let others = [now(&slots, &[]), now(&slots, &[])];
        assert!(others.iter().all(Option::is_some));
        assert!(now(&slots, &[]).is_none());
    }
}
