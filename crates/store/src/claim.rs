//! Chooses the free tasks that a claim gets.
//!
//! **Invariant:** a worker gets only tasks whose labels it has, and never so many that a cap is exceeded. Of several
//! runs, the one with the fewest held tasks comes first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use longhaul_core::id::RunId;

use crate::WorkerId;

/// A worker's request for tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The worker that asks.
    pub worker: WorkerId,
    /// The labels of the worker. It gets only tasks whose labels it has.
    pub labels: Vec<String>,
    /// If set: only tasks of this run.
    pub run: Option<RunId>,
    /// The most tasks that the worker takes.
    pub limit: usize,
    /// The caps on tasks that all workers together may hold.
    pub caps: Caps,
    /// The current time, in milliseconds since 1970.
    pub now_ms: i64,
    /// The length of the lease, counted from `now_ms`.
    pub lease_ms: i64,
}

/// How many tasks all workers together may hold at once. Only [`crate::Store::claim`] checks this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// The cap over all tasks.
    pub all: Option<u32>,
    /// The cap for tasks with a label, by label.
    pub labels: BTreeMap<String, u32>,
}

impl Claim {
    /// A claim of a worker without labels or caps.
    pub fn new(worker: WorkerId, now_ms: i64, lease_ms: i64, limit: usize) -> Self {
        Self { worker, labels: Vec::new(), run: None, limit, caps: Caps::default(), now_ms, lease_ms }
    }

    /// The time at which the leases end.
    pub fn until_ms(&self) -> i64 {
        self.now_ms.saturating_add(self.lease_ms)
    }

    /// Whether the worker has all labels of a task.
    pub fn fits(&self, labels: &[String]) -> bool {
        labels.iter().all(|label| self.labels.contains(label))
    }
}

impl Caps {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.labels.is_empty()
    }

    /// Whether these caps count a task with these labels.
    pub fn count(&self, labels: &[String]) -> bool {
        self.all.is_some() || labels.iter().any(|label| self.labels.contains_key(label))
    }
}

/// A task that no worker holds, with the fields that choosing needs.
#[derive(Debug, Clone)]
pub(crate) struct Free<R> {
    /// The order of creation: older tasks have smaller numbers.
    pub(crate) number: u64,
    pub(crate) run: R,
    pub(crate) labels: Vec<String>,
}

/// How many tasks workers hold already.
#[derive(Debug)]
pub(crate) struct Held<R> {
    all: u32,
    labels: HashMap<String, u32>,
    runs: HashMap<R, u64>,
}

impl<R: Eq + Hash + Clone> Held<R> {
    pub(crate) fn new() -> Self {
        Self { all: 0, labels: HashMap::new(), runs: HashMap::new() }
    }

    /// Counts `times` tasks of a run.
    pub(crate) fn add(&mut self, run: R, labels: &[String], times: u32) {
        self.all += times;
        for label in labels {
            *self.labels.entry(label.clone()).or_default() += times;
        }
        *self.runs.entry(run).or_default() += u64::from(times);
    }

    fn has_room(&self, caps: &Caps, labels: &[String]) -> bool {
        let label = |label: &String| {
            let held = self.labels.get(label).copied().unwrap_or_default();
            caps.labels.get(label).is_none_or(|max| held < *max)
        };
        caps.all.is_none_or(|max| self.all < max) && labels.iter().all(label)
    }
}

/// The numbers of the tasks that a claim gets.
pub(crate) fn choose<R: Eq + Hash + Clone>(claim: &Claim, mut free: Vec<Free<R>>, mut held: Held<R>) -> Vec<u64> {
    free.sort_by_key(|task| task.number);
    let mut before = held.runs.clone();
    let mut ranked: Vec<(u64, Free<R>)> = Vec::new();
    for task in free.into_iter().filter(|task| claim.fits(&task.labels)) {
        let rank = before.entry(task.run.clone()).or_default();
        *rank += 1;
        ranked.push((*rank, task));
    }
    ranked.sort_by_key(|(rank, task)| (*rank, task.number));
    let mut chosen = Vec::new();
    for (_, task) in ranked {
        if chosen.len() >= claim.limit {
            break;
        }
        if held.has_room(&claim.caps, &task.labels) {
            held.add(task.run, &task.labels, 1);
            chosen.push(task.number);
        }
    }
    chosen.sort_unstable();
    chosen
}
