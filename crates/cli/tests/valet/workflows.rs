//! What is kept, what is refused, and every version.

use serde_json::{Value, json};

use crate::valet::office::{NOTICE, Office};

#[test]
fn there_are_twenty_two_actions() {
    let mut office = Office::new();
    let tools = office.client.request("tools/list", json!({}))["tools"].clone();
    let titles = tools.as_array().unwrap().iter().map(|tool| tool["title"].as_str().unwrap());
    let titles: Vec<&str> = titles.filter(|title| title.starts_with("workflows:")).collect();
    let expected = [
        "list_workflows",
        "get_workflow",
        "sync_workflow",
        "update_workflow",
        "delete_workflow",
        "list_workflow_history",
        "rollback_workflow",
        "create_workflow_proposal",
        "list_workflow_proposals",
        "review_workflow_proposal",
        "apply_workflow_proposal",
        "run_workflow",
        "list_workflow_executions",
        "get_execution",
        "get_execution_steps",
        "debug_execution",
        "approve_execution",
        "cancel_execution",
        "list_triggers",
        "sync_trigger",
        "run_trigger",
        "delete_trigger",
    ];
    assert_eq!(titles, expected.map(|id| format!("workflows:{id}")));
    for name in ["workflows:list_workflows", "workflows_list_workflows", "list_workflows"] {
        assert_eq!(office.client.call(name, json!({})), json!({"success": true, "data": {"workflows": []}}));
    }
}

/// Each mistake that the original finds only when it saves, or only before a run, is found when it is saved.
#[test]
fn what_has_errors_is_not_kept() {
    let mut office = Office::new();
    let step = |step: Value| json!({"steps": [step]}).to_string();
    let cases = [
        (json!({"steps": []}).to_string(), "steps"),
        (step(json!({"type": "frob"})), "frob"),
        (step(json!({"type": "subworkflow"})), "put its steps here instead"),
        (step(json!({"type": "loop", "steps": [{"type": "notify", "content": "x"}]})), "over"),
        (
            step(json!({"type": "loop", "over": [1], "itemVar": "1x", "steps": [{"type": "notify", "content": "x"}]})),
            "1x",
        ),
        (step(json!({"type": "notify", "content": "x", "target": "slack"})), "slack"),
        (step(json!({"type": "agent_prompt", "prompt": "x", "outputSchema": {"d": {"type": "date"}}})), "date"),
        (step(json!({"type": "agent_prompt", "prompt": "x", "await_timeout_ms": 500})), "500"),
        (json!({"steps": [{"type": "notify", "content": "x"}], "failureNotify": "x"}).to_string(), "failureNotify"),
        (step(json!({"type": "bash"})), "command"),
        (
            step(json!({"type": "conditional", "condition": "a ==", "then": [{"type": "notify", "content": "x"}]})),
            "a ==",
        ),
        ("{".to_owned(), "error"),
    ];
    for (definition, part) in cases {
        let why = office.refused("sync_workflow", json!({"id": "bad", "name": "Bad", "data_json": definition}));
        assert!(why.contains("has errors") && why.contains(part), "{definition}: {why}");
    }
    assert_eq!(office.done("list_workflows", json!({}))["workflows"], json!([]));
    office.sync("fine", NOTICE);
    for bad in ["{}", r#"{"steps":[{"type":"bash"}]}"#] {
        let why = office.refused("update_workflow", json!({"workflow_id": "fine", "data_json": bad}));
        assert!(why.contains("has errors"), "an update is checked, too: {why}");
    }
    let braces = step(
        json!({"type": "conditional", "condition": "{{variables.flag}} === \"done\"", "then": [{"type": "notify", "content": "x"}]}),
    );
    office.sync("braces", &braces);
}

#[test]
fn versions_are_kept_and_can_be_taken_up_again() {
    let mut office = Office::new();
    let first = office.sync("deploy", NOTICE);
    let vector = "sha256:eb85c9bf4a853ea684fc76ae1a511dcc8234b8d24ded7187ae2f82583274fe7e";
    assert_eq!((&first["workflowHash"], &first["version"]), (&json!(vector), &json!("1.0.0")));
    let second = r#"{"steps":[{"type":"notify","content":"y"}]}"#;
    let update = json!({"workflow_id": "deploy", "data_json": second, "description": "Ships", "tags_json": "[\"a\"]"});
    let updated = office.done("update_workflow", update)["workflow"].clone();
    assert_eq!(
        (&updated["version"], &updated["description"], &updated["tags"]),
        (&json!("1.0.1"), &json!("Ships"), &json!(["a"]))
    );
    let history = office.done("list_workflow_history", json!({"workflow_id": "deploy"}));
    let rows: Vec<(&Value, &Value)> =
        history["history"].as_array().unwrap().iter().map(|row| (&row["source"], &row["isCurrent"])).collect();
    assert_eq!(rows, [(&json!("update"), &json!(true)), (&json!("sync"), &json!(false))]);

    let unknown = json!({"workflow_id": "deploy", "target_workflow_hash": "sha256:00000000"});
    let back = json!({"workflow_id": "deploy", "target_workflow_hash": vector, "notes": "worse"});
    let rolled = office.consented("rollback_workflow", back.clone());
    assert_eq!((&rolled["alreadyAtVersion"], &rolled["workflow"]["version"]), (&json!(false), &json!("1.0.2")));
    assert_eq!(office.consented("rollback_workflow", back)["alreadyAtVersion"], true);
    let raw = history["history"][0]["textHash"].clone();
    let by_text = office.consented("rollback_workflow", json!({"workflow_id": "deploy", "target_workflow_hash": raw}));
    assert_eq!(by_text["workflow"]["workflowHash"], updated["workflowHash"], "the hash of the text will do");
    let why = office.refused("rollback_workflow", unknown.clone());
    assert!(why.contains("needs consent"), "consent was for once: {why}");

    let told = office.longhaul(&["versions", "deploy"]);
    assert!(told.stdout.contains("* ") && told.stdout.contains("eb85c9bf4a85"), "{}", told.stdout);
    let text = office.longhaul(&["versions", "deploy", "--text", "eb85c9bf4a85"]);
    assert_eq!(text.stdout, NOTICE);
}

#[test]
fn what_is_on_the_shelf_is_found_like_a_file() {
    let mut office = Office::new();
    office.sync("shelved", r#"{"name":"shelved","steps":[{"id":"n","type":"bash","command":"printf here"}]}"#);
    let listed = office.longhaul(&["list"]);
    assert!(
        listed.stdout.lines().any(|line| line.starts_with("shelved") && line.contains("shelf")),
        "{}",
        listed.stdout
    );
    let ran = office.longhaul(&["run", "shelved"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    std::fs::create_dir_all(office.path().join(".longhaul/workflows")).unwrap();
    std::fs::write(office.path().join(".longhaul/workflows/shelved.yaml"), "do:\n  - {id: own, run: exit 7}\n")
        .unwrap();
    assert_eq!(office.longhaul(&["run", "shelved"]).code, 1, "files of the project go before the shelf");
    office.consented("delete_workflow", json!({"workflow_id": "shelved"}));
    let why = office.refused("get_workflow", json!({"workflow_id": "shelved"}));
    assert!(why.contains("there is no workflow `shelved`"), "{why}");
}

#[test]
fn arguments_are_held_to_what_there_is() {
    let mut office = Office::new();
    let why = office.refused("get_workflow", json!({"workflow": "x"}));
    assert_eq!(why, "there is no argument `workflow`; did you mean `workflow_id`?");
    let why = office.refused("sync_workflow", json!({"name": "x"}));
    assert!(why.contains("`data_json`"), "{why}");
    let why = office.refused("sync_workflow", json!({"id": "../x", "name": "x", "data_json": NOTICE}));
    assert!(why.contains("cannot be the name"), "{why}");
    office.sync("a", NOTICE);
    let clash = json!({"id": "b", "slug": "a", "name": "b", "data_json": NOTICE});
    assert!(office.refused("sync_workflow", clash).contains("another workflow is called `a`"));
}
