//! Tests that finished runs arrive at a collector as traces.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::binary::command;
use crate::serve::site::Project;

/// Takes one request, and answers with success.
fn received(listener: &TcpListener) -> (String, Value) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let size = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; size.unwrap()];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}").unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_run_is_sent_as_one_trace_with_a_span_for_each_step() {
    let project = Project::new();
    let text = "name: talk\ndo:\n  - {id: say, prompt: 'Say {{ task }}', agent: {backend: claude}}\n  - {id: end, run: 'exit 3'}\n";
    std::fs::write(project.path().join(".longhaul/workflows/talk.yaml"), text).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let run = project.longhaul(&["run", "talk", "hello", "--queue"]).stdout.trim().to_owned();
    let mut worker = command(project.path(), &["worker", "--agent", "scripted"]);
    worker.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", listener.local_addr().unwrap()));
    worker.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=longhaul").env("NO_PROXY", "*");
    let mut worker = worker.stderr(std::process::Stdio::null()).spawn().unwrap();
    let (head, body) = received(&listener);
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(head.starts_with("POST /v1/traces ") && head.contains("x-team: longhaul"), "{head}");
    let scope = &body["resourceSpans"][0];
    assert_eq!(
        scope["resource"]["attributes"][0],
        json!({"key": "service.name", "value": {"stringValue": "longhaul"}})
    );
    let spans = scope["scopeSpans"][0]["spans"].as_array().unwrap();
    let named =
        |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name}: {body:#}"));
    let (root, step, attempt) = (named("talk"), named("say"), named("say@1"));
    assert!(root.get("parentSpanId").is_none() && root["status"]["code"] == 2, "{root}");
    assert_eq!((&step["parentSpanId"], &attempt["parentSpanId"]), (&root["spanId"], &step["spanId"]));
    assert!(
        spans.iter().all(|span| span["traceId"] == root["traceId"] && span["traceId"].as_str().unwrap().len() == 32)
    );
    let known = |span: &Value, key: &str| {
        span["attributes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|known| known["key"] == key)
            .map(|known| known["value"].clone())
    };
    assert_eq!(known(root, "longhaul.run"), Some(json!({"stringValue": run})));
    assert!(known(attempt, "gen_ai.usage.output_tokens").unwrap()["intValue"].is_string(), "{attempt}");
    assert_eq!(named("end@1")["status"]["code"], 2);
    let ends = |span: &Value| span["endTimeUnixNano"].as_str().unwrap().parse::<u128>().unwrap();
    assert!(ends(step) <= ends(root));
}
