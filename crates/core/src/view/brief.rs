//! A run in a line of a list: what is kept beside its events, so that lists load no run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::waiting_for;
use crate::explain::explain;
use crate::origin::Origin;
use crate::plan::Plan;
use crate::state::State;

/// How much of a task lists show.
const TASK_CHARS_MAX: usize = 200;

/// What a list says of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Summary")]
pub struct Line {
    /// The beginning of the text it was started with.
    pub task: String,
    /// Steps that ended well.
    pub done: u64,
    /// When it was started.
    pub started_at: i64,
    /// What it has cost.
    pub usd: f64,
    /// Why it ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// What it waits for, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<String>,
    /// The first sentence of why it does not continue, while nothing of it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// A run in a line, with what is counted and who it belongs to. Earlier versions wrote less of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// What lists say of it.
    #[serde(flatten)]
    pub line: Line,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Open questions; `None` if an earlier version wrote this.
    pub asks: Option<u64>,
    /// Who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
}

/// A run in a line.
pub fn brief(plan: &Plan, state: &State) -> Brief {
    let (started, finished) = (state.started.as_ref(), state.finished.as_ref());
    let is_still = state.open_attempts().next().is_none() && finished.is_none();
    let line = Line {
        task: started.map(|started| started.task.chars().take(TASK_CHARS_MAX).collect()).unwrap_or_default(),
        done: state.succeeded,
        started_at: state.started_at,
        usd: state.usage.usd,
        message: finished.and_then(|finished| finished.message.clone()),
        ended_at: finished.map(|finished| finished.at),
        waiting_for: waiting_for(state).into_iter().map(str::to_owned).collect(),
        waits: if is_still { first_reason(plan, state) } else { None },
    };
    Brief {
        line,
        tokens: state.usage.input_tokens + state.usage.output_tokens,
        attempts: state.tried,
        asks: Some(if finished.is_some() { 0 } else { state.questions().count() as u64 }),
        owner: started.and_then(|started| started.owner.clone()),
    }
}

/// Only of a run that waits or is paused: between two steps nobody needs a reason.
fn first_reason(plan: &Plan, state: &State) -> Option<String> {
    let word = state.status_in(plan);
    ["waiting", "paused"].contains(&word).then(|| explain(plan, state).into_iter().next())?.map(|why| why.text)
}
