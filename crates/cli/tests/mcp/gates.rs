//! Gates: the order to stop, the words that are understood, and people who are asked directly.

use serde_json::{Value, json};

use crate::mcp::project::Project;
use crate::mcp::wire::{NEWEST, Pipes};

/// A run that stands at the review of its plan.
fn at_the_gate(client: &mut Pipes) -> Value {
    let run = client.call("start", json!({"workflow": "relay", "task": "a house"}))["run"].clone();
    let at = client.call("submit", json!({"run": run, "step": "plan", "attempt": 1, "output": "P1"}));
    assert_eq!((&at["status"], at["ready"].as_array().unwrap().len()), (&json!("awaiting-approval"), 0));
    run
}

#[test]
fn a_gate_comes_with_the_order_to_stop() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let run = at_the_gate(&mut client);
    let picture = client.call("next", json!({"run": run}));
    let gate = &picture["gates"][0];
    assert_eq!(
        (&gate["human_approval_required"], &gate["content"], &gate["question"]),
        (&json!(true), &json!("P1"), &json!("Is the plan good?"))
    );
    assert_eq!(gate["decisions"], json!(["approve", "deny", "edit"]));
    assert!(picture["outputs"].is_null(), "what nobody has approved is no output: {picture}");
    let text = client.told("next", json!({"run": run}));
    for part in ["STOP", "P1", "Is the plan good?", "End your turn now", "Never decide yourself", "tool `answer`"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_words_of_a_human_decide() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    for (answer, then) in [
        (json!({"decision": "y"}), "Build P1 in 7 lines"),
        (json!({"decision": "edit", "value": "P2"}), "Build P2 in 7 lines"),
    ] {
        let run = at_the_gate(&mut client);
        let mut call = answer;
        call["run"] = run;
        let after = client.call("answer", call);
        assert!(after["ready"][0]["prompt"].as_str().unwrap().starts_with(then), "{after}");
        assert_eq!(after["auto_ran"][0]["id"], "count");
    }
    let run = at_the_gate(&mut client);
    assert!(client.refused("answer", json!({"run": run, "decision": "maybe"})).contains("approve, deny, edit"));
    assert!(client.refused("answer", json!({"run": run, "decision": "edit"})).contains("needs a `value`"));
    assert!(
        client.refused("answer", json!({"run": run, "step": "build", "decision": "y"})).contains("these do: `plan`")
    );
    assert_eq!(client.call("status", json!({"run": run}))["status"], "awaiting-approval");
    let denied = client.call("answer", json!({"run": run, "decision": "no", "comment": "too tall"}));
    assert_eq!(denied["status"], "failed", "{denied}");
}

/// A server whose client can ask whoever is behind it.
fn asking(project: &Project, person: Value) -> Pipes {
    let mut client = Pipes::silent(project.command(&[]));
    client.hello("ed", json!({"elicitation": {}}));
    client.person = Some(person);
    client
}

#[test]
fn a_client_that_can_ask_asks_while_the_call_waits() {
    let project = Project::new();
    let mut client = asking(&project, json!({"action": "accept", "content": {"decision": "edit", "value": "P3"}}));
    let run = client.call("start", json!({"workflow": "relay"}))["run"].clone();
    let after = client.call("submit", json!({"run": run, "step": "plan", "output": "P1"}));
    assert!(after["ready"][0]["prompt"].as_str().unwrap().starts_with("Build P3"), "{after}");
    let asked = client.beside.iter().find(|message| message["method"] == "elicitation/create").unwrap();
    let form = &asked["params"];
    assert!(form["message"].as_str().unwrap().starts_with("Is the plan good?"), "{form}");
    assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["approve", "deny", "edit"]));
}

#[test]
fn a_model_can_not_decide_for_a_human_who_does_not() {
    let project = Project::new();
    let mut client = asking(&project, json!({"action": "decline"}));
    let run = client.call("start", json!({"workflow": "relay"}))["run"].clone();
    let at = client.call("submit", json!({"run": run, "step": "plan", "output": "P1"}));
    assert_eq!(at["status"], "awaiting-approval");
    let said = client.refused("answer", json!({"run": run, "decision": "approve"}));
    assert!(said.contains("has not decided"), "{said}");
    assert_eq!(client.call("status", json!({"run": run}))["status"], "awaiting-approval");
}

/// A request of the newest protocol, which carries all that is known of the client.
fn alone(client: &mut Pipes, tool: &str, arguments: Value, said: Option<(Value, &Value)>) -> Value {
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "ed", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": about});
    if let Some((responses, state)) = said {
        params["inputResponses"] = responses;
        params["requestState"] = state.clone();
    }
    client.request("tools/call", params)
}

#[test]
fn in_the_newest_protocol_the_call_is_made_again_with_the_answer() {
    let project = Project::new();
    let run = alone(&mut Pipes::silent(project.command(&[])), "start", json!({"workflow": "relay"}), None)["structuredContent"]["run"].clone();
    let submission = json!({"run": run, "step": "plan", "attempt": 1, "output": "P1"});
    let asks = alone(&mut Pipes::silent(project.command(&[])), "submit", submission.clone(), None);
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let (key, request) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let state = &asks["requestState"];
    let say = |key: &str| Some((json!({key: {"action": "accept", "content": {"decision": "approve"}}}), state));
    // Another server, and first an answer to something that nobody was shown.
    let mut client = Pipes::silent(project.command(&[]));
    let wrong = alone(&mut client, "submit", submission.clone(), say("plan#0123456789abcdef"));
    assert_eq!(wrong["resultType"], "input_required", "{wrong}");
    let after = alone(&mut client, "submit", submission, say(key));
    let prompt = after["structuredContent"]["ready"][0]["prompt"].as_str().unwrap_or_else(|| panic!("{after}"));
    assert!(prompt.starts_with("Build P1"), "{prompt}");
}

#[test]
fn a_call_that_is_made_again_starts_nothing_twice() {
    let project = Project::new();
    let gate = "name: gate\ndo:\n  - {id: ok, approve: Continue?}\n  - {id: then, prompt: go}\n";
    std::fs::write(project.path().join(".longhaul/workflows/gate.yaml"), gate).unwrap();
    let mut client = Pipes::silent(project.command(&[]));
    for (tool, count) in [("start", 1), ("run", 2)] {
        let asks = alone(&mut client, tool, json!({"workflow": "gate"}), None);
        let key = asks["inputRequests"].as_object().unwrap_or_else(|| panic!("{asks}")).keys().next().unwrap();
        let said = json!({key: {"action": "accept", "content": {"decision": "approve"}}});
        let after = alone(&mut client, tool, json!({"workflow": "gate"}), Some((said, &asks["requestState"])));
        assert_eq!(after["isError"], false, "{after}");
        let runs = alone(&mut client, "runs", json!({}), None)["structuredContent"]["runs"].as_array().unwrap().len();
        assert_eq!(runs, count, "{tool}");
    }
}
