//! Cleans up after engines that died together with their guard.
//!
//! **Invariant:** the sweep never touches processes of a living engine, nor the parents of this process.

use std::collections::{HashMap, HashSet};

use super::table::{self, Process};
use super::{ending, tree};

/// A process that a dead engine left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its process id, before it was killed.
    pub pid: u32,
    /// The engine that it belonged to.
    pub engine: String,
    /// The attempt that it belonged to, if its mark says so.
    pub attempt: Option<String>,
}

/// Kills the processes of dead engines, with all descendants; returns those that had a mark.
pub fn sweep(is_dead_engine: impl Fn(&str) -> bool) -> Vec<Stray> {
    let mut strays: HashMap<(u32, u64), Stray> = HashMap::new();
    ending::kill_blocking(|| {
        let all = table::all();
        let spared = own_line(&all);
        let mut marks = HashMap::new();
        for process in all.iter().filter(|process| !process.is_zombie) {
            marks.insert(process.pid, table::marks(process.pid));
        }
        let engine_of = |process: &Process| marks.get(&process.pid).and_then(|marks| marks.engine.as_deref());
        let is_stray =
            |process: &Process| !spared.contains(&process.pid) && engine_of(process).is_some_and(&is_dead_engine);
        for process in all.iter().filter(|process| is_stray(process)) {
            let Some(marks) = marks.get(&process.pid) else { continue };
            let (engine, attempt) = (marks.engine.clone().unwrap_or_default(), marks.attempt.clone());
            strays.insert((process.pid, process.start), Stray { pid: process.pid, engine, attempt });
        }
        let mut found = tree::with_descendants(&all, is_stray);
        let is_of_living = |process: &Process| engine_of(process).is_some_and(|engine| !is_dead_engine(engine));
        found.retain(|process| !process.is_zombie && !spared.contains(&process.pid) && !is_of_living(process));
        found
    });
    let mut strays: Vec<Stray> = strays.into_values().collect();
    strays.sort_by_key(|stray| stray.pid);
    strays
}

/// This process and all its parents.
fn own_line(all: &[Process]) -> HashSet<u32> {
    let parents: HashMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let mut line = HashSet::new();
    let mut at = std::process::id();
    while line.insert(at) {
        at = parents.get(&at).copied().unwrap_or_default();
    }
    line
}
