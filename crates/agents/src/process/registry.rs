//! Records which processes this engine started itself, to distinguish them from adopted orphans.
//!
//! The engine adopts the orphans of its commands. Most have a mark or the session of their command. An orphan without
//! both is recognised by exclusion: the engine did not start it, and no other running command could have.
//!
//! **Invariant:** every process that is being started has a slot that is older than the process.

use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::guard;
use super::table::{self, Process};

#[derive(Debug, Default)]
struct Registry {
    next: u64,
    /// The start time of every running command, by slot.
    slots: BTreeMap<u64, u64>,
    own: HashSet<u32>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

fn registry() -> MutexGuard<'static, Registry> {
    // A panic elsewhere leaves the sets consistent.
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Covers a command from before its start until all its processes have ended.
#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    pid: Option<u32>,
}

impl Slot {
    pub(crate) fn open() -> Self {
        let mut registry = registry();
        let id = registry.next;
        registry.next += 1;
        let now = table::now();
        registry.slots.insert(id, now);
        guard::tell_busy(now);
        Self { id, pid: None }
    }

    /// Records the process that the slot was opened for.
    pub(super) fn fill(&mut self, pid: u32) {
        registry().own.insert(pid);
        self.pid = Some(pid);
    }

    /// Whether a child of ours can only be a leftover of this command.
    pub(super) fn claims(&self, process: &Process) -> bool {
        let registry = registry();
        let could_be_of = |(_, start): &(&u64, &u64)| **start <= process.start;
        let mut suspects = registry.slots.iter().filter(could_be_of);
        let only_suspect = suspects.next().is_some_and(|(id, _)| *id == self.id) && suspects.next().is_none();
        only_suspect && !registry.own.contains(&process.pid)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut registry = registry();
        registry.slots.remove(&self.id);
        if let Some(pid) = self.pid {
            registry.own.remove(&pid);
        }
    }
}

/// Whether this engine process started a process itself.
pub(super) fn is_own(pid: u32) -> bool {
    registry().own.contains(&pid)
}

/// Marks a process of ours that belongs to no command, until this is dropped.
#[derive(Debug)]
pub(crate) struct Spared(u32);

impl Spared {
    pub(crate) fn new(pid: u32) -> Self {
        registry().own.insert(pid);
        Self(pid)
    }
}

impl Drop for Spared {
    fn drop(&mut self) {
        registry().own.remove(&self.0);
    }
}
