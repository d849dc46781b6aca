//! Hosted runs: handed out, closed, taken up again after a kill, raced for.

use serde_json::{Value, json};

use crate::mcp::project::Project;
use crate::mcp::wire::do_all;

fn names(picture: &Value) -> Vec<&str> {
    picture["ready"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect()
}

#[test]
fn a_batch_is_handed_out_with_all_that_closes_it() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let first = client.call("start", json!({"workflow": "three", "task": "a friend"}));
    let run = first["run"].as_str().unwrap().to_owned();
    assert_eq!((names(&first), &first["status"], &first["total"]), (vec!["a", "b", "c"], &json!("ready"), &json!(4)));
    let prompt = first["ready"][0]["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("do a\n"), "{prompt}");
    for part in [
        format!(r#"{{"run":"{run}","step":"a","attempt":1, "output": "<the result>"}}"#),
        "every 3 to 5 minutes".to_owned(),
    ] {
        assert!(prompt.contains(&part), "{part}: {prompt}");
    }
    assert_eq!(client.call("next", json!({"run": run}))["ready"], first["ready"]);
    let seen = client.call("status", json!({"run": run}));
    assert_eq!(
        (&seen["status"], names(&seen).len(), seen["running"].as_array().unwrap().len()),
        (&json!("awaiting-outputs"), 0, 3)
    );
    let after = client.call("submit", json!({"run": run, "step": "a", "attempt": 1, "output": "1"}));
    assert_eq!((names(&after), &after["completed"]), (vec!["b", "c"], &json!(1)));
    client.call("submit", json!({"run": run, "step": "b", "output": "2"}));
    let last = client.call("submit", json!({"run": run, "step": "c", "output": "3", "tokens": 12}));
    let prompt = last["ready"][0]["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("123 for a friend\n") && prompt.contains("There are: x, y, z."), "{prompt}");
    let over = client.call("submit", json!({"run": run, "step": "d", "output": "done"}));
    assert_eq!((&over["status"], &over["completed"]), (&json!("succeeded"), &json!(4)));
    assert_eq!(client.told("output", json!({"run": run, "step": "all"})), "done");
}

#[test]
fn a_wrong_submission_harms_nothing() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let run = client.call("start", json!({"workflow": "three"}))["run"].as_str().unwrap().to_owned();
    let mut refused = |arguments: Value| {
        let mut call = json!({"run": run});
        call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        client.refused("submit", call)
    };
    assert!(refused(json!({"step": "d", "output": "x"})).contains("not ready yet"));
    assert!(refused(json!({"step": "nowhere", "output": "x"})).contains("nowhere"));
    assert!(refused(json!({"step": "a", "attempt": 9, "output": "x"})).contains('9'));
    assert!(refused(json!({"step": "a"})).contains("either `output`"));
    assert!(refused(json!({"step": "a", "output": "x", "error": "y"})).contains("either `output`"));
    client.call("submit", json!({"run": run, "step": "a", "output": "1"}));
    assert!(!client.refused("submit", json!({"run": run, "step": "a", "output": "again"})).is_empty());
    assert_eq!(client.call("status", json!({"run": run}))["completed"], 1);
    assert_eq!(client.told("output", json!({"run": run, "step": "x"})), "1");
}

#[test]
fn the_server_can_be_killed_between_any_two_calls() {
    let project = Project::new();
    // A new server for every call, and each is killed with it.
    let again = |tool: &str, arguments: Value| project.pipes("ed").call(tool, arguments);
    let first = again("start", json!({"workflow": "relay", "task": "a house"}));
    let run = first["run"].clone();
    let over = do_all(first, |step| {
        let again = again("next", json!({"run": run}));
        assert_eq!(again["ready"][0], *step, "the same step under the same attempt");
        again("heartbeat", json!({"run": run, "step": step["path"], "attempt": step["attempt"], "hint": "at it"}));
        let output = format!("{} is done", step["step"].as_str().unwrap());
        let after =
            again("submit", json!({"run": run, "step": step["path"], "attempt": step["attempt"], "output": output}));
        if after["status"] != "awaiting-approval" {
            return after;
        }
        again("status", json!({"run": run}));
        again("answer", json!({"run": run, "decision": "yes"}))
    });
    assert_eq!(over["status"], "succeeded", "{over}");
    assert_eq!(again("output", json!({"run": run, "step": "built"}))["value"], "build is done");
    let begun = project.longhaul(&["events", run.as_str().unwrap(), "--json"]).stdout;
    let begun = begun.lines().filter(|line| line.contains("attempt_succeeded")).count();
    assert_eq!(begun, 3, "every step was done once");
}

#[test]
fn of_two_clients_one_gets_a_step_and_one_result_counts() {
    let project = Project::new();
    let (mut one, mut two) = (project.pipes("one"), project.pipes("two"));
    let run = one.call("start", json!({"workflow": "three"}))["run"].clone();
    let seen = two.call("next", json!({"run": run}));
    assert_eq!((names(&seen).len(), &seen["status"]), (0, &json!("awaiting-outputs")));
    assert!(seen["message"].as_str().unwrap().contains("handed out to one"), "{seen}");
    // Both say that they have done it: the attempt is open for whoever names it first.
    let results: Vec<Value> = std::thread::scope(|scope| {
        let submit = |client: &'static str| {
            let (run, mut client) = (run.clone(), project.pipes(client));
            move || client.tool("submit", json!({"run": run, "step": "a", "attempt": 1, "output": "mine"}))
        };
        let both = [scope.spawn(submit("one")), scope.spawn(submit("one"))];
        both.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let failed: Vec<&Value> = results.iter().filter(|result| result["isError"] == true).collect();
    assert_eq!(failed.len(), 1, "{results:?}");
    assert_eq!(one.call("status", json!({"run": run}))["completed"], 1);
}

#[test]
fn a_client_that_closes_its_pipe_ends_the_server() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    client.call("start", json!({"workflow": "three"}));
    assert_eq!(client.close(), 0);
}

/// The call is not answered any more; the command was stopped in order, which is no failed try, and the run continues elsewhere.
#[test]
fn a_call_that_is_open_when_its_client_leaves_loses_nothing() {
    let project = Project::new();
    let text = "name: slow\ndo:\n  - {id: it, run: 'touch begun; until test -e go; do sleep 0.05; done; echo done', output: end}\noutputs: {end: end}\n";
    std::fs::write(project.path().join(".longhaul/workflows/slow.yaml"), text).unwrap();
    let mut client = project.pipes("ed");
    let call = json!({"name": "run", "arguments": {"workflow": "slow", "wait_seconds": 600}});
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}));
    while !project.path().join("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(client.close(), 0);
    let mut other = project.pipes("ed");
    let run = other.call("runs", json!({}))["runs"][0]["run"].as_str().unwrap().to_owned();
    std::fs::write(project.path().join("go"), "").unwrap();
    let told = project.longhaul(&["resume", &run]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    let events = project.longhaul(&["events", &run, "--json"]).stdout;
    assert_eq!(events.matches("\"attempt_succeeded\"").count(), 1, "{events}");
    assert_eq!(events.matches("\"lost\"").count(), 0, "it was stopped in order: {events}");
    assert_eq!(other.call("output", json!({"run": run}))["value"], json!({"end": "done"}));
}
