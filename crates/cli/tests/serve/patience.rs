//! Tests clients that block a server: they send nothing, half a request, or do not read; and clients whose token
//! expires.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::command;
use crate::serve::site::{Client, Project, Server, Stream};

/// A server with other limits.
fn serve(project: &Project, listen: &str, limits: &[(&str, &str)]) -> Server {
    let mut command: Command = command(project.path(), &["serve", "--json", "--listen", listen]);
    command.envs(limits.iter().copied());
    Server::of(command)
}

fn open(server: &Server, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// Everything until the connection is closed, in any way.
fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn head(server: &Server, token: &str, path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nX-Longhaul: 1\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n",
        server.address
    )
}

#[test]
fn connections_that_say_nothing_or_half_of_it_keep_nobody_out() {
    let project = Project::new();
    let server = serve(&project, "127.0.0.1:0", &[("LONGHAUL_HTTP_CONNECTIONS", "8")]);
    let said = ["", "GET /health HT", "GET /health HTTP/1.1\r\nHost: a", "POST /api/v1/check HTTP/1.1\r\n"];
    let held: Vec<TcpStream> = (0..60).map(|number| open(&server, said[number % said.len()])).collect();
    let client = server.client("none");
    for path in ["/health", "/health/live", "/health/ready"] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    let closed = held.into_iter().take(40).map(rest).filter(String::is_empty).count();
    assert_eq!(closed, 40, "whoever came first made room");
}

#[test]
fn strange_requests_are_refused_and_name_no_files() {
    let project = Project::new();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let ours = ["X-Longhaul: 1", "Content-Type: application/json"];
    assert_eq!(client.ask("POST", "/api/v1/check", &ours, &deep).status, 400);
    assert!(client.ask("POST", "/mcp", &["Content-Type: application/json"], &deep).status < 500);
    for workflow in ["../../../etc/passwd", "/etc/passwd", ".longhaul/workflows/steps.yaml", "steps\0"] {
        assert_eq!(
            client.make("/api/v1/runs", workflow.trim_matches('\0'), &json!({"workflow": workflow})).status,
            404
        );
    }
    for path in ["/api/v1/runs/..%2f..%2fetc", "/api/v1/workflows/..%2f..%2fx", "/assets/../../../etc/passwd"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert_eq!(client.get("http://evil.example/health").status, 403);
}

#[test]
fn a_head_has_its_limit() {
    let project = Project::new();
    let server = project.serve(&[]);
    let with = |length: usize| {
        let header = format!("X-Long: {}", "a".repeat(length));
        server.client("none").try_ask("GET", "/health", &[&header], "").map(|answer| answer.status).unwrap_or(431)
    };
    assert_eq!((with(10_000), with(70_000), with(1_000_000)), (200, 431, 431));
}

#[test]
fn whoever_does_not_take_an_answer_makes_room() {
    let project = Project::new();
    let server = serve(&project, "127.0.0.1:0", &[("LONGHAUL_HTTP_CONNECTIONS", "1")]);
    let token = server.first_token();
    let ask = format!(
        "GET /api/v1/openapi.json HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        server.address
    );
    let mut deaf = open(&server, &ask);
    deaf.set_nonblocking(true).unwrap();
    // Until the connection takes no more: then the server waits for its client, at once or a little later.
    let many = ask.repeat(1000);
    while deaf.write(many.as_bytes()).is_ok() {}
    let health = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(20));
        server.client("none").try_ask("GET", "/health", &[], "")
    });
    assert!(health.take(1000).any(|answer| answer.is_ok_and(|answer| answer.status == 200)));
}

#[test]
fn a_request_that_does_not_arrive_is_not_waited_for() {
    let project = Project::new();
    let server = serve(&project, "127.0.0.1:0", &[("LONGHAUL_HTTP_PATIENCE_MS", "300")]);
    let token = server.first_token();
    for text in ["", "GET / HTTP/1.1\r\nHost: ", "GET /health HTTP/1.1\r\n\r"] {
        assert_eq!(rest(open(&server, text)), "", "{text:?}");
    }
    for path in ["/api/v1/check", "/mcp"] {
        let answer = rest(open(&server, &format!("{}{{\"half\":", head(&server, &token, path, 100))));
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
    }
    // An open stream does not count as an incomplete request.
    let mut stream = server.client(&token).stream("/api/v1/stream", &[]);
    assert_eq!(stream.next().unwrap().name, "questions");
    project.longhaul(&["run", "gate"]);
    assert!(stream.next().is_some());
}

#[test]
fn a_server_that_is_told_to_stop_waits_for_nobody_who_says_half() {
    let project = Project::new();
    let mut server = serve(&project, "127.0.0.1:0", &[("LONGHAUL_HTTP_PATIENCE_MS", "2000")]);
    let token = server.first_token();
    let held = [open(&server, ""), open(&server, "GET /he"), open(&server, &head(&server, &token, "/api/v1/check", 9))];
    assert_eq!(server.client("none").get("/health").status, 200);
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(server.child.wait().unwrap().success());
    drop(held);
}

#[test]
fn one_token_does_not_take_the_streams_of_the_others() {
    let project = Project::new();
    let server = project.serve(&[]);
    let (greedy, other) = (server.client(&project.token("viewer")), server.client(&project.token("viewer")));
    let open: Vec<Stream> = (0..128).map(|_| greedy.stream("/api/v1/stream", &[])).collect();
    let refused = greedy.get("/api/v1/stream");
    assert_eq!((refused.status, refused.json()["code"].clone()), (429, json!("LH0710")));
    assert!(refused.json()["title"].as_str().unwrap().contains("128 open streams"), "{}", refused.body);
    assert!(other.stream("/api/v1/stream", &[]).next().is_some());
    drop(open);
}

/// The id of the only token of a role.
fn id_of(project: &Project, role: &str) -> String {
    let listed = project.longhaul(&["serve", "tokens"]).stdout;
    listed.lines().find(|line| line.contains(role)).unwrap().split(' ').next().unwrap().to_owned()
}

fn ends(mut stream: Stream) {
    while stream.next().is_some() {}
}

#[test]
fn the_streams_of_a_token_end_when_another_process_revokes_it() {
    let project = Project::new();
    let server = project.serve(&[]);
    let admin = server.client(&server.first_token());
    let run = admin.make("/api/v1/runs", "k", &json!({"workflow": "gate"})).json()["run"].as_str().unwrap().to_owned();
    let token = project.token("viewer");
    let (viewer, browser) = (server.client(&token), server.browser(&token));
    let path = format!("/api/v1/runs/{run}/stream");
    let mut open = Vec::new();
    for client in [&viewer, &browser] {
        open.push(client.stream("/api/v1/stream", &[]));
        open.push(client.stream(&path, &[]));
    }
    let mut kept = admin.stream("/api/v1/stream", &[]);
    let told = project.longhaul(&["serve", "revoke", &id_of(&project, "viewer")]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    open.into_iter().for_each(ends);
    assert_eq!((viewer.get("/api/v1/runs").status, browser.get("/api/v1/runs").status), (401, 401));
    assert_eq!(kept.next().unwrap().name, "questions", "others continue");
    assert_eq!(admin.get("/api/v1/runs").status, 200);
}

#[test]
fn signing_out_ends_the_browser_and_its_streams_but_not_another_one() {
    let project = Project::new();
    let server = project.serve(&[]);
    let token = server.first_token();
    let (one, other) = (server.browser(&token), server.browser(&token));
    assert_ne!(one.shown, other.shown);
    let (stream, mut kept) = (one.stream("/api/v1/stream", &[]), other.stream("/api/v1/stream", &[]));
    assert_eq!(one.post("/api/v1/logout", &json!({})).status, 204);
    ends(stream);
    assert_eq!(one.get("/api/v1/about").status, 401, "a cookie that somebody kept opens nothing");
    assert_eq!(kept.next().unwrap().name, "questions");
    assert_eq!((other.get("/api/v1/about").status, server.client(&token).get("/api/v1/about").status), (200, 200));
}

/// Sends a message of the protocol; returns the head and the body of the answer.
pub(crate) fn say(server: &Server, token: &str, session: Option<&str>, message: &Value) -> (String, String) {
    let body = message.to_string();
    let session = session.map_or_else(String::new, |session| format!("Mcp-Session-Id: {session}\r\n"));
    let head =
        head(server, token, "/mcp", body.len()).replacen("\r\n", &format!("\r\n{session}Connection: close\r\n"), 1);
    let answer = rest(open(server, &format!("{head}{body}")));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.to_owned(), body.to_owned())
}

pub(crate) fn begin(server: &Server, token: &str) -> String {
    let client = json!({"name": "ed", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let (head, body) = say(server, token, None, &message);
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    let session = found.unwrap_or_else(|| panic!("{head}\n{body}")).1.to_owned();
    say(server, token, Some(&session), &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session
}

#[test]
fn a_session_of_the_protocol_belongs_to_its_token_and_ends_with_it() {
    let project = Project::new();
    let server = project.serve(&[]);
    let (owner, owned) = (server.first_token(), id_of(&project, "admin"));
    let other = project.token("admin");
    let session = begin(&server, &owner);
    let file = || walk(project.path(), &format!("{session}.json"));
    assert!(file(), "the session is kept");
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert!(say(&server, &owner, Some(&session), &ping).0.starts_with("HTTP/1.1 200"));
    assert!(say(&server, &other, Some(&session), &ping).0.starts_with("HTTP/1.1 404"), "it is not theirs");
    let header = format!("Mcp-Session-Id: {session}");
    let listening = server.client(&owner).stream("/mcp", &[&header, "Accept: text/event-stream"]);
    assert_eq!(project.longhaul(&["serve", "revoke", &owned]).code, 0);
    ends(listening);
    assert!(say(&server, &owner, Some(&session), &ping).0.starts_with("HTTP/1.1 401"));
    while file() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether there is a file with a name below a folder.
fn walk(folder: &std::path::Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.ends_with(name) || (path.is_dir() && walk(&path, name)))
}

#[test]
fn whoever_looks_after_a_machine_asks_it_by_its_address() {
    let project = Project::new();
    let server = serve(&project, "0.0.0.0:0", &[]);
    let told = |path: &str, host: &str, more: &str| {
        let text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        rest(open(&server, &text)).get(9..12).unwrap_or_default().to_owned()
    };
    for host in ["10.1.2.3", "10.1.2.3:8975", "[fd00::1]:8975"] {
        assert_eq!(told("/health", host, ""), "200", "{host}");
        assert_eq!(told("/health/live", host, ""), "200", "{host}");
        assert_eq!(told("/api/v1/about", host, ""), "403", "{host}");
        assert_eq!(told("/", host, ""), "403", "{host}");
        assert_eq!(told("/health", host, "Origin: http://10.1.2.3\r\n"), "403", "{host}");
    }
    for host in ["evil.example", "10.1.2.3.evil.example", ""] {
        assert_eq!(told("/health", host, ""), "403", "{host}");
    }
    let loopback = project.serve(&[]);
    let client = Client { shown: "Host: 10.1.2.3".to_owned(), ..loopback.client("") };
    assert_eq!(client.get("/health").status, 403, "not where only this machine is answered");
}
