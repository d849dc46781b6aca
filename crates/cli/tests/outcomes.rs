//! Tests the results that commands report: applied, and what follows; or rejected, and who was first.
//!
//! **Invariant:** of commands that exclude each other, exactly one is applied, whichever process sends it.

use crate::binary::project::{Project, RUN};
use crate::binary::told;
use serde_json::{Value, json};

const GATE: &str = "do:\n  - {id: go, approve: Continue?}\n  - {id: a, run: echo done}\n";

/// A run that waits at its gate, and that no engine runs.
fn waiting(workflow: &str) -> Project {
    let project = Project::new(workflow);
    assert_eq!(project.run().code, 3);
    project
}

fn status(project: &Project) -> Value {
    project.json(&["status", RUN, "--json"])["status"].clone()
}

#[test]
fn an_answer_without_an_engine_is_applied_and_says_how_to_continue() {
    let project = waiting(GATE);
    let said = project.longhaul(&["approve", RUN]);
    assert_eq!(said.stderr.trim(), format!("Approved. No engine is running it; continue with: longhaul resume {RUN}"));
    assert_eq!((said.code, &project.found("answered")["answer"]), (0, &json!("approve")));
    let late = project.longhaul(&["deny", RUN]);
    let by = project.found("answered")["by"].as_str().unwrap().to_owned();
    assert_eq!(late.code, 1, "{}", late.stderr);
    assert!(late.stderr.contains("`go` has been answered") && late.stderr.contains(&format!("{by} approved it at")));
    let late = project.longhaul(&["deny", RUN, "go"]);
    assert_eq!(late.code, 1);
    assert!(late.stderr.contains(&format!("`go` has been answered: {by} approved it at")), "{}", late.stderr);
    let late = project.longhaul(&["deny", RUN, "--json"]);
    let data: Value = serde_json::from_str(&late.stdout).unwrap();
    assert_eq!((late.code, &data["outcome"], &data["kind"]), (1, &json!("rejected"), &json!("conflict")), "{data}");
    assert_eq!((&data["first"]["what"], &data["first"]["by"]), (&json!("approved"), &json!(by)), "{data}");
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    let over = project.longhaul(&["approve", RUN, "go"]);
    assert!(over.code == 1 && over.stderr.contains(&format!("{by} approved it at")), "{}", over.stderr);
}

#[test]
fn what_needs_no_engine_follows_at_once() {
    let project = waiting(GATE);
    let said = project.longhaul(&["deny", RUN, "--reason", "too risky"]);
    assert_eq!((said.code, said.stderr.trim()), (0, "Denied. The run failed: `go`: denied: too risky."));
    assert_eq!(status(&project), "failed");
    let again = project.longhaul(&["retry", RUN]);
    assert!(again.stderr.starts_with("Restarted. "), "{}", again.stderr);
    let over = project.json(&["cancel", RUN, "--json"]);
    assert_eq!(
        (&over["outcome"], &over["then"], &over["run"]),
        (&json!("cancelled"), &json!("cancelled"), &json!(RUN))
    );
    assert!(over["by"].is_string() && over["at"].is_i64(), "{over}");
    assert_eq!(status(&project), "cancelled");
    project.refuses(&["cancel", RUN], "the run is over: it was cancelled: ");
    project.refuses(&["signal", RUN, "x"], "the run is over: it was cancelled");
}

#[test]
fn a_pause_is_named_with_who_was_first() {
    let project = waiting(GATE);
    assert_eq!(project.longhaul(&["pause", RUN]).stderr.trim(), "Paused. Nothing new starts.");
    project.refuses(&["pause", RUN], "it is paused already: ");
    let said = project.longhaul(&["approve", RUN]);
    assert_eq!(said.stderr.trim(), format!("Approved. The run is paused; continue with: longhaul unpause {RUN}"));
    let said = project.longhaul(&["unpause", RUN]);
    assert!(said.stderr.starts_with("Unpaused. No engine is running it"), "{}", said.stderr);
    project.refuses(&["unpause", RUN], "it is not paused");
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn a_hook_for_failures_waits_for_an_engine() {
    let project = Project::new(&format!("on_failure: {{notify: hook}}\n{GATE}"));
    let hook = "[channels.hook]\nkind = 'command'\ncommand = ['sh', '-c', 'echo told >> \"$LOG\"']\n";
    project.user_settings(hook);
    assert_eq!(project.run().code, 3);
    let said = project.longhaul(&["deny", RUN]);
    assert!(said.stderr.starts_with("Denied. No engine is running it"), "{}{}", said.stdout, said.stderr);
    assert!(!project.path("log").exists());
    assert_eq!(project.longhaul(&["resume", RUN]).code, 1);
    assert_eq!(status(&project), "failed");
    assert_eq!(std::fs::read_to_string(project.path("log")).unwrap(), "told\n");
}

#[test]
fn of_many_processes_one_is_applied_and_the_others_name_it() {
    let project = waiting(GATE);
    let words = ["approve", "deny", "approve", "deny", "cancel", "deny"];
    let children: Vec<_> = words
        .iter()
        .map(|word| {
            let mut command = project.command(&[word, RUN]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ends: Vec<_> = children.into_iter().map(|child| told(child.wait_with_output().unwrap())).collect();
    let answers = project.events().into_iter().filter(|event| event["event"] == "answered").collect::<Vec<_>>();
    let answerers = || words.iter().zip(&ends).filter(|(word, _)| **word != "cancel");
    let applied = answerers().filter(|(_, end)| end.code == 0).count();
    assert_eq!(applied, answers.len(), "one event for each that was applied");
    assert!(applied <= 1, "{answers:?}");
    for (word, end) in answerers().filter(|(_, end)| end.code != 0) {
        assert_eq!(end.code, 1, "{word}: {}", end.stderr);
        let says_why = end.stderr.contains(" it at ")
            || end.stderr.contains("the run is over")
            || end.stderr.contains("asks nothing");
        assert!(says_why, "{word}: {}", end.stderr);
    }
    assert!(applied == 1 || project.found("cancel_requested") != Value::Null);
}

#[test]
fn a_running_engine_continues_by_itself() {
    let project = waiting(GATE);
    let worker = project.command(&["worker"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let _worker = Ended(worker);
    let there =
        || project.json(&["workers", "--json"])["workers"].as_array().is_some_and(|workers| !workers.is_empty());
    until(there);
    let said = project.longhaul(&["approve", RUN]);
    assert_eq!(said.stderr.trim(), "Approved. The run continues.");
    until(|| status(&project) == "succeeded");
}

/// A process that ends with the test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("it did not come to that");
}
