//! The limits of a run, and what it has used of them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::state::State;

/// The limits of a run that a person can change.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunBudget {
    /// Money, in US dollars.
    pub usd: Used<f64>,
    /// Tokens, read and written.
    pub tokens: Used<u64>,
    /// Executed steps.
    pub steps: Used<u64>,
    /// Time since the start of the run, in milliseconds.
    pub duration_ms: Used<u64>,
}

/// What was used of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Used<T> {
    /// What was used, as far as it is known.
    pub used: T,
    /// The limit; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<T>,
}

/// The limits of a run at a given time.
pub fn budget(plan: &Plan, state: &State, now: i64) -> RunBudget {
    let (limits, spent) = (state.limits(plan), state.account.spent());
    let until = state.finished.as_ref().map_or(now, |finished| finished.at);
    let elapsed = u64::try_from(until.saturating_sub(state.started_at)).unwrap_or(0);
    RunBudget {
        usd: Used { used: spent.usd, limit: limits.usd },
        tokens: Used { used: spent.tokens(), limit: limits.tokens },
        steps: Used { used: state.account.steps, limit: limits.steps },
        duration_ms: Used { used: elapsed, limit: limits.duration_ms },
    }
}
