//! Engine-driven runs: waited for, continued, ended, told of while they run.

use serde_json::{Value, json};

use crate::mcp::project::Project;
use crate::mcp::wire::Pipes;

#[test]
fn the_engine_runs_a_workflow_to_its_end() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let over = client.call("run", json!({"workflow": "commands", "inputs": {"word": "hello"}}));
    assert_eq!((&over["status"], &over["outputs"]["said"]), (&json!("succeeded"), &json!("hello two")));
    let run = over["run"].clone();
    assert_eq!(client.call("output", json!({"run": run}))["value"], json!({"said": "hello two"}));
    assert_eq!(client.told("output", json!({"run": run, "key": "said"})), "hello two");
    assert!(client.refused("output", json!({"run": run, "key": "sad"})).contains("did you mean `said`?"));
    assert!(client.refused("output", json!({"run": run, "step": "three"})).contains("there are: first, second"));
    assert_eq!(client.call("runs", json!({"status": "succeeded"}))["runs"][0]["run"], run);
    assert!(client.refused("run", json!({"workflow": "commands"})).contains("`word` is missing"));
    assert!(client.refused("next", json!({"run": run})).contains("the engine drives"));
}

#[test]
fn a_run_that_asks_is_answered_and_goes_on_by_itself() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let at = client.call("run", json!({"workflow": "relay", "task": "x"}));
    assert_eq!((&at["status"], &at["human_approval_required"]), (&json!("waiting"), &json!(true)), "{at}");
    let run = at["run"].clone();
    assert!(
        client.told("status", json!({"run": run})).contains("STOP: a human decides. `plan` asks: Is the plan good?")
    );
    client.call("answer", json!({"run": run, "decision": "approve"}));
    let over = client.call("run", json!({"run": run}));
    assert_eq!(over["status"], "succeeded", "{over}");
}

#[test]
fn a_run_outlives_the_server_that_started_it() {
    let project = Project::new();
    let run = project.pipes("ed").call("run", json!({"workflow": "relay", "wait_seconds": 0}))["run"].clone();
    let mut client = project.pipes("ed");
    let at = client.call("run", json!({"run": run}));
    assert_eq!(at["status"], "waiting", "{at}");
    let ended = client.call("cancel", json!({"run": run, "reason": "enough"}));
    let ended = if ended["status"] == "cancelled" { ended } else { client.call("run", json!({"run": run})) };
    assert_eq!(ended["status"], "cancelled", "{ended}");
    client.call("retry", json!({"run": run}));
    assert_eq!(client.call("run", json!({"run": run}))["status"], "waiting");
}

#[test]
fn a_client_that_wants_to_know_is_told_what_happens() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let params = json!({"name": "run", "arguments": {"workflow": "commands", "inputs": {"word": "x"}}, "_meta": {"progressToken": "t"}});
    client.request("tools/call", params);
    let progress: Vec<&Value> =
        client.beside.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(!progress.is_empty());
    let amounts: Vec<f64> = progress.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
    assert!(amounts.windows(2).all(|pair| pair[0] < pair[1]), "{amounts:?}");
    assert!(progress.iter().all(|message| message["params"]["progressToken"] == "t"));
}

#[test]
fn a_cancelled_call_ends_the_waiting_and_not_the_run() {
    let project = Project::new();
    let slow = "name: slow\ndo:\n  - {id: wait, run: 'until [ -e go ]; do sleep 0.01; done'}\n";
    std::fs::write(project.path().join(".longhaul/workflows/slow.yaml"), slow).unwrap();
    let mut client = Pipes::open(project.command(&[]), "ed");
    client.send(&json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "run", "arguments": {"workflow": "slow", "wait_seconds": 3000}}}));
    let run = loop {
        if let Some(run) = client.call("runs", json!({"status": "running"}))["runs"].get(0) {
            break run["run"].clone();
        }
    };
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}));
    assert_eq!(client.call("status", json!({"run": run}))["status"], "running");
    std::fs::write(project.path().join("go"), "").unwrap();
    assert_eq!(client.call("run", json!({"run": run}))["status"], "succeeded");
}
