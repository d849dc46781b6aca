//! Tests event streams: over a crash, with another process, to several clients.

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
