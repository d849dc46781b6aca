//! Tests `longhaul serve` on two machines, workers on others, one database: any node answers for any run.

use std::collections::BTreeMap;

use longhaul_store::conformance::server;
use serde_json::{Value, json};

use crate::crash::trial::{alive, is_sound, until};
use crate::postgres::machine::{Machine, Node};
use crate::serve::site::Happened;

/// Two servers and one worker.
fn three(text: &str) -> [Machine; 3] {
    let address = server::shared().address();
    ["alpha", "beta", "gamma"].map(|name| Machine::new(name, text, &address))
}

fn stream(run: &str) -> String {
    format!("/api/v1/runs/{run}/stream")
}

fn seqs(events: &[Happened]) -> Vec<u64> {
    events.iter().filter_map(|event| event.id).collect()
}

fn journal(machine: &Machine, run: &str) -> Vec<Value> {
    let told = machine.trial.longhaul(&["events", run, "--json"], None);
    let event = |line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        // The command writes the time in words too.
        event.as_object_mut().unwrap().remove("time");
        event
    };
    told.stdout.lines().map(event).collect()
}

/// The machine of the newest attempt of a step.
fn holder(events: &[Value], path: &str) -> Option<String> {
    let of_it = events.iter().rev().filter(|event| event["path"] == path);
    of_it.filter_map(|event| event["host"].as_str().map(str::to_owned)).next()
}

const STEPS: &str = "
name: work
do:
  - {id: one, run: 'printf one; sleep 0.2'}
  - {id: two, run: 'printf two; sleep 0.2'}
  - {id: three, run: 'printf three; sleep 0.2'}
";

#[test]
fn a_stream_that_begins_at_one_node_goes_on_at_another() {
    let [alpha, beta, gamma] = three(STEPS);
    let (first, second) = (alpha.serve(&["--no-drive"]), beta.serve(&["--no-drive"]));
    let run = first.start("key");
    // Both watch from the start, while the worker runs it.
    let mut there = second.client.stream(&stream(&run), &[]);
    let mut here = first.client.stream(&stream(&run), &[]);
    let _worker = gamma.worker();
    let begun = here.until("attempt_succeeded");
    drop(here);
    let last = format!("Last-Event-ID: {}", seqs(&begun).last().unwrap());
    let rest = second.client.stream(&stream(&run), &[&last]).until("run_finished");
    let both: Vec<u64> = seqs(&begun).into_iter().chain(seqs(&rest)).collect();
    let whole = there.until("run_finished");
    let numbers: Vec<u64> = (1..=whole.len() as u64).collect();
    assert_eq!((both, seqs(&whole)), (numbers.clone(), numbers));
    // And both show what the journal says.
    let (journal, data) = (journal(&alpha, &run), |events: &[Happened]| -> Vec<Value> {
        events.iter().map(|event| event.data.clone()).collect()
    });
    assert_eq!(data(&whole), journal);
    assert_eq!([data(&begun), data(&rest)].concat(), journal);
    // A key that the other node knows starts no second run.
    let again = second.client.make("/api/v1/runs", "key", &json!({"workflow": "work"}));
    assert_eq!((again.status, &again.json()["run"]), (200, &json!(run)));
    assert_eq!(journal.iter().filter_map(|event| event["host"].as_str()).collect::<Vec<_>>(), ["gamma"; 3]);
}

const TOLD: &str = r#"
name: work
do:
  - {id: one, run: 'echo one >> "$LOG"'}
  - {id: ok, approve: Continue?}
  - {id: sign, wait: {event: go}}
  - {id: long, run: 'echo long >> "$LOG"; setsid sleep 300 & sleep 300'}
"#;

#[test]
fn what_one_node_is_told_reaches_the_attempt_that_a_worker_holds() {
    let [alpha, beta, gamma] = three(TOLD);
    let (first, second) = (alpha.serve(&["--no-drive"]), beta.serve(&["--no-drive"]));
    let run = first.start("key");
    let mut worker = gamma.worker();
    let mut watched = first.client.stream(&stream(&run), &[]);
    watched.until("question_asked");
    let question = second.client.json("/api/v1/questions")["questions"][0].clone();
    assert_eq!((&question["run"], &question["here"]["ok"]), (&json!(run), &json!(true)), "{question}");
    second.tell(&run, "answer", &json!({"path": "ok", "answer": "approve", "shown": question["shown"]}));
    watched.until("answered");
    second.tell(&run, "signal", &json!({"name": "go", "data": {"n": 7}}));
    until("the long step", || gamma.trial.log().contains_key("long"));
    let at_work = || alive(gamma.trial.path(), |environment| environment.contains("LONGHAUL_ATTEMPT="));
    until("all of its processes", || at_work().iter().filter(|command| command.contains("sleep")).count() >= 2);
    second.tell(&run, "cancel", &json!({"reason": "enough"}));
    watched.until("run_finished");
    until("the end of what was running", || at_work().is_empty());
    for node in [&first, &second] {
        assert_eq!(node.run(&run)["status"], "cancelled");
    }
    assert_eq!(gamma.trial.log(), BTreeMap::from([("long".to_owned(), 1), ("one".to_owned(), 1)]));
    assert_eq!((alpha.trial.log().len(), beta.trial.log().len()), (0, 0));
    is_sound(&journal(&alpha, &run));
    assert_eq!(worker.0.try_wait().unwrap(), None, "the worker continues");
}

/// The first attempt does not end by itself.
const HELD: &str = r#"
name: work
do:
  - {id: one, run: 'echo one >> "$LOG"'}
  - {id: long, run: 'echo long >> "$LOG"; test -e go || sleep 300', workspace: any}
  - {id: last, run: 'echo last >> "$LOG"', workspace: any}
"#;

/// Both drive runs. The one with the work is killed; the other one continues the stream, and does the lost work.
#[test]
fn a_node_that_is_killed_leaves_its_work_and_its_watchers_to_the_other() {
    let [alpha, beta, _] = three(HELD);
    let machines = [&alpha, &beta];
    let mut nodes: Vec<Option<Node>> = machines.map(|machine| Some(machine.serve(&[]))).into();
    let run = nodes[0].as_ref().unwrap().start("key");
    until("the long step", || machines.iter().any(|machine| machine.trial.log().contains_key("long")));
    let found = machines.iter().position(|machine| machine.trial.log().contains_key("long")).unwrap();
    assert_eq!(holder(&journal(&alpha, &run), "long"), Some(machines[found].name.to_owned()));
    let killed = nodes[found].take().unwrap();
    let mut watched = killed.client.stream(&stream(&run), &[]);
    let mut seen: Vec<Happened> = Vec::new();
    while !seen.last().is_some_and(|event| event.data["path"] == "long" && event.data["host"].is_string()) {
        seen.extend(watched.next().filter(|event| event.name == "journal"));
    }
    let other = nodes[1 - found].take().unwrap();
    std::fs::write(machines[1 - found].trial.path().join("go"), "").unwrap();
    // `kill -9`: the process says nothing to anybody.
    drop(killed);
    while let Some(event) = watched.next() {
        seen.push(event);
    }
    let last = format!("Last-Event-ID: {}", seqs(&seen).last().unwrap());
    let rest = other.client.stream(&stream(&run), &[&last]).until("run_finished");
    let all: Vec<u64> = seqs(&seen).into_iter().chain(seqs(&rest)).collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let events = journal(machines[1 - found], &run);
    is_sound(&events);
    assert_eq!(other.run(&run)["status"], "succeeded");
    assert_eq!(holder(&events, "long"), Some(machines[1 - found].name.to_owned()));
    assert_eq!(machines[1 - found].trial.log()["long"], 1);
    until("the end of what was running", || alive(machines[found].trial.path(), |_| true).is_empty());
}

const BRIEF: &str = r#"
name: work
do: [{id: one, run: 'echo did >> "$LOG"', workspace: any}]
"#;

/// Two servers and two workers keep the same schedule; each reports what it fired.
#[test]
fn a_schedule_goes_off_once_however_many_keep_it() {
    let machines = three(BRIEF);
    let [alpha, beta, gamma] = &machines;
    let ok = |args: &[&str]| {
        let told = alpha.trial.longhaul(args, None);
        assert_eq!(told.code, 0, "{args:?}: {}", told.stderr);
        told.stdout
    };
    let deliveries = || -> Vec<Value> {
        let listed: Value = serde_json::from_str(&ok(&["triggers", "list", "--json"])).unwrap();
        let known = listed[0]["deliveries"].as_array().into_iter().flatten();
        known.map(|known| known["delivery"].clone()).collect()
    };
    ok(&["triggers", "add", "often", "work", "--cron", "* * * * *"]);
    let _workers = [gamma.worker(), beta.worker()];
    let (first, _second) = (alpha.serve(&[]), beta.serve(&[]));
    until("a look of each", || deliveries().len() >= 4);
    let found = deliveries();
    ok(&["triggers", "remove", "often"]);
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for delivery in &found {
        assert!(["matched", "duplicate"].contains(&delivery["outcome"].as_str().unwrap()), "{delivery}");
        *kept.entry(delivery["run"].as_str().unwrap()).or_default() += usize::from(delivery["outcome"] == "matched");
    }
    assert!(kept.values().all(|times| *times == 1), "{found:#?}");
    let runs = || first.client.json("/api/v1/runs?workflow=work")["runs"].as_array().unwrap().clone();
    until("the end of every run", || runs().iter().all(|row| row["status"] == "succeeded"));
    assert!(kept.len() <= runs().len());
    let did: usize = machines.iter().filter_map(|machine| machine.trial.log().get("did").copied()).sum();
    assert_eq!(did, runs().len());
}
