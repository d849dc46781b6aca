//! Tests texts that are not messages, and wrong messages.

use serde_json::{Value, json};

use crate::mcp::project::Project;
use crate::mcp::wire::Pipes;

#[test]
fn lines_that_are_no_messages_are_answered_and_the_server_goes_on() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    for line in [
        "{",
        "nonsense",
        "{\"jsonrpc\":\"2.0\",",
        "\u{feff}]",
        "{\"a\":\"\\ud800\"",
        "[[[[[",
        "{\"jsonrpc\":\"2.0\",\"id\":1",
    ] {
        client.send_raw(line.as_bytes());
        client.send_raw(b"\n");
        let answer = client.hear();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{line}: {answer}");
    }
    client.send_raw(b"\xff\xfe\n");
    assert_eq!(client.hear()["error"]["code"], -32700);
    client.send_raw(format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000)).as_bytes());
    assert_eq!(client.hear()["error"]["code"], -32700);
    for line in ["[]", "3", "null", "\"x\""] {
        client.send_raw(format!("{line}\n").as_bytes());
        assert_eq!(client.hear()["error"]["code"], -32600, "{line}");
    }
    client.send_raw(b"\n  \n\t\n");
    assert!(client.call("runs", json!({}))["runs"].as_array().unwrap().is_empty());
}

#[test]
fn a_message_that_is_too_long_costs_only_itself() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let long = vec![b'a'; 9 * 1024 * 1024];
    client.send_raw(&long);
    client.send_raw(b"\n");
    let answer = client.hear();
    assert!(answer["error"]["message"].as_str().unwrap().contains("more than"), "{answer}");
    client.call("runs", json!({}));
}

#[test]
fn requests_that_make_no_sense_are_errors_of_the_protocol() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let mut code = |method: &str, params: Value| client.answer(method, params)["error"]["code"].clone();
    assert_eq!(code("tools/nothing", json!({})), -32601);
    assert_eq!(code("tools/call", json!({"name": "sttaus", "arguments": {}})), -32602);
    assert_eq!(code("resources/read", json!({"uri": "longhaul://run/../../etc/passwd"})), -32002);
    assert_eq!(code("resources/read", json!({"uri": "file:///etc/passwd"})), -32002);
    assert_eq!(code("prompts/get", json!({"name": "nowhere"})), -32602);
    let wrong = client.answer("tools/call", json!({"name": "sttaus", "arguments": {}}));
    assert!(wrong["error"]["message"].as_str().unwrap().contains("did you mean `status`?"), "{wrong}");
}

#[test]
fn arguments_are_held_to_the_schema() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    assert_eq!(
        client.refused("start", json!({"workflw": "three"})),
        "there is no argument `workflw`; did you mean `workflow`?"
    );
    assert_eq!(
        client.refused("start", json!({"workflow": "thre"})),
        "there is no workflow `thre`; did you mean `three`?"
    );
    assert!(client.refused("start", json!({})).starts_with("the argument `workflow` is missing"));
    assert!(client.refused("start", json!({"workflow": ["three"]})).starts_with("an argument does not fit"));
    assert!(client.refused("status", json!({"run": "zzzz"})).starts_with("there is no run `zzzz`"));
    assert!(client.refused("runs", json!({"status": "runing"})).contains("did you mean `running`?"));
    for workflow in ["../three", "/etc/passwd", "three.yaml", ".", ""] {
        assert!(
            client.refused("workflow_show", json!({"workflow": workflow})).starts_with("there is no workflow"),
            "{workflow}"
        );
    }
}

#[test]
fn whatever_is_sent_the_server_answers_the_next_question() {
    let project = Project::new();
    let mut client = Pipes::silent(project.command(&[]));
    client.hello("\u{1b}[31m\u{0}ed\nforged", json!({}));
    let run = client
        .call("start", json!({"workflow": "three", "task": "$(touch pwned) `id` {{ 7*7 }} \u{1b}]0;x\u{7}"}))["run"]
        .clone();
    let tools = client.request("tools/list", json!({}))["tools"].as_array().unwrap().clone();
    let odd = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!("\u{0}\u{1b}[2J"),
        json!([[[]]]),
        json!({"a": {"b": []}}),
        json!("../../x"),
        run,
    ];
    for tool in &tools {
        let keys: Vec<&String> = tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        for value in &odd {
            let arguments: Value =
                keys.iter().map(|key| ((*key).clone(), value.clone())).collect::<serde_json::Map<_, _>>().into();
            let answer = client.answer("tools/call", json!({"name": tool["name"], "arguments": arguments}));
            assert!(answer.get("result").is_some() || answer.get("error").is_some(), "{answer}");
        }
    }
    assert!(!project.path().join("pwned").exists());
    client.call("runs", json!({}));
}
