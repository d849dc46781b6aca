//! What a run cost, and who spent it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::event::Usage;
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::State;

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// In all.
    pub total: Usage,
    /// By step, the most expensive first; those that cost nothing are left out.
    pub steps: Vec<Spent>,
    /// By who did the work: the persona or agent that a step names, or the agent that took its place.
    pub agents: IndexMap<String, Usage>,
    /// What is set aside for turns that are under way.
    pub set_aside: Usage,
    /// What was set aside for turns whose cost nobody ever told.
    pub assumed: Usage,
    /// How much may be spent.
    pub limit: Limit,
}

/// How much may be spent; without a number, as much as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Limit {
    /// What the workflow of a run says.
    pub(super) fn of(plan: &Plan) -> Self {
        let limits = &plan.main().limits;
        Self { usd: limits.usd, tokens: limits.tokens }
    }
}

/// What one step cost, all attempts together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spent {
    /// Which.
    pub path: StepPath,
    /// How much.
    pub usage: Usage,
}

/// What a run has cost so far.
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
        limit: Limit::of(plan),
    }
}
