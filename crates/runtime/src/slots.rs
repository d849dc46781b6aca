//! How many attempts run at once: over all runs, and of each backend.
//!
//! **Invariant:** a slot of a backend is taken before one of all, by everybody; so nobody who waits for a busy backend keeps
//! others from working, and no two wait for each other.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_core::decide::Start;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The slots of an engine.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    backends: HashMap<String, Arc<Semaphore>>,
    /// The backend of prompts that name none.
    usual: String,
}

/// What an attempt holds while it is made.
#[derive(Debug)]
pub(crate) struct Slot {
    _backend: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(all: usize, backends: &IndexMap<String, usize>, usual: &str) -> Self {
        let slots = |(name, max): (&String, &usize)| (name.clone(), Arc::new(Semaphore::new((*max).max(1))));
        let backends = backends.iter().map(slots).collect();
        Self { all: Arc::new(Semaphore::new(all)), backends, usual: usual.to_owned() }
    }

    /// Waits until an attempt may begin. Dropping the future gives its place away.
    pub(crate) async fn take(&self, start: &Start) -> Slot {
        let limited = self.backend(start).and_then(|backend| self.backends.get(backend)).cloned();
        // A semaphore that is never closed always answers.
        let backend = match limited {
            Some(slots) => slots.acquire_owned().await.ok(),
            None => None,
        };
        Slot { _backend: backend, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }

    /// Who makes a prompt; nobody makes anything else.
    fn backend<'a>(&'a self, start: &'a Start) -> Option<&'a str> {
        let named = || start.params.get("agent")?.get("backend")?.as_str();
        (start.kind == "prompt").then(|| named().unwrap_or(&self.usual))
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use longhaul_core::plan::{StepIx, Timeout};
    use serde_json::json;

    use super::*;

    fn start(kind: &str, backend: Option<&str>) -> Start {
        let agent = backend.map(|backend| ("agent".to_owned(), json!({"backend": backend})));
        Start {
            path: "a".parse().unwrap(),
            attempt: 1,
            step: StepIx(0),
            kind: kind.to_owned(),
            params: agent.into_iter().collect(),
            env: Default::default(),
            cwd: None,
            timeout: Timeout::Kind,
            cache_inputs: None,
            turn: longhaul_core::decide::Turn::default(),
        }
    }

    /// A slot, if there is one now.
    fn now(slots: &Slots, start: &Start) -> Option<Slot> {
        match pin!(slots.take(start)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    fn slots() -> Slots {
        Slots::new(3, &IndexMap::from([("claude".to_owned(), 1)]), "claude")
    }

    #[test]
    fn a_backend_has_no_more_than_its_own_slots() {
        let slots = slots();
        let first = now(&slots, &start("prompt", Some("claude"))).unwrap();
        assert!(now(&slots, &start("prompt", None)).is_none());
        assert!(now(&slots, &start("prompt", Some("codex"))).is_some());
        assert!(now(&slots, &start("run", None)).is_some());
        drop(first);
        assert!(now(&slots, &start("prompt", None)).is_some());
    }

    #[test]
    fn who_waits_for_a_backend_holds_no_slot_of_all() {
        let slots = slots();
        let _first = now(&slots, &start("prompt", None)).unwrap();
        let prompt = start("prompt", None);
        let mut waiting = pin!(slots.take(&prompt));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let others = [now(&slots, &start("run", None)), now(&slots, &start("run", None))];
        assert!(others.iter().all(Option::is_some));
        assert!(now(&slots, &start("run", None)).is_none());
    }
}
