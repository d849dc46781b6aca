//! Tests proposals from one client to another.

use serde_json::json;

use crate::valet::office::{NOTICE, OPEN, Office};

const BETTER: &str = r#"{"steps":[{"type":"notify","content":"better"}],"constraints":{"allowSelfModification":true}}"#;

#[test]
fn a_proposal_is_made_decided_and_applied_once() {
    let mut office = Office::new();
    let base = office.sync("deploy", OPEN)["workflowHash"].clone();
    let make =
        json!({"workflow_id": "deploy", "base_workflow_hash": base, "proposal_json": BETTER, "diff_text": "better"});
    let id = office.done("create_workflow_proposal", make.clone())["proposal"]["id"].clone();
    let which = json!({"workflow_id": "deploy", "proposal_id": id});
    assert!(office.refused("apply_workflow_proposal", which.clone()).contains("is pending; only an approved one"));
    let review = json!({"workflow_id": "deploy", "proposal_id": id, "approve": true, "notes": "yes"});
    assert_eq!(office.done("review_workflow_proposal", review.clone())["proposal"]["status"], "approved");
    assert!(office.refused("review_workflow_proposal", review).contains("only a pending one"));
    let applied = office.done("apply_workflow_proposal", which.clone());
    assert_eq!((&applied["proposal"]["status"], &applied["workflow"]["version"]), (&json!("applied"), &json!("1.0.1")));
    assert!(office.refused("apply_workflow_proposal", which).contains("already applied"));
    assert!(office.refused("create_workflow_proposal", make).contains("has changed since"), "the base is gone");
    let listed = office.done("list_workflow_proposals", json!({"workflow_id": "deploy", "status": "applied"}));
    assert_eq!(listed["proposals"].as_array().unwrap().len(), 1);
    let history = office.done("list_workflow_history", json!({"workflow_id": "deploy"}));
    assert_eq!(history["history"][0]["source"], "proposal_apply");
}

#[test]
fn what_does_not_fit_is_not_proposed() {
    let mut office = Office::new();
    let closed = office.sync("closed", NOTICE)["workflowHash"].clone();
    let make = |id: &str, base: &serde_json::Value, text: &str| json!({"workflow_id": id, "base_workflow_hash": base, "proposal_json": text});
    assert!(office.refused("create_workflow_proposal", make("closed", &closed, BETTER)).contains("takes no proposals"));
    let open = office.sync("open", OPEN)["workflowHash"].clone();
    let bad = r#"{"steps":[{"type":"bash"}]}"#;
    assert!(office.refused("create_workflow_proposal", make("open", &open, bad)).contains("has errors"));
    let stale = json!("sha256:0123456789");
    assert!(office.refused("create_workflow_proposal", make("open", &stale, BETTER)).contains("has changed since"));
    let mut over = make("open", &open, BETTER);
    over["expires_at"] = json!("2020-01-01T00:00:00Z");
    assert!(office.refused("create_workflow_proposal", over).contains("later `expires_at`"));
}

#[test]
fn a_text_that_moved_on_is_not_written_over() {
    let mut office = Office::new();
    let base = office.sync("deploy", OPEN)["workflowHash"].clone();
    let make = json!({"workflow_id": "deploy", "base_workflow_hash": base, "proposal_json": BETTER});
    let id = office.done("create_workflow_proposal", make)["proposal"]["id"].clone();
    let number = id.as_str().unwrap().to_owned();
    let shown = office.longhaul(&["registry", "proposals", "show", &number]);
    assert!(shown.stdout.contains("better"), "{}", shown.stdout);
    assert_eq!(office.longhaul(&["registry", "proposals", "approve", &number]).code, 0);
    office.sync("deploy", &OPEN.replace("\"x\"", "\"z\""));
    let why = office.refused("apply_workflow_proposal", json!({"workflow_id": "deploy", "proposal_id": id}));
    assert!(why.contains("has changed since"), "{why}");
    let told = office.longhaul(&["registry", "proposals", "apply", &number]);
    assert!(told.code != 0 && told.stderr.contains("has changed since"), "{}", told.stderr);
}
