//! What a run cost, and who spent it.

use indexmap::IndexMap;
use serde::Serialize;

use crate::Json;
use crate::event::Usage;
use crate::path::StepPath;
use crate::plan::{Form, Plan, Step};
use crate::state::State;

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// In all.
    pub total: Usage,
    /// By step, the most expensive first; those that cost nothing are left out.
    pub steps: Vec<Spent>,
    /// By agent.
    pub agents: IndexMap<String, Usage>,
}

/// What one step cost, all attempts together.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    Cost { total: state.usage, steps, agents }
}

/// Who did it: the persona, the profile's back end, or the kind of work.
fn agent(step: &Step) -> String {
    let Form::Work(work) = &step.form else { return "none".to_owned() };
    let agent = work.params.get("agent").and_then(|agent| agent.as_json());
    let named = |key: &str| agent.and_then(|agent| agent.get(key)).and_then(Json::as_str);
    named("persona").or_else(|| named("backend")).unwrap_or(&work.kind).to_owned()
}
