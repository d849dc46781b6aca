//! HTTP by hand: who comes in, who does not, and what a session survives.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::mcp::project::{Project, Web};
use crate::mcp::wire::{NEWEST, WITH_SESSION};

/// What came back.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The message in it, whether it stands alone or in a stream.
    fn message(&self) -> Value {
        let of_stream =
            self.body.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.contains("\"jsonrpc\""));
        let text = of_stream.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{}\n{}", self.head, self.body))
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }
}

/// A request exactly as it is written here; only its length is added.
fn ask(web: &Web, request: &str, headers: &[String], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(web.address()).unwrap();
    let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
    headers.iter().for_each(|line| head.push_str(&format!("{line}\r\n")));
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).unwrap();
    // A server that has heard enough may not listen to the rest.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status =
        head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("no answer: {text:?}"));
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Headers of a client that may come in.
fn friendly(project: &Project, web: &Web) -> Vec<String> {
    vec![
        format!("Host: {}", web.address()),
        format!("Authorization: Bearer {}", project.token()),
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
    ]
}

/// A request of the newest protocol, in which each stands alone.
fn call(project: &Project, web: &Web, tool: &str, arguments: Value) -> Answer {
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "ed", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": about});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut headers = friendly(project, web);
    headers.extend([
        format!("MCP-Protocol-Version: {NEWEST}"),
        "Mcp-Method: tools/call".to_owned(),
        format!("Mcp-Name: {tool}"),
    ]);
    ask(web, "POST /mcp", &headers, body.as_bytes())
}

#[test]
fn the_token_is_shown_once_and_kept_from_others() {
    let project = Project::new();
    let first = project.web(&[]);
    let token = project.token();
    assert!(first.said.iter().any(|line| line.contains(&token)), "{:?}", first.said);
    let file = project.state().join("mcp/token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(first);
    let second = project.web(&[]);
    assert!(!second.said.iter().any(|line| line.contains(&token)), "{:?}", second.said);
    assert_eq!(project.token(), token);
    assert_eq!(call(&project, &second, "runs", json!({})).status, 200);
}

#[test]
fn nothing_is_answered_to_strangers_whatever_they_ask_for() {
    let project = Project::new();
    let web = project.web(&[]);
    let good = friendly(&project, &web);
    let with = |changed: usize, line: &str| {
        let mut headers = good.clone();
        headers[changed] = line.to_owned();
        headers
    };
    let strangers = [
        (401, with(1, "X: y")),
        (401, with(1, "Authorization: Bearer wrong")),
        (401, with(1, "Authorization: Bearer ")),
        (401, with(1, "Authorization: Basic bnVsbDpudWxs")),
        (403, with(0, "Host: evil.example")),
        (403, with(0, "Host: 127.0.0.1.evil.example")),
        (403, [good.clone(), vec!["Origin: http://evil.example".to_owned()]].concat()),
        (403, [good.clone(), vec!["Origin: null".to_owned()]].concat()),
        (403, [good.clone(), vec![format!("Origin: http://{}", web.address())]].concat()),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    for (expected, headers) in &strangers {
        for request in [
            "POST /mcp",
            "GET /mcp",
            "DELETE /mcp",
            "OPTIONS /mcp",
            "PUT /mcp",
            "GET /",
            "GET /health",
            "POST /mcp/",
            "POST /MCP",
            "GET /mcp/../x",
            "TRACE /anything/ready",
        ] {
            let answer = ask(&web, request, headers, body.as_bytes());
            assert_eq!(answer.status, *expected, "{request} {headers:?}");
            assert!(
                !answer.body.contains("jsonrpc") && answer.header("access-control-allow-origin").is_none(),
                "{request}"
            );
        }
    }
    assert_eq!(ask(&web, "GET /", &good, b"").status, 404);
}

#[test]
fn a_page_that_was_allowed_may_call() {
    let project = Project::new();
    let web = project.web(&["--allow-origin", "http://localhost:6274"]);
    let mut headers = friendly(&project, &web);
    headers.push("Origin: http://localhost:6274".to_owned());
    assert_eq!(ask(&web, "GET /", &headers, b"").status, 404);
}

#[test]
fn what_is_too_large_or_no_message_is_refused_as_http_says() {
    let project = Project::new();
    let web = project.web(&[]);
    let good = friendly(&project, &web);
    let giant = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":"{}"}}}}"#,
        "a".repeat(9 * 1024 * 1024)
    );
    assert_eq!(ask(&web, "POST /mcp", &good, giant.as_bytes()).status, 413);
    for body in
        ["", "{", "nonsense", "[]", "{\"jsonrpc\":\"2.0\"}", "\u{0}", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}"]
    {
        let answer = ask(&web, "POST /mcp", &good, body.as_bytes());
        assert!((400..500).contains(&answer.status), "{body}: {} {}", answer.status, answer.body);
    }
    let mut plain = good.clone();
    plain[2] = "Content-Type: text/plain".to_owned();
    assert_eq!(ask(&web, "POST /mcp", &plain, b"{}").status, 415);
    assert_eq!(call(&project, &web, "runs", json!({})).status, 200);
}

#[test]
fn a_hosted_run_goes_on_whichever_server_answers() {
    let project = Project::new();
    let again = |tool: &str, arguments: Value| {
        let web = project.web(&[]);
        let answer = call(&project, &web, tool, arguments).message();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    };
    let mut picture = again("start", json!({"workflow": "three", "task": "x"}));
    let run = picture["run"].clone();
    while let Some(step) = picture["ready"].get(0).cloned() {
        picture =
            again("submit", json!({"run": run, "step": step["path"], "attempt": step["attempt"], "output": "done"}));
    }
    assert_eq!(picture["status"], "succeeded", "{picture}");
}

#[test]
fn a_session_is_known_to_the_next_server() {
    let project = Project::new();
    let web = project.web(&[]);
    let hello =
        json!({"protocolVersion": WITH_SESSION, "capabilities": {}, "clientInfo": {"name": "ed", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string();
    let welcome = ask(&web, "POST /mcp", &friendly(&project, &web), hello.as_bytes());
    assert_eq!(welcome.message()["result"]["protocolVersion"], WITH_SESSION);
    let session = format!("Mcp-Session-Id: {}", welcome.header("mcp-session-id").unwrap());
    drop(web);
    let web = project.web(&[]);
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "start", "arguments": {"workflow": "three"}}}).to_string();
    let mut headers = friendly(&project, &web);
    headers.push(session);
    let answer = ask(&web, "POST /mcp", &headers, body.as_bytes());
    assert_eq!(answer.message()["result"]["structuredContent"]["running"][0]["by"], "ed", "{}", answer.body);
    headers.pop();
    headers.push("Mcp-Session-Id: ../../../../etc/passwd".to_owned());
    assert_eq!(ask(&web, "POST /mcp", &headers, body.as_bytes()).status, 404);
}

#[test]
fn grants_of_a_session_end_when_its_client_ends_it() {
    let project = Project::new();
    let web = project.web(&[]);
    let hello =
        json!({"protocolVersion": WITH_SESSION, "capabilities": {}, "clientInfo": {"name": "ed", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string();
    let mut headers = friendly(&project, &web);
    let welcome = ask(&web, "POST /mcp", &headers, hello.as_bytes());
    let session = welcome.header("mcp-session-id").unwrap().to_owned();
    for of in [session.as_str(), "another"] {
        let told = project.longhaul(&["consent", "grant", "github:merge", "--session", of]);
        assert_eq!(told.code, 0, "{}", told.stderr);
    }
    headers.push(format!("Mcp-Session-Id: {session}"));
    let gone = ask(&web, "DELETE /mcp", &headers, b"");
    assert!((200..300).contains(&gone.status), "{} {}", gone.status, gone.body);
    let log: Value = serde_json::from_str(&project.longhaul(&["consent", "log", "--json"]).stdout).unwrap();
    let revoked: Vec<&Value> = log.as_array().unwrap().iter().filter(|entry| entry["consent"] == "revoked").collect();
    assert_eq!(revoked.len(), 1, "{log:#}");
    assert_eq!(revoked[0]["by"], format!("the end of session {session}"));
    assert_eq!(revoked[0]["grant"], 1, "the other session has not ended");
}
