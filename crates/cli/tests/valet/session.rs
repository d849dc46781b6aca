//! What comes out of a run may look and propose, and changes nothing.

use serde_json::{Value, json};

use crate::binary::{Told, command, told};
use crate::valet::office::{OPEN, Office};

/// Says something to a server that a step started, and keeps what it answers; and does so again after a gate.
const SPEAK: &str = "
name: speak
do:
  - {id: first, run: sh speak.sh}
  - {id: wait, approve: 'Continue?'}
  - {id: second, run: sh speak.sh}
";

/// The pipe stays open until every answer is there: a server ends with it.
const SCRIPT: &str = r#"
: > heard.txt
{ cat said.txt; until [ "$(wc -l < heard.txt)" -ge "$(wc -l < ids.txt)" ]; do sleep 0.02; done; } |
  "$LONGHAUL_BINARY" mcp --compat valet >> heard.txt
"#;

/// What the next step says.
fn say(office: &Office, calls: &[(&str, Value)]) {
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "step", "version": "1"}});
    let mut said = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (at, (name, arguments)) in calls.iter().enumerate() {
        let params = json!({"name": format!("workflows:{name}"), "arguments": arguments});
        said.push(json!({"jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": params}));
    }
    let lines: String = said.iter().map(|message| format!("{message}\n")).collect();
    std::fs::write(office.path().join("said.txt"), lines).unwrap();
    let ids: String = (0..=calls.len()).map(|id| format!("{id}\n")).collect();
    for (file, text) in [("ids.txt", ids.as_str()), ("speak.yaml", SPEAK), ("speak.sh", SCRIPT)] {
        std::fs::write(office.path().join(file), text).unwrap();
    }
}

/// What the last step was answered.
fn heard(office: &Office, calls: usize) -> Vec<Value> {
    let heard = std::fs::read_to_string(office.path().join("heard.txt")).unwrap();
    let messages: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: usize| messages.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{heard}"));
    (1..=calls).map(|id| answer(id)["result"]["structuredContent"].clone()).collect()
}

/// The command, for whose steps the binary can be found.
fn run(office: &Office, args: &[&str]) -> Told {
    told(command(office.path(), args).env("LONGHAUL_BINARY", env!("CARGO_BIN_EXE_longhaul")).output().unwrap())
}

#[test]
fn eight_actions_are_denied_inside_a_run() {
    let mut office = Office::new();
    let base = office.sync("deploy", OPEN)["workflowHash"].clone();
    let make =
        json!({"workflow_id": "deploy", "base_workflow_hash": base, "proposal_json": OPEN.replace("\"x\"", "\"z\"")});
    let calls = [
        ("sync_workflow", json!({"name": "evil", "data_json": OPEN})),
        ("update_workflow", json!({"workflow_id": "deploy", "data_json": OPEN})),
        ("delete_workflow", json!({"workflow_id": "deploy"})),
        ("rollback_workflow", json!({"workflow_id": "deploy", "target_workflow_hash": base})),
        ("sync_trigger", json!({"name": "evil", "type": "manual", "workflow_id": "deploy"})),
        ("delete_trigger", json!({"trigger_id": "x"})),
        ("review_workflow_proposal", json!({"workflow_id": "deploy", "proposal_id": "1", "approve": true})),
        ("apply_workflow_proposal", json!({"workflow_id": "deploy", "proposal_id": "1"})),
        ("list_workflows", json!({})),
        ("create_workflow_proposal", make),
    ];
    say(&office, &calls);
    assert_eq!(run(&office, &["run", "speak.yaml"]).code, 3);
    let answers = heard(&office, calls.len());
    for ((name, _), answer) in calls.iter().zip(&answers).take(8) {
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            error.contains("is denied inside a workflow's own session") && error.contains("orchestrator"),
            "{name}: {answer}"
        );
    }
    assert_eq!((&answers[8]["success"], &answers[9]["success"]), (&json!(true), &json!(true)), "{answers:?}");
    assert!(answers[9]["data"]["proposal"]["executionId"].is_string(), "a proposal says which run it comes from");
    assert_eq!(office.done("list_triggers", json!({}))["triggers"], json!([]));
    assert_eq!(office.done("list_workflows", json!({}))["workflows"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_does_not_approve_what_it_started_itself() {
    let mut office = Office::new();
    office.sync("gate", r#"{"steps":[{"id":"g","type":"approval","prompt":"Go?"}]}"#);
    say(&office, &[("run_workflow", json!({"workflow_id": "gate"}))]);
    assert_eq!(run(&office, &["run", "speak.yaml", "--run-id", "speaker"]).code, 3);
    let id = heard(&office, 1)[0]["data"]["execution"]["id"].clone();
    assert_eq!(run(&office, &["resume", id.as_str().unwrap()]).code, 3, "it waits for a person");

    let token = office.execution(&id, "waiting_approval")["resumeToken"].clone();
    let approve = json!({"execution_id": id, "approve": true, "resume_token": token});
    say(&office, &[("approve_execution", approve.clone())]);
    assert_eq!(run(&office, &["approve", "speaker"]).code, 0);
    assert_eq!(run(&office, &["resume", "speaker"]).code, 0);
    let answer = heard(&office, 1).remove(0);
    assert!(answer["error"].as_str().unwrap().contains("cannot answer for itself"), "{answer}");
    office.execution(&id, "waiting_approval");
    office.done("approve_execution", approve);
    office.execution(&id, "completed");
}
