//! Tests tokens of people: their runs and answers are recorded as theirs, and they have their roles.

use serde_json::{Value, json};

use crate::serve::patience::{begin, say};
use crate::serve::site::{Answer, Client, Project, Server};

const ROLE: &str = "do: [{id: go, approve: 'Release it?', approvals: 'role:release'}]";
const TWO: &str = "do: [{id: go, approve: 'Release it?', approvals: {from: role:release, count: 2}}]";
const OTHER: &str = "do: [{id: go, approve: 'Release it?', approvals: {not_starter: true}}]";

/// A project with three gates; kim and ana may release.
fn project() -> Project {
    let project = Project::new();
    for (name, text) in [("role", ROLE), ("two", TWO), ("other", OTHER)] {
        project.add(name, text);
    }
    project.user_settings("[roles]\nrelease = ['kim', 'ana']\n");
    project
}

fn client(project: &Project, server: &Server, user: &str) -> Client {
    server.client(&project.token_of(user, "operator"))
}

/// A run that asks.
fn started(client: &Client, workflow: &str) -> String {
    let key = format!("{workflow}-{}", client.shown);
    let made = client.make("/api/v1/runs", &key, &json!({"workflow": workflow}));
    assert_eq!(made.status, 201, "{}", made.body);
    let run = made.json()["run"].as_str().unwrap().to_owned();
    client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until("question_asked");
    run
}

fn question(client: &Client, run: &str) -> Value {
    let all = client.json("/api/v1/questions");
    all["questions"].as_array().unwrap().iter().find(|question| question["run"] == run).cloned().unwrap_or_default()
}

fn answer(client: &Client, run: &str, answer: Value) -> Answer {
    client.post(&format!("/api/v1/runs/{run}/answer"), &json!({"path": "go", "answer": answer}))
}

/// The reason of a refusal. It is neither a conflict nor a mistake: the caller may not answer.
fn forbidden(answer: &Answer) -> String {
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (403, &json!("LH0706")), "{body}");
    format!("{} {}", body["title"].as_str().unwrap(), body["detail"].as_str().unwrap_or_default()).trim_end().to_owned()
}

/// The two sentences of a refusal, from the one of a question.
fn sentences(why: &str) -> String {
    let capital = |text: &str| text[..1].to_uppercase() + &text[1..];
    why.split("; ").map(|part| format!("{}.", capital(part))).collect::<Vec<_>>().join(" ")
}

/// The first event of a kind.
fn event(client: &Client, run: &str, kind: &str) -> Value {
    client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until(kind).pop().unwrap().data
}

#[test]
fn two_tokens_are_two_people() {
    let project = project();
    let server = project.serve(&[]);
    for user in ["kim", "ana"] {
        let person = client(&project, &server, user);
        let run = started(&person, "gate");
        assert_eq!(answer(&person, &run, json!("approve")).status, 200);
        let owner = json!({"face": "api", "user": user});
        assert_eq!(event(&person, &run, "run_started")["owner"], owner);
        let answered = event(&person, &run, "answered");
        assert_eq!((&answered["by"], &answered["caller"]["who"]), (&json!(user), &owner));
        assert_eq!(answered["caller"]["auth"], "token");
    }
    let page = server.browser(&project.token_of("kim", "operator"));
    let run = started(&page, "gate");
    assert_eq!(event(&page, &run, "run_started")["owner"], json!({"face": "dashboard", "user": "kim"}));
    let ana = client(&project, &server, "ana");
    let why = "this run was started by kim at the dashboard: answer there";
    assert_eq!(question(&ana, &run)["here"], json!({"ok": false, "why": why}));
    assert_eq!(forbidden(&answer(&ana, &run, json!("approve"))), sentences(why));
    let instead = json!({"path": "go", "answer": "approve", "override": true});
    let path = format!("/api/v1/runs/{run}/answer");
    let strictly = format!("{why}; the policy lets nobody answer in its place");
    assert_eq!(forbidden(&ana.post(&path, &instead)), sentences(&strictly));
    let kim = client(&project, &server, "kim");
    assert_eq!(question(&kim, &run)["here"]["override"], true);
    assert_eq!(kim.post(&path, &instead).status, 200, "as at the command line");
}

#[test]
fn what_a_run_is_told_is_the_persons_too() {
    let project = project();
    let server = project.serve(&[]);
    let (kim, ana) = (client(&project, &server, "kim"), client(&project, &server, "ana"));
    let run = started(&kim, "gate");
    let tell = |client: &Client, what: &str| client.post(&format!("/api/v1/runs/{run}/{what}"), &json!({})).status;
    let steps = [("pause", "paused"), ("unpause", "unpaused"), ("cancel", "cancel_requested"), ("retry", "reopened")];
    for (at, (what, kind)) in steps.into_iter().enumerate() {
        let (user, person) = if at % 2 == 0 { ("kim", &kim) } else { ("ana", &ana) };
        assert_eq!(tell(person, what), 200, "{what}");
        assert_eq!(event(&kim, &run, kind)["by"], user, "{what}");
        if what == "cancel" {
            event(&kim, &run, "run_finished");
        }
    }
}

#[test]
fn a_role_gate_is_answered_by_who_has_the_role_and_by_nobody_else() {
    let project = project();
    let server = project.serve(&[]);
    let bob = client(&project, &server, "bob");
    let run = started(&bob, "role");
    let why = "only `release` may answer this; the settings say who that is, under `[roles]`";
    assert_eq!(question(&bob, &run)["here"], json!({"ok": false, "why": why}));
    assert_eq!(forbidden(&answer(&bob, &run, json!("approve"))), sentences(why), "although they started it");
    let shared = server.client(&project.token("admin"));
    let none =
        "only `release` may answer this, and the token names no person; the settings say who that is, under `[roles]`";
    assert_eq!(question(&shared, &run)["here"]["why"], none);
    assert_eq!(forbidden(&answer(&shared, &run, json!("approve"))), sentences(none));
    let kim = server.browser(&project.token_of("kim", "operator"));
    assert_eq!(question(&kim, &run)["here"], json!({"ok": true}));
    assert_eq!(answer(&kim, &run, json!("approve")).status, 200);
    let answered = event(&kim, &run, "answered");
    assert_eq!((&answered["by"], &answered["caller"]["roles"]), (&json!("kim"), &json!(["release"])));
}

#[test]
fn a_token_that_names_nobody_has_none_of_the_roles_of_who_runs_the_server() {
    let project = project();
    let user = project.longhaul(&["run", "role", "--run-id", "mine-1"]);
    assert_eq!(user.code, 3, "{}", user.stderr);
    let server = project.serve(&["--no-drive"]);
    let own = server.client(&server.first_token());
    let me = own.json("/api/v1/about")["user"].as_str().unwrap().to_owned();
    drop(server);
    project.user_settings(&format!("[roles]\nrelease = ['{me}']\n"));
    let server = project.serve(&["--no-drive"]);
    let own = Client { address: server.address.clone(), ..own };
    assert_eq!(question(&own, "mine-1")["here"]["ok"], true, "the one who was shown the first token");
    let shared = server.client(&project.token("admin"));
    assert_eq!(question(&shared, "mine-1")["here"]["ok"], false);
    assert_eq!(shared.json("/api/v1/about")["shared"], true);
    assert_eq!(shared.json("/api/v1/about")["user"], me, "it acts as they do otherwise");
}

#[test]
fn two_people_have_to_approve() {
    let project = project();
    let server = project.serve(&[]);
    let (kim, ana) = (client(&project, &server, "kim"), client(&project, &server, "ana"));
    let run = started(&client(&project, &server, "bob"), "two");
    assert_eq!(question(&kim, &run)["needed"], 2);
    assert_eq!(answer(&kim, &run, json!("approve")).status, 200);
    let approved = event(&kim, &run, "approved");
    assert_eq!((&approved["by"], &approved["given"], &approved["needed"]), (&json!("kim"), &json!(1), &json!(2)));
    assert_eq!(approved["caller"]["who"], json!({"face": "api", "user": "kim"}));
    let seen = question(&kim, &run);
    let twice = "kim has approved this already (1 of 2); somebody else has to approve next";
    assert_eq!((&seen["here"]["why"], &seen["approved"][0]["by"]), (&json!(twice), &json!("kim")));
    assert_eq!(forbidden(&answer(&kim, &run, json!("approve"))), sentences(twice));
    let again = server.browser(&project.token_of("kim", "admin"));
    assert_eq!(
        forbidden(&answer(&again, &run, json!("approve"))),
        sentences(twice),
        "another token is no other person"
    );
    let status = project.longhaul(&["status", &run]).stdout;
    assert!(status.contains("1 of 2, approved by kim"), "{status}");
    assert_eq!(answer(&ana, &run, json!("approve")).status, 200);
    assert_eq!(event(&ana, &run, "run_finished")["outcome"], "success");
    let told = project.longhaul(&["events", &run]).stdout;
    let lines = ["go: approved by kim at the API (1 of 2)", "go: approved by ana at the API"];
    assert!(lines.iter().all(|line| told.contains(line)), "{told}");
}

#[test]
fn one_of_two_may_deny_even_after_they_approved() {
    let project = project();
    let server = project.serve(&[]);
    let kim = client(&project, &server, "kim");
    let run = started(&kim, "two");
    assert_eq!(answer(&kim, &run, json!({"value": {"value": "yes"}})).status, 200, "in words");
    event(&kim, &run, "approved");
    let edited = answer(&client(&project, &server, "ana"), &run, json!("skip"));
    assert_eq!((edited.status, &edited.json()["code"]), (422, &json!("LH0708")), "{}", edited.body);
    assert_eq!(answer(&kim, &run, json!({"deny": {"reason": "a mistake"}})).status, 200);
    assert_eq!(event(&kim, &run, "run_finished")["outcome"], "failure");
}

#[test]
fn somebody_else_than_who_started_it_has_to_approve() {
    let project = project();
    let server = project.serve(&[]);
    let (kim, ana) = (client(&project, &server, "kim"), client(&project, &server, "ana"));
    let run = started(&kim, "other");
    let why = "kim started this run; somebody else has to answer";
    assert_eq!(forbidden(&answer(&kim, &run, json!("approve"))), sentences(why));
    let page = server.browser(&project.token_of("kim", "admin"));
    assert_eq!(forbidden(&answer(&page, &run, json!("approve"))), sentences(why));
    let shared = server.client(&project.token("operator"));
    let unnamed = "this gate counts people, and the token names no person; use one that does";
    assert_eq!(forbidden(&answer(&shared, &run, json!("approve"))), sentences(unnamed));
    assert_eq!(answer(&ana, &run, json!("approve")).status, 200);
    assert_eq!(event(&ana, &run, "run_finished")["outcome"], "success");
}

#[test]
fn an_editor_speaks_for_the_person_of_its_token() {
    let project = project();
    let server = project.serve(&[]);
    let token = project.token_of("kim", "admin");
    let session = begin(&server, &token);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        say(&server, &token, Some(&session), &message).1
    };
    call("run", json!({"workflow": "role", "task": "x"}));
    let kim = server.client(&token);
    let run = kim.json("/api/v1/runs")["runs"][0]["run"].as_str().unwrap().to_owned();
    let started = event(&kim, &run, "run_started");
    assert_eq!((&started["owner"]["user"], &started["owner"]["face"]), (&json!("kim"), &json!("mcp")));
    event(&kim, &run, "question_asked");
    call("answer", json!({"run": run, "decision": "approve"}));
    let answered = event(&kim, &run, "answered");
    assert_eq!((&answered["by"], &answered["caller"]["auth"]), (&json!("kim"), &json!("token")), "{answered}");
    assert_eq!(answered["caller"]["who"]["client"], "ed");
}

#[test]
fn tokens_are_listed_with_their_people() {
    let project = project();
    let args = ["serve", "token", "--user", "kim", "--role", "operator", "--name", "laptop", "--expires", "90d"];
    let token = project.longhaul(&args).stdout.trim().to_owned();
    project.token("viewer");
    let rows = || -> Value { serde_json::from_str(&project.longhaul(&["serve", "tokens", "--json"]).stdout).unwrap() };
    let row = rows()[0].clone();
    assert_eq!((&row["user"], &row["name"], &row["role"]), (&json!("kim"), &json!("laptop"), &json!("operator")));
    let lives = row["until"].as_i64().unwrap() - row["made_at"].as_i64().unwrap();
    assert_eq!((lives, &row["used_at"]), (90 * 24 * 3600 * 1000, &Value::Null));
    let server = project.serve(&[]);
    assert_eq!(server.client(&token).json("/api/v1/about")["user"], "kim");
    assert_eq!(server.browser(&token).json("/api/v1/about")["user"], "kim");
    assert!(rows()[0]["used_at"].is_i64());
    let listed = project.longhaul(&["serve", "tokens"]);
    assert!(
        listed.stdout.contains("operator  kim (laptop), made ") && listed.stdout.contains("viewer    nobody, made ")
    );
    assert!(listed.stderr.contains("a token without a user: its holder acts as"), "{}", listed.stderr);
    for wrong in [["--user", "kim jo"], ["--expires", "soon"], ["--name", ""]] {
        let args: Vec<&str> = ["serve", "token"].into_iter().chain(wrong).collect();
        assert_eq!(project.longhaul(&args).code, 2, "{wrong:?}");
    }
}
