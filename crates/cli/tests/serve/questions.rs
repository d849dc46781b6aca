//! Tests who may answer the questions of a run, over HTTP.

use serde_json::{Value, json};

use crate::serve::site::{Client, Project};

/// The open question of a run, as soon as there is one.
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
    let outcome = told.json();
    assert_eq!(
        (told.status, &outcome["run"], &outcome["outcome"]),
        (200, &json!(run), &json!("approved")),
        "{outcome}"
    );
    assert_eq!(
        (&outcome["step"], &outcome["text"]),
        (&json!("go"), &json!("Approved. The run continues.")),
        "{outcome}"
    );
    let by = outcome["by"].clone();
    assert!(by.is_string() && outcome["at"].is_i64() && outcome["seq"].is_u64(), "{outcome}");
    let events = page.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("run_finished");
    let answered = events.iter().find(|event| event.data["event"] == "answered").unwrap();
    assert_eq!(answered.data["caller"]["who"]["face"], "dashboard");
    assert_eq!(answered.data["comment"], "fine");
    let late = say(json!({"path": "go", "answer": {"deny": {}}}));
    assert_eq!((late.status, &late.json()["code"]), (409, &json!("LH0705")));
    let first = &late.json()["first"];
    assert_eq!(
        (&first["what"], &first["by"], &first["at"]),
        (&json!("approved"), &by, &outcome["at"]),
        "{}",
        late.body
    );
}

#[test]
fn a_question_of_another_face_is_explained_and_answered_only_in_its_place() {
    let project = Project::new();
    let run = project.longhaul(&["run", "gate", "--queue"]).stdout.trim().to_owned();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let question = asked(&client, &run);
    assert_eq!((&question["here"]["ok"], &question["here"]["override"]), (&json!(false), &json!(true)), "{question}");
    let why = question["here"]["why"].as_str().unwrap();
    assert!(why.contains("at the command line: answer there") && why.ends_with("with `override: true`"), "{why}");
    let path = format!("/api/v1/runs/{run}/answer");
    let refused = client.post(&path, &json!({"path": "go", "answer": "approve"}));
    assert_eq!(
        (refused.status, &refused.json()["code"], &refused.json()["kind"], &refused.json()["detail"]),
        (403, &json!("LH0706"), &json!("forbidden"), &json!("Or answer in its place, with `override: true`."))
    );
    assert_eq!(client.post(&path, &json!({"path": "go", "answer": "approve", "override": true})).status, 200);
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
    assert_eq!(tell("pause", json!({})).status, 200);
    events("paused");
    untimely("pause");
    assert_eq!(tell("unpause", json!({})).status, 200);
    events("unpaused");
    assert_eq!(tell("cancel", json!({"reason": "enough"})).status, 200);
    events("run_finished");
    untimely("cancel");
    assert_eq!(client.json(&format!("/api/v1/runs/{run}"))["status"], "cancelled");
    assert_eq!(tell("retry", json!({})).status, 200);
    events("reopened");
    assert_eq!(tell("signal", json!({"data": 1})).status, 400);
}

/// A run with a damaged history does not hide the questions of other runs.
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

/// If many answer at the same moment, over two servers of one store, one answer is applied. The others learn who was
/// first.
#[test]
fn of_many_who_answer_at_once_one_is_applied_and_the_others_know_by_whom() {
    let project = Project::new();
    assert_eq!(project.longhaul(&["run", "gate", "--run-id", "crowd"]).code, 3);
    let servers = [project.serve(&["--no-drive"]), project.serve(&["--no-drive"])];
    let token = servers[0].first_token();
    let clients: Vec<Client> = (0..8).map(|at| servers[at % 2].client(&token)).collect();
    let answers: Vec<(u16, Value)> = std::thread::scope(|scope| {
        let ask = |(at, client): (usize, Client)| {
            let answer = if at % 3 == 0 { json!("approve") } else { json!({"deny": {}}) };
            let body = json!({"path": "go", "answer": answer, "override": true});
            scope.spawn(move || {
                let told = client.post("/api/v1/runs/crowd/answer", &body);
                (told.status, told.json())
            })
        };
        let asked: Vec<_> = clients.into_iter().enumerate().map(ask).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (applied, rejected): (Vec<_>, Vec<_>) = answers.iter().partition(|(status, _)| *status == 200);
    assert_eq!((applied.len(), rejected.len()), (1, 7), "{answers:?}");
    let (_, outcome) = applied[0];
    for (status, body) in rejected {
        assert_eq!((*status, &body["kind"]), (409, &json!("conflict")), "{body}");
        let first = &body["first"];
        assert_eq!((&first["what"], &first["by"], &first["at"]), (&outcome["outcome"], &outcome["by"], &outcome["at"]));
    }
    let events = project.longhaul(&["events", "crowd", "--json"]).stdout;
    assert_eq!(events.lines().filter(|line| line.contains(r#""event":"answered""#)).count(), 1, "{events}");
}
