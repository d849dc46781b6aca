//! Tests event streams: over a crash, with another process, to several clients.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::serve::site::{Client, Happened, Project};

fn begun(client: &Client, key: &str) -> String {
    let made = client.make("/api/v1/runs", key, &json!({"workflow": "steps"}));
    assert_eq!(made.status, 201, "{}", made.body);
    made.json()["run"].as_str().unwrap().to_owned()
}

fn numbers(events: &[Happened]) -> Vec<u64> {
    events.iter().filter_map(|event| event.id).collect()
}

#[test]
fn nothing_is_missed_when_the_server_is_killed_in_the_middle() {
    let project = Project::new();
    let server = project.serve(&[]);
    let token = server.first_token();
    let client = server.client(&token);
    let run = begun(&client, "k");
    let path = format!("/api/v1/runs/{run}/stream");
    let mut stream = client.stream(&path, &[]);
    let mut seen = stream.until("attempt_succeeded");
    drop(server);
    while let Some(more) = stream.next() {
        seen.push(more);
    }
    let last = *numbers(&seen).last().unwrap();
    let server = project.serve(&[]);
    let header = format!("Last-Event-ID: {last}");
    // The header overrides the address.
    let rest = server.client(&token).stream(&format!("{path}?after=0"), &[&header]).until("run_finished");
    let all: Vec<u64> = numbers(&seen).into_iter().chain(numbers(&rest)).collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let journal = project.longhaul(&["events", &run, "--json"]).stdout;
    assert_eq!(journal.lines().count(), all.len());
}

#[test]
fn what_another_process_drives_is_told_by_every_server() {
    let project = Project::new();
    let worker = project.serve(&[]);
    let token = worker.first_token();
    let onlooker = project.serve(&["--no-drive"]);
    assert_eq!(onlooker.said["drives"], false);
    let client = onlooker.client(&token);
    let mut list = client.stream("/api/v1/stream", &[]);
    assert_eq!(list.next().unwrap().data, json!({"open": 0}));
    // Sent to one, done by the other.
    let run = begun(&client, "k");
    let paths = format!("/api/v1/runs/{run}/stream");
    let here = client.stream(&paths, &[]).until("run_finished");
    let there = worker.client(&token).stream(&paths, &[]).until("run_finished");
    let data = |events: &[Happened]| events.iter().map(|event| event.data.clone()).collect::<Vec<_>>();
    assert_eq!(data(&here), data(&there));
    // The same key at the other server gives the same run.
    let again = worker.client(&token).make("/api/v1/runs", "k", &json!({"workflow": "steps"}));
    assert_eq!((again.status, &again.json()["run"]), (200, &json!(run)));
    let over = |event: &Happened| {
        event.name == "run" && event.data["run"] == json!(run) && event.data["status"] == "succeeded"
    };
    while !over(&list.next().unwrap()) {}
}

#[test]
fn a_run_of_the_command_line_shows_up_in_the_list_and_its_questions_count() {
    let project = Project::new();
    let server = project.serve(&["--no-drive"]);
    let client = server.client(&server.first_token());
    let mut list = client.stream("/api/v1/stream", &[]);
    assert_eq!(list.next().unwrap().data, json!({"open": 0}));
    let told = project.longhaul(&["run", "gate", "--run-id", "from-afar"]);
    assert_eq!(told.code, 3, "{}", told.stderr);
    let (mut waits, mut open) = (false, false);
    while !(waits && open) {
        let happened = list.next().unwrap();
        waits |= happened.data["run"] == "from-afar" && happened.data["summary"]["waiting_for"] == json!(["approval"]);
        open |= happened.data == json!({"open": 1});
    }
    project.longhaul(&["cancel", "from-afar"]);
    project.longhaul(&["resume", "from-afar"]);
    while list.next().unwrap().data != json!({"open": 0}) {}
}

#[test]
fn a_stream_ends_when_its_run_is_pruned() {
    let project = Project::new();
    project.longhaul(&["run", "steps", "--run-id", "to-go"]);
    let server = project.serve(&[]);
    let mut stream = server.client(&server.first_token()).stream("/api/v1/runs/to-go/stream", &[]);
    stream.until("run_finished");
    let told = project.longhaul(&["prune", "--older", "0s", "--yes"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(stream.next().unwrap().name, "gone");
    assert!(stream.next().is_none());
}

#[test]
fn a_burst_of_short_runs_is_told_whole() {
    let project = Project::new();
    project.add("quick", "do: [{id: only, run: 'true'}]");
    let server = project.serve(&[]);
    let token = server.first_token();
    let client = server.client(&token);
    let mut list = client.stream("/api/v1/stream", &[]);
    assert_eq!(list.next().unwrap().name, "questions");
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for number in 0..40 {
        let made = client.make("/api/v1/runs", &number.to_string(), &json!({"workflow": "quick"}));
        missing.insert(made.json()["run"].as_str().unwrap().to_owned());
    }
    while !missing.is_empty() {
        let happened = list.next().unwrap();
        if happened.data["status"] == "succeeded" {
            missing.remove(happened.data["run"].as_str().unwrap());
        }
    }
}

/// Between two looks the run was failed, running, and failed again.
#[test]
fn a_run_that_another_process_continued_and_finished_is_told() {
    let project = Project::new();
    project.add("bad", "do: [{id: only, run: 'false'}]");
    project.longhaul(&["run", "bad", "--run-id", "twice"]);
    let worker = project.serve(&[]);
    let token = worker.first_token();
    let onlooker = project.serve(&["--no-drive"]);
    let client = onlooker.client(&token);
    let mut list = client.stream("/api/v1/stream", &[]);
    assert_eq!(list.next().unwrap().name, "questions");
    let before = client.json("/api/v1/runs")["runs"][0]["updated_at"].as_i64().unwrap();
    assert_eq!(worker.client(&token).post("/api/v1/runs/twice/retry", &json!({})).status, 200);
    let is_later = |happened: &Happened| {
        happened.data["run"] == "twice"
            && happened.data["status"] == "failed"
            && happened.data["updated_at"].as_i64().unwrap() > before
    };
    while !is_later(&list.next().unwrap()) {}
}

#[test]
fn one_stream_tells_of_the_list_and_of_several_runs() {
    let project = Project::new();
    project.longhaul(&["run", "steps", "--run-id", "first"]);
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let second = begun(&client, "k");
    let path = format!("/api/v1/streams?run=first:3&run={second}&run=nobody");
    let mut stream = client.stream(&path, &[]);
    let (mut about, mut seqs, mut listed) = (String::new(), BTreeMap::<String, Vec<u64>>::new(), false);
    let mut over: BTreeSet<String> = BTreeSet::new();
    while over.len() < 3 || !listed {
        let happened = stream.next().unwrap();
        match happened.name.as_str() {
            "about" => about = happened.data["run"].as_str().unwrap().to_owned(),
            "journal" => seqs.entry(about.clone()).or_default().push(happened.id.unwrap()),
            "run" => listed |= happened.data["run"] == json!(second) && happened.data["status"] == "succeeded",
            "gone" => assert_eq!(about, "nobody"),
            _ => {}
        }
        if happened.name == "gone" || happened.data["event"] == "run_finished" {
            over.insert(about.clone());
        }
    }
    let journal = |run: &str| project.longhaul(&["events", run, "--json"]).stdout.lines().count() as u64;
    assert_eq!(seqs["first"], (4..=journal("first")).collect::<Vec<_>>());
    assert_eq!(seqs[&second], (1..=journal(&second)).collect::<Vec<_>>());
}

#[test]
fn one_stream_takes_no_more_than_its_share_and_nothing_that_is_no_run() {
    let project = Project::new();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let many: Vec<String> = (0..33).map(|number| format!("run=r-{number}")).collect();
    for wrong in ["run=a:x", "run=../x", "list=maybe", "list=false", &many.join("&")] {
        let refused = client.get(&format!("/api/v1/streams?{wrong}"));
        assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("LH0704")), "{wrong}");
    }
    let run = begun(&client, "k");
    let full = format!("/api/v1/streams?list=false&{}", vec![format!("run={run}"); 32].join("&"));
    let open: Vec<_> = (0..4).map(|_| client.stream(&full, &[])).collect();
    assert_eq!(client.get("/api/v1/stream").status, 429, "the share of the token is taken");
    drop(open);
}

#[test]
fn totals_count_what_the_list_shows() {
    let project = Project::new();
    project.add("bad", "do: [{id: only, run: 'false'}]");
    for (workflow, run) in [("gate", "asks"), ("bad", "fails-1"), ("bad", "fails-2")] {
        project.longhaul(&["run", workflow, "--run-id", run]);
    }
    let server = project.serve(&["--no-drive"]);
    let client = server.client(&server.first_token());
    let totals = client.json("/api/v1/totals");
    assert_eq!((&totals["runs"], &totals["statuses"]), (&json!(3), &json!({"failed": 2, "waiting": 1})));
    assert_eq!(client.json("/api/v1/totals?workflow=bad&text=LS-2")["runs"], 1);
    let created = client.json("/api/v1/runs?text=fails-1")["runs"][0]["summary"]["started_at"].as_i64().unwrap();
    let since = client.json(&format!("/api/v1/totals?since={created}"));
    let until = client.json(&format!("/api/v1/totals?until={created}"));
    assert_eq!((&since["runs"], &until["runs"]), (&json!(2), &json!(1)));
    let page = client.json(&format!("/api/v1/runs?until={created}&limit=1"));
    assert_eq!((&page["runs"][0]["run"], page.get("next")), (&json!("asks"), None));
    assert_eq!(client.get("/api/v1/totals?since=yesterday").status, 400);
}
