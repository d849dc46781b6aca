//! Limits how many attempts run at once: over all runs, and for each backend.
//!
//! **Invariant:** an attempt takes the permit of its backend before the permit of the engine. So an attempt that waits
//! for a busy backend blocks no other, and there is no deadlock. When the engine decides to run an attempt here, it
//! promises the attempt a permit. Otherwise two runs would count on the same permit, and an attempt that cannot start
//! here would be kept from other workers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many attempts to hold at once, for each permit.
const HELD_TIMES: usize = 8;

/// The permits of an engine.
#[derive(Debug)]
pub(crate) struct Permits {
    all: Arc<Semaphore>,
    /// How many permits there are.
    max: usize,
    /// Attempts that wait for a permit of the engine.
    waiting: AtomicUsize,
    promised: Arc<Mutex<usize>>,
    backends: HashMap<String, Arc<Semaphore>>,
}

/// Promised permits: for attempts that will run here and have not asked for a permit yet.
#[derive(Debug, Default)]
pub(crate) struct Promise {
    count: usize,
    of: Arc<Mutex<usize>>,
}

impl Promise {
    /// How many permits are promised.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The permit of one attempt, if it was promised.
    pub(crate) fn one(&mut self) -> Self {
        let count = self.count.min(1);
        self.count -= count;
        Self { count, of: Arc::clone(&self.of) }
    }

    /// Adds another promise of the same permits.
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

/// The permits that an attempt holds while it runs.
#[derive(Debug)]
pub(crate) struct Slot {
    _backend: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Permits {
    pub(crate) fn new(all: usize, backends: &IndexMap<String, usize>) -> Self {
        let slots = |(name, max): (&String, &usize)| (name.clone(), Arc::new(Semaphore::new((*max).max(1))));
        let backends = backends.iter().map(slots).collect();
        let promised = Arc::default();
        Self { all: Arc::new(Semaphore::new(all)), max: all, waiting: AtomicUsize::new(0), promised, backends }
    }

    /// Passes the number of permits that are free now to `wanted`, and promises as many as it returns. `held` is how
    /// many attempts this process holds. An attempt that waits for a backend takes no permit of the engine, but one
    /// process may hold only a limited number of such attempts.
    pub(crate) fn promise(&self, held: usize, wanted: impl FnOnce(usize) -> usize) -> Promise {
        let mut promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.waiting.load(Ordering::SeqCst) + *promised;
        let free = self.all.available_permits().saturating_sub(asked);
        let count = wanted(free.min((self.max * HELD_TIMES).saturating_sub(held)));
        *promised += count;
        Promise { count, of: Arc::clone(&self.promised) }
    }

    /// Waits until an attempt may start. `agent` has the names of its agent; the first name with a limit counts.
    /// Without names only the engine's limit counts. Dropping the future gives its place to the next attempt.
    pub(crate) async fn take(&self, agent: &[&str], promise: Promise) -> Slot {
        let limited = agent.iter().find_map(|name| self.backends.get(*name)).cloned();
        let mut promise = Some(promise);
        // The semaphore is never closed, so this always succeeds.
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

/// Counts a waiting attempt until it is dropped.
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

    /// A permit, if one is free now.
    fn now(slots: &Permits, agent: &[&str]) -> Option<Slot> {
        match pin!(slots.take(agent, Promise::default())).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    fn slots() -> Permits {
        Permits::new(3, &IndexMap::from([("claude".to_owned(), 1)]))
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

    /// How many permits are free.
    fn room(slots: &Permits, held: usize) -> usize {
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
        // An attempt that has asked for its permit counts once, not twice.
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
