//! Finds the processes of a command.
//!
//! There are six ways to recognise them, because a process can change most of them: the command itself; its session;
//! the mark in the environment; descent from one of these; the group that the guard has put them into, if there are
//! groups; and for an orphan without all of these, that no other command can have started it.
//!
//! **Invariant:** a tree never contains the engine itself, nor a process that the engine started for something else.

use std::collections::{HashMap, HashSet};

use super::Mark;
use super::group;
use super::registry::{self, Slot};
use super::table::{self, Process};

/// A command and all its processes.
#[derive(Debug)]
pub(super) struct Tree {
    leader: Process,
    mark: Mark,
    slot: Slot,
    /// A process that was once part of the tree stays part of it, even when it gets another parent.
    known: HashSet<(u32, u64)>,
    engine: u32,
    engine_session: u32,
}

impl Tree {
    pub(super) fn new(leader: Process, mark: Mark, slot: Slot) -> Self {
        let engine = std::process::id();
        let engine_session = table::read(engine).map_or(0, |process| process.session);
        Self { leader, mark, slot, known: HashSet::new(), engine, engine_session }
    }

    /// Whether the ended command left processes. The engine's own children are enough to check, because the engine
    /// adopts the orphans of its commands.
    pub(super) fn has_leftovers(&self) -> bool {
        let mut left = !group::members_of(&self.leader).is_empty();
        for process in table::own_children().iter().filter(|process| self.is_root(process)) {
            if process.is_zombie {
                self.reap(process);
            } else {
                left = true;
            }
        }
        left
    }

    /// All running processes of the tree. It reaps those that have ended.
    pub(super) fn find(&mut self) -> Vec<Process> {
        let all = table::all();
        let grouped = group::members_of(&self.leader);
        let is_grouped = |process: &Process| grouped.contains(&process.pid);
        let found = with_descendants(&all, |process| self.is_root(process) || is_grouped(process));
        self.known.extend(found.iter().map(|process| (process.pid, process.start)));
        let (dead, live): (Vec<_>, Vec<_>) = found.into_iter().partition(|process| process.is_zombie);
        dead.iter().for_each(|process| self.reap(process));
        live
    }

    fn is_root(&self, process: &Process) -> bool {
        if process.pid == self.leader.pid || process.session == self.leader.pid {
            return true;
        }
        if process.pid == self.engine || registry::is_own(process.pid) {
            return false;
        }
        self.known.contains(&(process.pid, process.start)) || self.is_marked_or_unclaimed(process)
    }

    fn is_marked_or_unclaimed(&self, process: &Process) -> bool {
        let marks = table::marks(process.pid);
        if marks.engine.as_deref() == Some(&self.mark.engine) {
            return marks.attempt.as_deref() == Some(&self.mark.attempt);
        }
        let is_adopted = process.parent == self.engine && process.session != self.engine_session;
        is_adopted && self.slot.claims(process)
    }

    /// Reaps a process, but not the leader: while the leader is in the table, no other process gets its id.
    fn reap(&self, process: &Process) {
        if process.pid != self.leader.pid && process.parent == self.engine {
            table::reap(process);
        }
    }
}

/// The root processes and all their descendants; never this process, nor processes that descend only through it.
pub(crate) fn with_descendants(all: &[Process], is_root: impl Fn(&Process) -> bool) -> Vec<Process> {
    let own = std::process::id();
    let mut children: HashMap<u32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut seen = HashSet::from([own]);
    let mut found: Vec<Process> =
        all.iter().filter(|process| process.pid != own && is_root(process)).copied().collect();
    seen.extend(found.iter().map(|process| process.pid));
    let mut at = 0;
    while let Some(process) = found.get(at) {
        let more = children.remove(&process.pid).unwrap_or_default();
        found.extend(more.into_iter().filter(|child| seen.insert(child.pid)));
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process { pid, parent, session: 1, start: 5, is_zombie: false }
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_in_any_order() {
        let all = [process(9, 8), process(8, 7), process(7, 2), process(6, 2), process(10, 8)];
        let mut found: Vec<u32> = with_descendants(&all, |one| one.pid == 7).iter().map(|one| one.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [7, 8, 9, 10]);
    }

    #[test]
    fn this_process_and_what_hangs_on_it_is_no_descendant() {
        let own = std::process::id();
        let all = [process(own, own + 1), process(own + 1, 1), process(own + 2, own)];
        let found = with_descendants(&all, |one| one.pid == own + 1 || one.pid == own);
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), [own + 1]);
    }
}
