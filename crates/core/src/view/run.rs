//! A run at a glance.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::{awaited, status};
use crate::Json;
use crate::event::Usage;
use crate::explain::{Explanation, explain_at};
use crate::origin::Origin;
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::State;

/// A run at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// What lists call its workflow.
    pub workflow: String,
    /// The text it was started with.
    pub task: String,
    /// Who started it, and so who is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
    /// In a word.
    #[schemars(extend("enum" = crate::status::ALL))]
    pub status: &'static str,
    /// What it waits for, each once: `approval`, `question`, `timer`, `event`, `host`, `operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<&'static str>,
    /// How far it is.
    pub progress: Progress,
    /// What it has cost.
    pub usage: Usage,
    /// When it was started.
    pub started_at: i64,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// How long it took, or has taken.
    pub duration_ms: i64,
    /// Steps with an open attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub current: Vec<StepPath>,
    /// Why it ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it returned.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<String, Json>,
    /// Limits that were reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits_reached: Vec<String>,
    /// Why it does not continue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Explanation>,
}

/// How many steps stand where. Only what was reached can be counted: nobody knows how long a list will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Progress {
    /// Ended well.
    pub succeeded: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out.
    pub skipped: u64,
    /// Stopped, or given up.
    pub cancelled: u64,
    /// At work.
    pub running: u64,
    /// Waiting for a time, a signal or a person.
    pub waiting: u64,
    /// Ready, but without a slot.
    pub pending: u64,
}

/// A run at a glance, as it is at a moment.
pub fn run(plan: &Plan, state: &State, now: i64) -> Run {
    let finished = state.finished.as_ref();
    let started = state.started.as_ref();
    let ended_at = finished.map(|finished| finished.at);
    Run {
        workflow: plan.main().name.clone(),
        task: started.map(|started| started.task.clone()).unwrap_or_default(),
        owner: started.and_then(|started| started.owner.clone()),
        status: state.status_in(plan),
        waiting_for: waiting_for(state),
        progress: progress(state),
        usage: state.usage,
        started_at: state.started_at,
        ended_at,
        duration_ms: (ended_at.unwrap_or(now) - state.started_at).max(0),
        current: current(state),
        message: finished.and_then(|finished| finished.message.clone()),
        outputs: finished.map(|finished| finished.outputs.clone()).unwrap_or_default(),
        limits_reached: state.limits_reached.clone(),
        why: explain_at(plan, state, now.max(state.now)),
    }
}

fn current(state: &State) -> Vec<StepPath> {
    let open = state.open_attempts().filter(|_| !state.is_finished());
    open.map(|step| step.path.clone()).collect()
}

pub(super) fn waiting_for(state: &State) -> Vec<&'static str> {
    let mut words: Vec<&'static str> = Vec::new();
    for word in state.waiting().filter(|_| !state.is_finished()).filter_map(awaited) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

fn progress(state: &State) -> Progress {
    let mut progress = Progress::default();
    for step in state.steps() {
        *match status(state, step) {
            "succeeded" => &mut progress.succeeded,
            "failed" => &mut progress.failed,
            "skipped" => &mut progress.skipped,
            "running" => &mut progress.running,
            "waiting" => &mut progress.waiting,
            "pending" => &mut progress.pending,
            _ => &mut progress.cancelled,
        } += 1;
    }
    progress
}
