//! Tests continuing a run with a changed workflow, over HTTP.

use serde_json::json;

use crate::serve::site::Project;

const BROKEN: &str = "do:\n  - {id: a, run: echo a}\n  - {id: b, run: exit 3}\n";

#[test]
fn a_text_is_compared_and_then_applied_by_an_admin() {
    let project = Project::new();
    project.add("broken", BROKEN);
    let server = project.serve(&[]);
    let admin = server.client(&server.first_token());
    let run =
        admin.make("/api/v1/runs", "k", &json!({"workflow": "broken"})).json()["run"].as_str().unwrap().to_owned();
    admin.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("run_finished");
    let source = admin.json(&format!("/api/v1/runs/{run}/source"));
    assert_eq!((&source["text"], &source["file_changed"]), (&json!(BROKEN), &json!(false)), "{source}");

    let replan = |client: &crate::serve::site::Client, body| client.post(&format!("/api/v1/runs/{run}/replan"), &body);
    let wrong = replan(&admin, json!({"text": "do: [{id: a, rum: x}]", "preview": true}));
    assert_eq!(wrong.status, 422);
    assert!(wrong.json()["diagnostics"][0]["message"].as_str().unwrap().contains("rum"), "{}", wrong.body);
    assert_eq!(replan(&admin, json!({"preview": true})).status, 400);

    let fixed = BROKEN.replace("exit 3", "exit 0");
    let preview = replan(&admin, json!({"text": fixed, "preview": true}));
    let compared = &preview.json()["comparison"];
    assert_eq!((preview.status, &compared["kept"], &compared["again"]), (200, &json!(["a"]), &json!([])), "{compared}");
    let hash = compared["hash"].clone();
    assert_eq!(replan(&admin, json!({"text": fixed})).status, 400, "without `expect`");
    let other = fixed.replace("echo a", "echo b");
    let stale = replan(&admin, json!({"text": other, "expect": hash}));
    assert_eq!((stale.status, &stale.json()["code"]), (409, &json!("LH0705")));

    let operator = server.client(&project.token_of("kim", "operator"));
    let refused = replan(&operator, json!({"text": fixed, "expect": hash}));
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("LH0702")));
    assert_eq!(replan(&operator, json!({"text": fixed, "preview": true})).status, 200);
    let viewer = server.client(&project.token_of("vera", "viewer"));
    assert_eq!(replan(&viewer, json!({"text": fixed, "preview": true})).status, 403);

    let done = replan(&admin, json!({"text": fixed, "expect": hash}));
    assert_eq!((done.status, &done.json()["outcome"]["outcome"]), (200, &json!("restarted")), "{}", done.body);
    let events = admin.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("plan_replaced");
    assert!(events.iter().any(|event| event.data["event"] == "plan_replaced"));
    let late = replan(&admin, json!({"text": fixed, "expect": hash}));
    assert_eq!(late.status, 409, "{}", late.body);
}

#[test]
fn an_operator_may_name_a_workflow_of_the_project() {
    let project = Project::new();
    project.add("broken", BROKEN);
    let server = project.serve(&[]);
    let operator = server.client(&project.token_of("kim", "operator"));
    let run =
        operator.make("/api/v1/runs", "k", &json!({"workflow": "broken"})).json()["run"].as_str().unwrap().to_owned();
    operator.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("run_finished");
    project.add("broken", &BROKEN.replace("exit 3", "exit 0"));
    let address = format!("/api/v1/runs/{run}/replan");
    let hash =
        operator.post(&address, &json!({"workflow": "broken", "preview": true})).json()["comparison"]["hash"].clone();
    let done = operator.post(&address, &json!({"workflow": "broken", "expect": hash}));
    assert_eq!((done.status, &done.json()["outcome"]["outcome"]), (200, &json!("restarted")), "{}", done.body);
    let unknown = operator.post(&address, &json!({"workflow": "nosuch", "preview": true}));
    assert_eq!(unknown.status, 404);
}
