//! What a person stopped stays stopped: no engine continues it until a person resumes it.

use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use super::{Night, background, signal};
use crate::binary::project::RUN;
use crate::binary::told;
use crate::crash::trial::until;

const STEPS: &str = r#"
name: steps
do:
  - {id: a, run: 'echo a >> "$LOG"; until test -e go; do sleep 0.05; done'}
  - {id: b, run: 'echo b >> "$LOG"'}
"#;

/// A run that a person stopped with Ctrl-C in its first step.
fn stopped() -> Night {
    let night = Night::new(STEPS);
    let run = background(night.command(&["run", "w.yaml", "--run-id", RUN]));
    until("the first step", || night.0.log().len() == 1);
    signal("-INT", run.id().into());
    let said = told(run.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{}", said.stderr);
    assert!(said.stderr.contains("stopped; continue with: longhaul resume run-1"), "{}", said.stderr);
    night
}

/// Another run that the engine must have done, so that it had the time for the stopped one too.
fn another_is_done(night: &Night, name: &str) {
    let other = "name: other\ndo: [{id: x, run: 'true'}]\n";
    std::fs::write(night.0.path("other.yaml"), other).unwrap();
    night.0.ok(&["run", "other.yaml", "--run-id", name, "--queue"]);
    until("the other run", || night.0.json(&["status", name, "--json"])["status"] == "succeeded");
    // A worker takes abandoned runs at its next look.
    std::thread::sleep(Duration::from_secs(3));
}

fn is_as_it_was(night: &Night, events: &[Value], by: &str) {
    assert_eq!(night.0.events(), events, "{by}");
    assert_eq!(night.stands()["is"], "stopped", "{by}");
    assert_eq!(night.0.log().len(), 1, "{by}");
}

fn killed(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn no_engine_continues_a_stopped_run_and_a_person_does() {
    let night = stopped();
    let events = night.0.events();
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["run_started", "attempt_started", "run_stopped", "attempt_stopped"]);
    for args in [&["runs"][..], &["status", RUN], &["events", RUN], &["up", "--status"]] {
        night.0.longhaul(args);
    }
    is_as_it_was(&night, &events, "looking");
    let worker = background(night.command(&["worker"]));
    another_is_done(&night, "after-worker");
    is_as_it_was(&night, &events, "worker");
    killed(worker);
    let server = background(night.command(&["serve", "--listen", "127.0.0.1:0"]));
    another_is_done(&night, "after-serve");
    is_as_it_was(&night, &events, "serve");
    killed(server);
    let ui = night.0.longhaul(&["ui", "--print"]);
    another_is_done(&night, "after-ui");
    is_as_it_was(&night, &events, "ui --print");
    let pid = ui.stderr.split("kill ").nth(1).and_then(|pid| pid.trim().parse().ok());
    signal("-9", pid.unwrap_or_else(|| panic!("{}", ui.stderr)));
    night.0.ok(&["up"]);
    another_is_done(&night, "after-up");
    is_as_it_was(&night, &events, "up");
    night.go();
    let resumed = night.0.longhaul(&["resume", RUN]);
    assert_eq!(resumed.code, 0, "{}{}", resumed.stdout, resumed.stderr);
    assert_eq!(night.0.log(), ["a", "a", "b"]);
}

#[test]
fn a_run_is_stopped_from_elsewhere_and_its_engine_ends_its_steps() {
    let night = Night::new(STEPS);
    assert_eq!(night.detach().code, 0);
    until("the first step", || night.0.log().len() == 1);
    let said = night.0.longhaul(&["stop", RUN]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stderr.contains("Stopped. No engine continues it; continue with: longhaul resume run-1"),
        "{}",
        said.stderr
    );
    until("its step has ended", || night.0.events().iter().any(|event| event["event"] == "attempt_stopped"));
    let again = night.0.longhaul(&["stop", RUN]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("it is stopped already"), "{}", again.stderr);
    let listed = night.0.ok(&["runs"]);
    assert!(listed.contains("stopped by ") && listed.contains("longhaul resume run-1"), "{listed}");
    // It is cancelled without being resumed.
    assert_eq!(night.0.longhaul(&["cancel", RUN]).code, 0);
    assert_eq!(night.stands()["is"], "cancelled");
}

/// The end of a process is not the decision of a person.
#[test]
fn a_run_whose_engine_is_ended_is_not_stopped() {
    let night = Night::new(STEPS);
    let run = background(night.command(&["run", "w.yaml", "--run-id", RUN]));
    until("the first step", || night.0.log().len() == 1);
    signal("-TERM", run.id().into());
    let said = told(run.wait_with_output().unwrap());
    assert!(said.stderr.contains("is not stopped, but no engine is running it here any more"), "{}", said.stderr);
    assert_eq!(night.stands()["is"], "no_engine");
    night.go();
    night.0.ok(&["up"]);
    night.until_it_is("succeeded");
}

#[test]
fn an_engine_that_is_killed_after_a_stop_leaves_the_run_stopped() {
    let night = Night::new(STEPS);
    assert_eq!(night.detach().code, 0);
    until("the first step", || night.0.log().len() == 1);
    let worker = night.status()["engine"]["workers"][0]["pid"].as_u64().unwrap();
    // It cannot see the stop before it is killed.
    signal("-STOP", worker);
    assert_eq!(night.0.longhaul(&["stop", RUN]).code, 0);
    signal("-9", worker);
    until("another worker", || {
        let pid = night.status()["engine"]["workers"][0]["pid"].as_u64();
        pid.is_some_and(|pid| pid != worker)
    });
    until("the attempt is over", || night.0.json(&["status", RUN, "--json"])["current"].is_null());
    assert_eq!(night.stands()["is"], "stopped");
    assert_eq!(night.0.log(), ["a"]);
}
