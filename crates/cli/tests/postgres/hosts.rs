//! Tests two projects in their own folders, as on two machines, with one store.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;

use longhaul_store::conformance::proxy::{Proxy, ProxyLink};
use longhaul_store::conformance::server;
use rustix::process::{Pid, Signal, kill_process};

use crate::crash::trial::{RUN, Trial, alive, end, is_sound, until};

const WORK: &str = r#"
name: work
do:
  - {id: before, run: 'echo before >> "$LOG"; echo seen'}
  - {id: ok, approve: Continue?}
  - {id: after, run: 'echo after >> "$LOG"; echo done', output: end}
outputs: {end: end}
"#;

fn two(text: &str) -> [Trial; 2] {
    let address = server::shared().address();
    ["here", "there"].map(|_| Trial::of("work", text).kept_in(&address))
}

fn detach(trial: &Trial) {
    let told = trial.longhaul(&["run", "work.yaml", "the task", "--run-id", RUN, "--queue"], None);
    assert_eq!(told.code, 0, "{}", told.stderr);
}

#[test]
fn what_one_starts_another_works_at_and_either_answers_for() {
    let [here, there] = two(WORK);
    detach(&here);
    let worker = there.worker(None);
    until("the gate", || here.status(RUN) == "waiting");
    assert!(here.longhaul(&["runs"], None).stdout.contains(RUN));
    assert_eq!(here.longhaul(&["approve", RUN], None).code, 0);
    until("the end", || here.is_over(RUN));
    assert_eq!(worker.stop(), Some(0));
    let events = here.events();
    is_sound(&events);
    assert_eq!(end(&events).outputs["end"], "done");
    assert_eq!((here.log().len(), there.log()["after"]), (0, 1));
}

/// A machine without the output says where the output is.
#[test]
fn output_on_another_machine_is_said_to_be_there() {
    let [here, there] = two(WORK);
    detach(&here);
    let worker = there.worker(None);
    until("the gate", || here.status(RUN) == "waiting");
    assert_eq!(worker.stop(), Some(0));
    assert!(there.longhaul(&["logs", RUN], None).stdout.contains("seen"));
    let told = here.longhaul(&["logs", RUN], None);
    assert!(told.stderr.contains("`before` left no files here; it was made on"), "{} {}", told.stdout, told.stderr);
}

#[test]
fn a_password_is_never_printed() {
    let trial = Trial::of("work", WORK).kept_in("postgres://me:hunter2@127.0.0.1:1/nothing?sslmode=disable");
    let mistaken = Trial::of("work", WORK).kept_in("postgres://me:hunter2@127.0.0.1:1/nothing?sslmode=perhaps");
    let no_address = Trial::of("work", WORK).kept_in("postgres//me:hunter2@127.0.0.1:1/nothing");
    let hidden = |trial: &Trial, args: &[&str]| {
        let told = trial.longhaul(args, None);
        assert!(!told.stdout.contains("hunter2") && !told.stderr.contains("hunter2"), "{args:?}: {}", told.stderr);
        told.stderr
    };
    for args in [&["runs"][..], &["run", "work.yaml"], &["runs", "--help"], &["status", RUN, "--json"]] {
        for trial in [&trial, &mistaken, &no_address] {
            hidden(trial, args);
        }
    }
    hidden(&mistaken, &["worker"]);
    assert!(hidden(&no_address, &["worker"]).contains("this is not the address of a store"));
    hidden(&trial, &["store", "copy", "mysql://me:hunter2@127.0.0.1/x", "runs.db"]);
    let told = trial.longhaul(&["runs"], None);
    assert!(told.stderr.contains("the store cannot be reached; nothing was done"), "{}", told.stderr);
}

const LONG: &str = r#"
name: work
do:
  - {id: long, workspace: any, run: 'echo begun >> "$LOG"; test -e "$LOG.second" && exit 0; touch "$LOG.second"; sleep 300'}
"#;

/// A worker that cannot reach the store kills its work before others may start it.
#[test]
fn a_worker_that_is_cut_off_stops_what_another_then_does() {
    let server = server::shared();
    let (proxy, address) = (Arc::new(Proxy::to(server.socket())), server.address());
    let cut_off = Trial::of("work", LONG).kept_in(&proxy.through(&address));
    let other = Trial::of("work", LONG).kept_in(&address);
    std::fs::write(other.path().join("log.second"), "").unwrap();
    detach(&other);
    let mut command = cut_off.command(&["worker"], None);
    command.env("LONGHAUL_LEASE_MS", "4000").stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = command.spawn().unwrap();
    until("the first attempt", || cut_off.log().contains_key("begun"));
    let sleeps = || alive(cut_off.path(), |environment| environment.contains("LONGHAUL_ATTEMPT=")).len();
    assert!(sleeps() > 0);
    proxy.set(ProxyLink::Deaf);
    let worker = other.worker(None);
    until("the second attempt", || other.log().contains_key("begun"));
    assert_eq!(sleeps(), 0, "both were at it");
    until("the end", || other.is_over(RUN));
    proxy.set(ProxyLink::Open);
    let events = other.events();
    is_sound(&events);
    assert_eq!(end(&events).status, "success");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(worker.stop(), Some(0));
}

/// The lines that a worker prints, until one contains a text.
fn said_until(lines: &mut impl Iterator<Item = std::io::Result<String>>, text: &str) -> Vec<String> {
    let mut said = Vec::new();
    while said.last().is_none_or(|line: &String| !line.contains(text)) {
        said.push(lines.next().unwrap_or_else(|| panic!("never: {text} in {said:?}")).unwrap());
    }
    said
}

/// A machine may start before the machine with the database.
#[test]
fn a_worker_waits_for_a_database_that_is_down_and_not_for_one_that_does_not_exist() {
    let server = server::TestServer::start(server::Safe::No);
    let address = server.address().replace("longhaul@", "longhaul:hunter2@");
    let trial = Trial::of("work", "name: work\ndo:\n  - {id: one, run: 'true'}\n").kept_in(&address);
    detach(&trial);
    let nowhere = Trial::of("work", WORK).kept_in(&address.replace("/postgres?", "/nothing?"));
    let told = nowhere.longhaul(&["worker"], None);
    assert!(told.code == 2 && told.stderr.contains("\"nothing\" does not exist"), "{} {}", told.code, told.stderr);
    server.kill();
    let start = || {
        let mut command = trial.command(&["worker"], None);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = said_until(&mut lines, "waiting for it");
        assert!(said.len() == 1 && !said[0].contains("hunter2"), "{said:?}");
        (child, lines)
    };
    let ((mut stopped, _), (mut child, mut lines)) = (start(), start());
    kill_process(Pid::from_child(&stopped), Signal::TERM).unwrap();
    assert_eq!(stopped.wait().unwrap().code(), Some(0));
    server.restart();
    let said = said_until(&mut lines, "run-1 one: done");
    let shown = address.replace(":hunter2", "");
    assert!(said[0].starts_with(&format!("working on {shown} in the project trial, with the labels ")), "{said:?}");
    assert_eq!(said[1], "run-1 one: taken");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
