//! Tokens and cookies, from the first start to the last.

use std::io::Read;

use serde_json::json;

use crate::serve::site::Project;

#[test]
fn a_token_is_shown_once_and_opens_as_its_role_says_until_it_is_revoked() {
    let project = Project::new();
    let first = project.serve(&[]);
    let token = first.first_token();
    drop(first);
    let server = project.serve(&[]);
    assert!(server.said["login"].is_null(), "{}", server.said);
    assert_eq!(server.client(&token).get("/api/v1/about").status, 200, "it is still good");

    let viewer = server.client(&project.token("viewer"));
    assert_eq!(viewer.get("/api/v1/runs").status, 200);
    let refused = viewer.make("/api/v1/runs", "k", &json!({"workflow": "steps"}));
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("LH0702")));
    assert!(refused.json()["title"].as_str().unwrap().contains("`operator`"), "{}", refused.body);

    let listed = project.longhaul(&["serve", "tokens"]).stdout;
    assert!(listed.contains("viewer") && !listed.contains("lh_"), "{listed}");
    let id = listed.lines().find(|line| line.contains("viewer")).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(project.longhaul(&["serve", "revoke", &id]).code, 0);
    assert_eq!(viewer.get("/api/v1/runs").status, 401);
}

#[test]
fn a_browser_keeps_a_cookie_over_restarts_and_gives_it_back() {
    let project = Project::new();
    let server = project.serve(&[]);
    let token = server.first_token();
    let mut browser = server.browser(&token);
    assert!(!browser.shown.contains(&token), "the token itself is not kept");
    assert_eq!(browser.get("/api/v1/about").status, 200);
    drop(server);
    let server = project.serve(&[]);
    browser.address.clone_from(&server.address);
    assert_eq!(browser.get("/api/v1/about").status, 200);
    let gone = browser.post("/api/v1/logout", &json!({}));
    assert_eq!(gone.status, 204);
    assert!(gone.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(server.client("lh_wrong").get("/login?token=").status, 401);
}

#[test]
fn a_step_of_a_run_gets_no_token() {
    let project = Project::new();
    let program = env!("CARGO_BIN_EXE_longhaul");
    let text = format!("do: [{{id: a, run: '{program} serve token --role admin 2>&1'}}]");
    std::fs::write(project.path().join("sly.yaml"), text).unwrap();
    let told = project.longhaul(&["run", "sly.yaml"]);
    let left = project.longhaul(&["serve", "tokens"]).stdout;
    assert!(told.code != 0 && left.is_empty(), "{}{left}", told.stdout);
}

#[test]
fn the_next_port_is_taken_unless_one_was_asked_for() {
    let project = Project::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = project.longhaul(&["serve", "--listen", &address]);
    assert!(told.code == 2 && told.stderr.contains("cannot be listened on"), "{}", told.stderr);
}

#[test]
fn a_server_that_is_told_to_stop_ends_its_streams_and_leaves() {
    let project = Project::new();
    let mut server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let mut stream = client.stream("/api/v1/stream", &[]);
    assert_eq!(stream.next().unwrap().name, "questions");
    let made = client.make("/api/v1/runs", "k", &json!({"workflow": "gate"})).json();
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    while stream.next().is_some() {}
    let mut rest = String::new();
    let _ = server.child.stdout.take().map(|mut out| out.read_to_string(&mut rest));
    assert!(server.child.wait().unwrap().success());
    // The run is where it was, and continues with the next server.
    let next = project.serve(&[]);
    let client = next.client(&project.token("viewer"));
    client.stream(&format!("/api/v1/runs/{}/stream", made["run"].as_str().unwrap()), &[]).until("question_asked");
}
