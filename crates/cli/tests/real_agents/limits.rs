//! Tests limits that last for hours: the run waits, and holds no process.

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

const STEPS: &str = "do: [{id: a, prompt: Do it., output: {as: done}}]";

fn a_limit_of_a_plan_is_waited_for(agent: &Agent) {
    waits_for_hours(agent, "window");
}

with_agents!(a_limit_of_a_plan_is_waited_for: codex);

fn a_limit_of_money_is_waited_for(agent: &Agent) {
    waits_for_hours(agent, "spend");
}

with_agents!(a_limit_of_money_is_waited_for: claude);

/// The wait and its end survive the engine.
fn waits_for_hours(agent: &Agent, kind: &str) {
    let project = Project::new(agent, &format!("always usage-limit kind={kind} reset=+7200"), STEPS);
    let run = project.start();
    let waits = project.until("retry_scheduled", |event| event["rung"] == "await_reset");
    run.kill();
    project.until_quiet();
    assert_eq!(project.failures(), ["usage_limit"]);
    let left_ms = waits["due"].as_i64().unwrap() - waits["at"].as_i64().unwrap();
    assert!((7_000_000..7_500_000).contains(&left_ms), "{left_ms} ms is not until the limit ends");
    let told = project.longhaul(&["status", RUN, "--json"]);
    let status: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(status["status"], "waiting", "{}", told.stdout);
}
