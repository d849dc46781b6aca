//! Tests what one machine reports about the work of another.

use std::io::Read;
use std::process::Stdio;

use longhaul_store::conformance::server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::binary::{Told, told};
use crate::crash::trial::until;
use crate::postgres::machine::{Machine, Process};

/// Whichever machine records an event, alpha runs the steps.
const WORK: &str = "
name: work
do:
  - {id: one, run: 'printf one', runs_on: alpha, workspace: any}
  - {id: go, approve: Continue?}
  - {id: two, run: 'echo oh no >&2; exit 3', runs_on: alpha, workspace: any}
";

fn two(text: &str) -> [Machine; 2] {
    let address = server::shared().address();
    ["alpha", "beta"].map(|name| Machine::new(name, text, &address))
}

fn ask(machine: &Machine, args: &[&str]) -> Told {
    told(machine.command(args).output().unwrap())
}

fn numbers(told: &Told) -> Vec<u64> {
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    told.stdout.lines().map(number).collect()
}

/// From the first event to the last, whichever machine recorded it and however fast it was.
#[test]
fn a_run_whose_steps_others_make_is_told_whole() {
    let [alpha, beta] = two(WORK);
    let _worker = alpha.worker();
    let asked = ask(&beta, &["run", "work", "--run-id", "text"]);
    assert_eq!(asked.code, 3, "{}", asked.stderr);
    for line in ["✓ one", "? go: Continue?", "longhaul approve text go"] {
        assert_eq!(asked.stdout.matches(line).count(), 1, "{line}: {}", asked.stdout);
    }
    let first = ask(&beta, &["run", "work", "--run-id", "json", "--json"]);
    assert_eq!(first.code, 3, "{}", first.stderr);
    let known = numbers(&ask(&beta, &["events", "json", "--json"]));
    assert_eq!(numbers(&first), known);
    for run in ["text", "json"] {
        assert_eq!(ask(&beta, &["approve", run]).code, 0);
    }
    // Events that were printed before are not printed again.
    let rest = ask(&beta, &["resume", "json", "--json"]);
    until("the end", || beta.trial.is_over("json"));
    if !rest.stderr.contains("is over") {
        let whole = numbers(&ask(&beta, &["events", "json", "--json"]));
        assert!(whole.ends_with(&numbers(&rest)) && rest.stdout.contains("run_finished"), "{}", rest.stdout);
        assert!(!numbers(&rest).iter().any(|number| known.contains(number)), "{}", rest.stdout);
    }
}

/// An empty output would be wrong: the output is on another machine, and the message says so.
#[test]
fn what_was_printed_on_another_machine_is_said_to_be_there() {
    let [alpha, beta] = two("name: work\ndo:\n  - {id: one, run: 'printf one'}\n");
    let (node, there) = (beta.serve(&["--no-drive"]), alpha.serve(&[]));
    let run = node.start("key");
    until("the end", || beta.trial.is_over(&run));
    let attempts = node.client.json(&format!("/api/v1/runs/{run}/attempts?path=one"));
    assert_eq!(attempts["attempts"][0]["host"], "alpha", "{attempts}");
    for what in ["printed", "transcript"] {
        let got = node.client.get(&format!("/api/v1/runs/{run}/{what}?path=one&attempt=1"));
        assert_eq!(got.status, 404, "{}", got.body);
        assert!(got.body.contains("`one` ran on alpha"), "{}", got.body);
        assert!(got.body.contains(&format!("longhaul logs {run} one")), "{}", got.body);
    }
    assert_eq!(there.client.json(&format!("/api/v1/runs/{run}/printed?path=one&attempt=1"))["text"], "one");
    let files = format!("/api/v1/runs/{run}/artifacts");
    assert_eq!(node.client.json(&files)["elsewhere"], serde_json::json!(["alpha"]));
    assert!(there.client.json(&files).get("elsewhere").is_none());
    let one = node.client.get(&format!("/api/v1/runs/{run}/artifact?name=steps/one/@1/stdout"));
    assert!(one.status == 404 && one.body.contains("others are on alpha"), "{}", one.body);
}

/// The message names the machine without the agent, and what to do.
#[test]
fn a_prompt_without_an_agent_names_the_machine() {
    let [alpha, beta] = two("name: work\ndo:\n  - {id: one, prompt: hello, runs_on: alpha, workspace: any}\n");
    let without = |machine: &Machine, args: &[&str]| {
        let mut command = machine.command(args);
        command.env("LONGHAUL_AGENT", "auto").env("PATH", "/nowhere").stderr(Stdio::piped()).stdout(Stdio::piped());
        command
    };
    let _worker = Process(without(&alpha, &["worker", "--quiet"]).spawn().unwrap());
    let told = told(without(&beta, &["run", "work"]).output().unwrap());
    assert!(
        told.stdout.contains("on alpha, which took this step") && told.stdout.contains("`runs_on`"),
        "{} {}",
        told.stdout,
        told.stderr
    );
}

#[test]
fn a_worker_says_what_it_takes_and_what_came_of_it() {
    const LONG: &str = "name: work\ndo:\n  - {id: one, run: printf one}\n  - {id: two, run: sleep 600}\n";
    let [alpha, beta] = two(LONG);
    let mut worker = Process(alpha.command(&["worker"]).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(ask(&beta, &["run", "work", "--run-id", "taken", "--queue"]).code, 0);
    until("the step", || beta.trial.longhaul(&["status", "taken"], None).stdout.contains("running    two"));
    kill_process(Pid::from_child(&worker.0), Signal::TERM).unwrap();
    let mut said = String::new();
    worker.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let lines =
        ["taken one: taken", "taken one: done", "taken two: taken", "taken two: stopped, and handed back", "stopped;"];
    let found: Vec<Option<usize>> = lines.iter().map(|line| said.find(line)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{said}");
}
