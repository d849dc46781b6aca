//! Tests moving a store from a file into a database and back, with a waiting run and a stopped one.

use std::process::Stdio;

use longhaul_store::conformance::server;
use serde_json::Value;

use crate::crash::trial::{RUN, Trial, end, is_sound, until};
use crate::postgres::machine::Process;

const WORK: &str = r#"
name: work
do:
  - {id: before, run: 'echo before >> "$LOG"; test -e "$LOG.go" || sleep 300; echo seen'}
  - {id: ok, approve: Continue?}
  - {id: after, run: 'echo after >> "$LOG"; echo done', output: end}
outputs: {end: end}
"#;

fn ok(trial: &Trial, args: &[&str]) -> String {
    let told = trial.longhaul(args, None);
    assert_eq!(told.code, 0, "{args:?}: {}", told.stderr);
    told.stdout + &told.stderr
}

#[test]
fn runs_in_flight_are_parked_moved_and_go_on() {
    let address = server::shared().address();
    let here = Trial::of("work", WORK);
    ok(&here, &["run", "work.yaml", "--run-id", RUN, "--queue"]);
    let worker = here.worker(None);
    until("the first step", || here.log().contains_key("before"));
    let file = here.longhaul(&["store", "path"], None).stdout.trim().to_owned();
    let told = here.longhaul(&["store", "copy", &file, &address], None);
    assert!(told.code != 0 && told.stderr.contains("1 attempt under way"), "{}", told.stderr);
    assert_eq!(worker.stop(), Some(0));
    let said = ok(&here, &["store", "copy", &file, &address]);
    assert!(said.contains("1 run with"), "{said}");
    let told = here.longhaul(&["store", "copy", &file, &address], None);
    assert!(told.code != 0 && told.stderr.contains("already"), "{}", told.stderr);

    std::fs::write(here.path().join("log.go"), "").unwrap();
    let there = here.kept_in(&address);
    let worker = there.worker(None);
    until("the gate", || there.status(RUN) == "waiting");
    assert_eq!(worker.stop(), Some(0));
    // From now on other machines could continue it, but its files are here.
    let settled = |event: &&serde_json::Value| event["event"] == "host_settled";
    let host = there.events().iter().find(settled).map(|event| event["host"].as_str().unwrap().to_owned());
    let folder = there.path().canonicalize().unwrap();
    assert!(host.as_ref().is_some_and(|host| host.ends_with(&format!(":{}", folder.display()))), "{host:?}");
    assert!(ok(&there, &["store", "check"]).contains("all is well"));
    ok(&there, &["store", "backup", "back.db"]);

    let back = there.kept_in("back.db");
    assert_eq!(back.status(RUN), "waiting");
    ok(&back, &["approve", RUN]);
    ok(&back, &["resume", RUN]);
    let events = back.events();
    is_sound(&events);
    assert_eq!(end(&events).outputs["end"], "done");
    assert_eq!(back.log()["after"], 1);
    assert!(ok(&back, &["store", "check"]).contains("all is well"));
    ok(&back, &["store", "backup", "again.db"]);
    assert!(back.longhaul(&["store", "backup", "again.db"], None).stderr.contains("exists"));
}

const PLACED: &str = r#"
name: work
do:
  - {id: before, run: 'echo before >> "$LOG"'}
  - {id: ok, approve: Continue?}
  - {id: after, run: 'echo after >> "$LOG"', runs_on: linux}
  - {id: last, run: 'echo last >> "$LOG"', runs_on: alpha}
"#;

/// A file is for one machine: a step that waited for another machine continues where the file is, if the user's labels
/// match.
#[test]
fn what_waits_for_a_machine_goes_on_in_a_file() {
    let address = server::shared().address();
    let [here, there] = ["here", "there"].map(|_| Trial::of("work", PLACED).kept_in(&address));
    ok(&here, &["run", "work.yaml", "--run-id", RUN, "--queue"]);
    let worker = there.worker(None);
    until("the gate", || here.status(RUN) == "waiting");
    assert_eq!(worker.stop(), Some(0));
    ok(&here, &["approve", RUN]);
    let worker = here.worker(None);
    let waits = "`after` waits for a worker with the label linux on `";
    until("the wait", || here.longhaul(&["status", RUN], None).stdout.contains(waits));
    assert_eq!(worker.stop(), Some(0));
    ok(&here, &["store", "copy", &address, "moved.db"]);
    let moved = here.kept_in("moved.db");
    let start = |args: &[&str]| {
        let mut command = moved.command(args, None);
        Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let resumed = start(&["resume", RUN]);
    // If it were killed before its end is recorded, it would run again.
    let is_recorded = |event: &Value| event["event"] == "attempt_succeeded" && event["path"] == "after";
    until("the step", || moved.events().iter().any(is_recorded));
    drop(resumed);
    let _worker = start(&["worker", "--labels", "alpha"]);
    until("the end", || moved.is_over(RUN));
    assert_eq!((moved.log()["after"], moved.log()["last"], there.log()["before"]), (1, 1, 1));
    is_sound(&moved.events());
}
