//! What a run cost, and who spent it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Json;
use crate::event::Usage;
use crate::path::StepPath;
use crate::plan::{Form, Plan, Step};
use crate::state::State;

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// In all.
    pub total: Usage,
    /// By step, the most expensive first; those that cost nothing are left out.
    pub steps: Vec<Spent>,
    /// By agent.
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
    let mut agents: IndexMap<String, Usage> = IndexMap::new();
    let mut steps = Vec::new();
    for step in state.steps().iter().filter(|step| step.usage != Usage::default()) {
        *agents.entry(agent(plan.step(step.step))).or_default() += step.usage;
        steps.push(Spent { path: step.path.clone(), usage: step.usage });
    }
    steps.sort_by(|a, b| b.usage.usd.total_cmp(&a.usage.usd));
    let (set_aside, assumed) = (state.reserved(), state.assumed);
    Cost { total: state.usage, steps, agents, set_aside, assumed, limit: Limit::of(plan) }
}

/// Who did it: the persona, the profile's back end, or the kind of work.
fn agent(step: &Step) -> String {
    let Form::Work(work) = &step.form else { return "none".to_owned() };
    named(step).unwrap_or_else(|| work.kind.clone())
}

/// Who is to do a step, where it says.
pub(super) fn named(step: &Step) -> Option<String> {
    let Form::Work(work) = &step.form else { return None };
    let agent = work.params.get("agent")?.as_json()?;
    let key = |key: &str| agent.get(key).and_then(Json::as_str);
    key("persona").or_else(|| key("backend")).map(str::to_owned)
}
