//! Who answers what a run asks, over HTTP.

use serde_json::{Value, json};

use crate::serve::site::{Client, Project};

/// The open question of a run, once it is asked.
fn asked(client: &Client, run: &str) -> Value {
    client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("question_asked");
    let questions = client.json("/api/v1/questions");
    questions["questions"].as_array().unwrap().iter().find(|question| question["run"] == run).unwrap().clone()
}

fn begun(client: &Client) -> String {
    let made = client.make("/api/v1/runs", "k", &json!({"workflow": "gate"}));
    made.json()["run"].as_str().unwrap().to_owned()
}

#[test]
fn whoever_started_a_run_answers_in_place() {
    let project = Project::new();
    let server = project.serve(&[]);
    let page = server.browser(&server.first_token());
    let run = begun(&page);
    let question = asked(&page, &run);
    assert_eq!((&question["here"], &question["kind"]), (&json!({"ok": true}), &json!("approval")));
    let say = |answer: Value| page.post(&format!("/api/v1/runs/{run}/answer"), &answer);
    let old = say(json!({"path": "go", "answer": "approve", "shown": "something else"}));
    assert_eq!((old.status, &old.json()["code"]), (409, &json!("LH0705")));
    let odd = say(json!({"path": "go", "answer": {"value": {"value": "maybe"}}}));
    assert_eq!((odd.status, &odd.json()["code"]), (422, &json!("LH0708")));
    assert_eq!(say(json!({"path": "go", "answer": "timed_out"})).status, 400);
    let told = say(json!({"path": "go", "answer": "approve", "shown": question["shown"], "comment": "fine"}));
    assert_eq!((told.status, told.json()), (202, json!({"run": run, "told": true})));
    let events = page.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("run_finished");
    let answered = events.iter().find(|event| event.data["event"] == "answered").unwrap();
    assert_eq!(answered.data["caller"]["who"]["face"], "dashboard");
    assert_eq!(answered.data["comment"], "fine");
    let late = say(json!({"path": "go", "answer": "approve"}));
    assert_eq!((late.status, &late.json()["code"]), (409, &json!("LH0705")));
}

#[test]
fn a_question_of_another_face_is_explained_and_answered_only_in_its_place() {
    let project = Project::new();
    let run = project.longhaul(&["run", "gate", "--detach"]).stdout.trim().to_owned();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let question = asked(&client, &run);
    assert_eq!((&question["here"]["ok"], &question["here"]["override"]), (&json!(false), &json!(true)), "{question}");
    let why = question["here"]["why"].as_str().unwrap();
    assert!(why.contains("at the command line: answer there") && why.ends_with("with `override: true`"), "{why}");
    let path = format!("/api/v1/runs/{run}/answer");
    let refused = client.post(&path, &json!({"path": "go", "answer": "approve"}));
    assert_eq!(
        (refused.status, &refused.json()["code"], &refused.json()["detail"]),
        (403, &json!("LH0706"), &json!(why))
    );
    assert_eq!(client.post(&path, &json!({"path": "go", "answer": "approve", "override": true})).status, 202);
    client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("run_finished");
}

#[test]
fn a_run_takes_what_it_is_told_and_says_when_it_does_not() {
    let project = Project::new();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let run = begun(&client);
    asked(&client, &run);
    let tell = |what: &str, body: Value| client.post(&format!("/api/v1/runs/{run}/{what}"), &body);
    let untimely = |what: &str| {
        let answer = tell(what, json!({}));
        assert_eq!((answer.status, &answer.json()["code"]), (409, &json!("LH0705")), "{what}");
    };
    untimely("unpause");
    untimely("retry");
    let events = |kind: &str| client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until(kind);
    assert_eq!(tell("pause", json!({})).status, 202);
    events("paused");
    untimely("pause");
    assert_eq!(tell("unpause", json!({})).status, 202);
    events("unpaused");
    assert_eq!(tell("cancel", json!({"reason": "enough"})).status, 202);
    events("run_finished");
    untimely("cancel");
    assert_eq!(client.json(&format!("/api/v1/runs/{run}"))["status"], "cancelled");
    assert_eq!(tell("retry", json!({})).status, 202);
    events("reopened");
    assert_eq!(tell("signal", json!({"data": 1})).status, 400);
}

/// A run whose history is damaged keeps nobody from what others ask.
#[test]
fn what_one_run_asks_is_shown_although_another_is_damaged() {
    let project = Project::new();
    for run in ["whole", "broken"] {
        assert_eq!(project.longhaul(&["run", "gate", "--run-id", run]).code, 3);
    }
    let file = rusqlite::Connection::open(project.state().join("longhaul.db")).unwrap();
    let damage = "UPDATE event SET body = '{}' WHERE run = (SELECT number FROM run WHERE id = 'broken') AND seq = 2";
    assert_eq!(file.execute(damage, []).unwrap(), 1);
    drop(file);
    let server = project.serve(&["--no-drive"]);
    let client = server.client(&server.first_token());
    assert_eq!(client.get("/api/v1/runs/broken").status, 503);
    let questions = client.json("/api/v1/questions");
    assert_eq!(questions["questions"].as_array().unwrap().len(), 1);
    assert_eq!(questions["questions"][0]["run"], "whole");
}
