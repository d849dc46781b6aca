//! The cost of a run, by step and by agent.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::event::Usage;
use crate::path::StepPath;
use crate::plan::{Limits, Plan};
use crate::state::State;

/// The cost of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// The total.
    pub total: Usage,
    /// The cost by step, the most expensive first, without steps that cost nothing.
    pub steps: Vec<Spent>,
    /// The cost by persona or agent: the one that the step names, or the one that replaced it.
    pub agents: IndexMap<String, Usage>,
    /// The amount reserved for running turns.
    pub set_aside: Usage,
    /// The amount reserved for turns whose cost was never reported.
    pub assumed: Usage,
    /// The limits on spending.
    pub limit: Limit,
}

/// The limits on spending; without a number there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Money, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Limit {
    /// The limits in a workflow.
    pub(super) fn of(plan: &Plan) -> Self {
        Self::from(&plan.main().limits)
    }
}

impl From<&Limits> for Limit {
    fn from(limits: &Limits) -> Self {
        Self { usd: limits.usd, tokens: limits.tokens }
    }
}

/// The cost of one step, over all attempts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spent {
    /// The address of the step.
    pub path: StepPath,
    /// The tokens and cost.
    pub usage: Usage,
}

/// The cost of a run so far.
pub fn cost(plan: &Plan, state: &State) -> Cost {
    let costly = state.steps().iter().filter(|step| step.usage != Usage::default());
    let mut steps: Vec<Spent> = costly.map(|step| Spent { path: step.path.clone(), usage: step.usage }).collect();
    steps.sort_by(|a, b| b.usage.usd.total_cmp(&a.usage.usd));
    let (set_aside, assumed) = (state.reserved(), state.account.assumed);
    Cost {
        total: state.account.usage,
        steps,
        agents: state.costs.by_agent.clone(),
        set_aside,
        assumed,
        limit: Limit::from(state.limits(plan)),
    }
}
