//! Plans of the workloads. Most of their steps do nothing, which no workflow file can say.

use anyhow::Result;
use longhaul_core::Json;
use longhaul_core::plan::{Plan, SEMANTICS};
use serde_json::json;

/// Steps one after another, each of which leaves so many bytes.
pub(super) fn chain(steps: usize, bytes: usize) -> Result<Plan> {
    let output = "x".repeat(bytes);
    plan((0..steps).map(|at| step(at, noop(&output), before(at))).collect())
}

/// Steps one after another at the pace of about a thousand events a second: two that do nothing, then a pause.
pub(super) fn paced(steps: usize) -> Result<Plan> {
    let pause = json!({"wait": {"for": {"json": "5ms"}}});
    plan((0..steps).map(|at| step(at, if at % 3 == 2 { pause.clone() } else { noop("") }, before(at))).collect())
}

/// Steps that wait for nothing, and one that waits for all of them.
pub(super) fn fan_out(steps: usize) -> Result<Plan> {
    let wide = (0..steps).map(|at| step(at, noop(""), Vec::new()));
    let join = step(steps, noop(""), (0..steps).collect());
    plan(wide.chain([join]).collect())
}

/// The smallest processes one after another, without a shell between.
pub(super) fn commands(steps: usize) -> Result<Plan> {
    let work = json!({"work": {"kind": "run", "params": {"script": {"json": "/bin/true"}}}});
    plan((0..steps).map(|at| step(at, work.clone(), before(at))).collect())
}

/// Turns of an agent, all at once.
pub(super) fn prompts(agents: usize) -> Result<Plan> {
    let work = json!({"work": {"kind": "prompt", "params": {"text": {"json": "Talk."}}}});
    let mut plan = plan((0..agents).map(|at| step(at, work.clone(), Vec::new())).collect())?;
    plan.units[0].limits.parallel = Some(u32::try_from(agents)?);
    Ok(plan)
}

/// A question that only a person can answer.
pub(super) fn question() -> Result<Plan> {
    let ask = json!({"approve": {"question": "Continue?", "on_timeout": "fail", "on_deny": "fail"}});
    plan(vec![step(0, ask, Vec::new())])
}

fn noop(output: &str) -> Json {
    json!({"work": {"kind": "noop", "params": {"output": {"json": output}}}})
}

fn before(at: usize) -> Vec<usize> {
    at.checked_sub(1).into_iter().collect()
}

fn step(at: usize, form: Json, deps: Vec<usize>) -> Json {
    json!({"id": format!("s{at}"), "body": 0, "form": form, "deps": deps})
}

fn plan(steps: Vec<Json>) -> Result<Plan> {
    let order: Vec<usize> = (0..steps.len()).collect();
    Ok(serde_json::from_value(json!({
        "semantics": SEMANTICS,
        "units": [{"name": "bench", "body": 0}],
        "bodies": [{"unit": 0, "order": "graph", "steps": order}],
        "steps": steps,
    }))?)
}
