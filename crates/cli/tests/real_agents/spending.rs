//! What turns cost: with helpers, with work in the background, beyond a limit, and ended in the middle.

use serde_json::Value;

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

const STEPS: &str = "do: [{id: a, prompt: Do it., output: {as: done}}]";

/// A helper that works on while the agent answers. Every request of the helper costs twice as much.
const HELPER: &str = "
on prompt helper
usage in=200000 out=20000
text It is there.
on any
usage in=100000 out=10000
tool Agent description=look prompt=helper,look subagent_type=general-purpose
text It is being looked for.
text It was found.
";

/// A command in the background that ends when the test says so.
const BACKGROUND: &str = "
usage in=100000 out=10000
tool Bash description=tests run_in_background:=true command=\"touch begun; until test -e go; do sleep 0.1; done\"
text The tests run, I will report.
text All tests passed.
";

fn cost(project: &Project) -> Value {
    let told = project.longhaul(&["status", RUN, "--json"]);
    let status: Value = serde_json::from_str(&told.stdout).unwrap();
    status["cost"].clone()
}

/// Tokens read and written, and cents.
fn amounts(usage: &Value) -> (u64, u64, u64) {
    let count = |key: &str| usage[key].as_u64().unwrap();
    (count("input_tokens"), count("output_tokens"), (usage["usd"].as_f64().unwrap() * 100.0).round() as u64)
}

fn every_request_of_a_helper_is_counted(agent: &Agent) {
    let project = Project::new(agent, HELPER, STEPS);
    project.run();
    assert_eq!(project.output("done"), "It was found.");
    let cost = cost(&project);
    assert_eq!(amounts(&cost["total"]), (500_000, 50_000, 225), "{cost}");
    assert_eq!(amounts(&cost["agents"][agent.name]), (500_000, 50_000, 225), "{cost}");
}

with_agents!(every_request_of_a_helper_is_counted: claude);

fn work_in_the_background_is_waited_for(agent: &Agent) {
    let project = Project::new(agent, BACKGROUND, STEPS);
    let run = project.start();
    project.until_file("begun");
    project.until("attempt_delayed", |event| event["why"].as_str().is_some_and(|why| why.contains("`tests`")));
    std::fs::write(project.path("go"), "").unwrap();
    let told = run.end();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.output("done"), "All tests passed.");
    assert_eq!(amounts(&cost(&project)["total"]), (300_000, 30_000, 135));
}

with_agents!(work_in_the_background_is_waited_for: claude);

/// An answer that takes more than is left is kept; a turn that the limit ends in the middle continues after the pause.
fn a_limit_that_asks_loses_nothing(agent: &Agent) {
    let script = "
usage in=1000000 out=100000
text One.
text Two.
text Three
+ run echo three
text Three.
";
    let steps = "
limits: {usd: LIMIT, on_exceed: ask}
do:
  - {id: a, prompt: Do it., output: {as: a}}
  - {id: b, prompt: Do it., output: {as: b}}
  - {id: c, prompt: Do it., output: {as: c}}
";
    // four dollars and a half a request: the first limit is reached by an answer, the second in the middle of the third turn
    for limit in ["5", "10"] {
        let project = Project::new(agent, script, &steps.replace("LIMIT", limit));
        let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN]);
        assert_eq!(told.code, 3, "{limit}: {}{}", told.stdout, told.stderr);
        assert_eq!(project.all("paused").len(), 1);
        assert_eq!(project.all("attempt_succeeded").len(), 2, "{limit}: {}", told.stdout);
        project.ok(&["unpause", RUN]);
        project.ok(&["resume", RUN]);
        assert_eq!([project.output("a"), project.output("b"), project.output("c")], ["One.", "Two.", "Three."]);
        assert_eq!(project.asked(), 4, "nothing was asked twice");
        assert_eq!(amounts(&cost(&project)["total"]), (4_000_000, 400_000, 1800));
    }
}

with_agents!(a_limit_that_asks_loses_nothing: claude);

fn a_turn_that_is_ended_counts_what_was_seen(agent: &Agent) {
    let script = "
usage in=100000 out=10000
run touch begun; until test -e go; do sleep 0.1; done
";
    let project = Project::new(agent, script, STEPS);
    let run = project.start();
    project.until_file("begun");
    project.ok(&["cancel", RUN]);
    run.end();
    let total = cost(&project)["total"].clone();
    assert_eq!(total["at_least"], true, "{total}");
    if agent.name == "claude" {
        assert_eq!(amounts(&total), (100_000, 10_000, 45), "{total}");
    }
}

with_agents!(a_turn_that_is_ended_counts_what_was_seen: claude, codex, gemini, opencode);
