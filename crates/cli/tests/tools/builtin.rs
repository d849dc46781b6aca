//! Tests the tools of the engine itself.

use serde_json::json;

use crate::binary::project::{Project, RUN};
use crate::tools::one;

#[test]
fn a_step_sees_runs_their_status_and_what_they_left() {
    let project = Project::new(&one("run: echo first"));
    project.said();
    let ask = |call: &str| {
        std::fs::write(project.path("ask.yaml"), one(call)).unwrap();
        let told = project.ok(&["run", "ask.yaml", "--json"]);
        let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        last["outputs"]["said"].clone()
    };
    let runs = ask("tool: longhaul.list_runs, args: {status: succeeded, limit: 5}");
    assert_eq!(runs[0]["run"], RUN, "{runs}");
    assert_eq!(runs[0]["status"], "succeeded");
    assert_eq!(ask(&format!("tool: longhaul.status, args: {{run: {RUN}}}"))["status"], "succeeded");
    assert_eq!(ask(&format!("tool: longhaul.output, args: {{run: {RUN}, step: said}}")), "first");
    assert_eq!(ask(&format!("tool: longhaul.output, args: {{run: {RUN}}}")), json!({"said": "first"}));
}

#[test]
fn nothing_is_changed_from_inside_a_run() {
    for tool in ["cancel", "answer", "workflow_create", "start"] {
        let project = Project::new(&one(&format!("tool: longhaul.{tool}, args: {{run: {RUN}}}")));
        let (_, message) = project.failed();
        assert!(message.starts_with(&format!("`longhaul` has no tool `{tool}` for steps: inside a run")), "{message}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let failed = |call: &str| Project::new(&one(call)).failed().1;
    assert!(failed("tool: longhaul.list_runs, args: {limits: 5}").contains("unknown field `limits`"));
    assert!(failed("tool: longhaul.status, args: {run: nothing}").contains("there is no run `nothing`"));
}

/// A tool needs consent like any other action.
#[test]
fn a_risky_tool_waits_for_a_person() {
    let project = crate::tools::project(&one("tool: hand.echo, args: {n: 1}, risk: high"));
    assert_eq!(project.run().code, 3);
    assert!(project.log().is_empty(), "nothing is started before");
    project.ok(&["approve", RUN]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.found("run_finished")["outputs"]["said"], json!({"n": 1}));
    let denied = crate::tools::project(&one("tool: hand.echo, consent: individual"));
    assert_eq!(denied.run().code, 3);
    denied.ok(&["deny", RUN]);
    assert_eq!(denied.longhaul(&["resume", RUN]).code, 1);
    assert!(denied.log().is_empty());
}
