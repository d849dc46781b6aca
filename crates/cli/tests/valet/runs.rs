//! Tests runs: gates with tokens, what they show, and how they end.

use serde_json::{Value, json};

use crate::valet::office::Office;

const GATES: &str = r#"{"steps":[
  {"id":"g1","type":"approval","prompt":"First?"},
  {"id":"n","type":"bash","command":"echo once >> done.txt"},
  {"id":"g2","type":"approval","prompt":"Second?"}]}"#;

fn started(office: &mut Office, definition: &str) -> Value {
    office.sync("flow", definition);
    office.done("run_workflow", json!({"workflow_id": "flow"}))["execution"]["id"].clone()
}

fn decide(office: &mut Office, id: &Value, approve: bool) -> Value {
    let token = office.execution(id, "waiting_approval")["resumeToken"].clone();
    let answer = json!({"execution_id": id, "approve": approve, "resume_token": token, "reason": "said so"});
    office.done("approve_execution", answer)["execution"].clone()
}

#[test]
fn what_is_done_is_not_done_again_after_an_approval() {
    let mut office = Office::new();
    let id = started(&mut office, GATES);
    let first = office.execution(&id, "waiting_approval");
    assert_eq!(first["requiresApproval"][0]["prompt"], "First?");
    assert!(first["resumeToken"].as_str().unwrap().starts_with("wrf_rt_"));

    let bogus = json!({"execution_id": id, "approve": true, "resume_token": "wrf_rt_000000000000000000000000"});
    let why = office.refused("approve_execution", bogus);
    assert!(why.starts_with("resume_token_mismatch:g1") && why.contains("nothing was changed"), "{why}");
    assert!(!office.path().join("done.txt").exists(), "a token is looked at before anything runs");

    decide(&mut office, &id, true);
    loop {
        let second = office.execution(&id, "waiting_approval");
        if second["requiresApproval"][0]["prompt"] == "Second?" {
            let stale = json!({"execution_id": id, "approve": true, "resume_token": first["resumeToken"]});
            assert!(office.refused("approve_execution", stale).starts_with("resume_token_mismatch:g2"));
            break;
        }
    }
    decide(&mut office, &id, true);
    office.execution(&id, "completed");
    assert_eq!(std::fs::read_to_string(office.path().join("done.txt")).unwrap(), "once\n");
    let late = json!({"execution_id": id, "approve": true, "resume_token": first["resumeToken"]});
    assert!(office.refused("approve_execution", late).contains("is completed: it waits for no approval"));
}

#[test]
fn a_no_ends_the_run() {
    let mut office = Office::new();
    let id = started(&mut office, GATES);
    decide(&mut office, &id, false);
    let over = office.execution(&id, "cancelled");
    assert!(over["error"].as_str().unwrap().contains("approval_denied"), "{over}");
    assert!(!office.path().join("done.txt").exists());
    let again = office.done("cancel_execution", json!({"execution_id": id}));
    assert_eq!(again["execution"]["status"], "cancelled", "what is over stays as it is");
}

#[test]
fn a_run_is_explained() {
    let mut office = Office::new();
    let id = started(&mut office, GATES);
    office.execution(&id, "waiting_approval");
    let told = office.done("debug_execution", json!({"execution_id": id}));
    assert_eq!(told["executionSummary"]["status"], "waiting_approval");
    assert_eq!(told["stepSummary"]["blockingStep"]["stepId"], "g1", "{told}");
    assert_eq!(told["stepSummary"]["counts"]["waiting_approval"], 1);
    assert!(told["diagnosis"][0].as_str().unwrap().contains("g1"), "{told}");
    assert!(told["recommendedActions"][0].as_str().unwrap().contains("approve_execution"));
    office.done("cancel_execution", json!({"execution_id": id, "reason": "enough"}));
    office.execution(&id, "cancelled");

    let failing = r#"{"steps":[{"id":"b","type":"bash","command":"exit 3"}]}"#;
    let id = started(&mut office, failing);
    office.execution(&id, "failed");
    let told = office.done("debug_execution", json!({"execution_id": id}));
    assert_eq!(
        (&told["stepSummary"]["failed"][0]["stepId"], &told["stepSummary"]["counts"]["failed"]),
        (&json!("b"), &json!(1))
    );
    assert!(told["diagnosis"][0].as_str().unwrap().contains("`b` failed"), "{told}");
    let steps = office.done("get_execution_steps", json!({"execution_id": id}));
    assert_eq!(steps["steps"][0]["status"], "failed");
    let listed = office.done("list_workflow_executions", json!({"workflow_id": "flow", "limit": 1}));
    assert_eq!(listed["executions"][0]["id"], id);
}

#[test]
fn variables_reach_the_steps_and_repositories_can_not_be_chosen() {
    let mut office = Office::new();
    office.sync(
        "say",
        r#"{"steps":[{"id":"s","type":"bash","command":"printf %s {{variables.p}}","outputVariable":"o"}]}"#,
    );
    let hostile = "; echo HACK $(id)";
    let run = json!({"workflow_id": "say", "variables_json": json!({"p": hostile}).to_string()});
    let id = office.done("run_workflow", run)["execution"]["id"].clone();
    let over = office.execution(&id, "completed");
    assert_eq!(over["variables"]["p"], hostile);
    let steps = office.done("get_execution_steps", json!({"execution_id": id}));
    assert!(steps["steps"][0]["output"].to_string().contains("; echo HACK $(id)"), "{steps}");
    let elsewhere = json!({"workflow_id": "say", "repo_url": "https://example.org/x.git"});
    assert!(office.refused("run_workflow", elsewhere).contains("no repository can be chosen"));
    office.done("update_workflow", json!({"workflow_id": "say", "enabled": false}));
    assert!(office.refused("run_workflow", json!({"workflow_id": "say"})).contains("is disabled"));
}

#[test]
fn five_runs_at_once_are_enough() {
    let mut office = Office::new();
    for _ in 0..5 {
        started(&mut office, GATES);
    }
    let why = office.refused("run_workflow", json!({"workflow_id": "flow"}));
    assert!(why.starts_with("per_user_limit_exceeded:5"), "{why}");
}
