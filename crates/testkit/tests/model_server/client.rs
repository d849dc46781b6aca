//! A minimal HTTP client, so that the tests see exactly the bytes on the wire.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use longhaul_testkit::model_server::ModelServer;
use serde_json::{Value, json};

/// The four APIs and their paths.
pub(crate) const APIS: [(&str, &str); 4] = [
    ("anthropic", "/v1/messages"),
    ("responses", "/v1/responses"),
    ("chat", "/v1/chat/completions"),
    ("gemini", "/v1beta/models/m:generateContent"),
];

/// An answer.
pub(crate) struct Answer {
    /// The status; zero if there was no answer.
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// Whether it ended properly.
    pub(crate) is_complete: bool,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of each event of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

/// A server with a script.
pub(crate) fn server(script: &str) -> ModelServer {
    ModelServer::start(script).unwrap()
}

/// Sends a request and reads to the end.
pub(crate) fn post(server: &ModelServer, path: &str, body: &Value) -> Answer {
    ask(server, "POST", path, &body.to_string())
}

/// Any request.
pub(crate) fn ask(server: &ModelServer, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = send(server, method, path, body);
    let mut bytes = Vec::new();
    // a reset connection has no more data
    let _ = stream.read_to_end(&mut bytes);
    read(&String::from_utf8(bytes).unwrap())
}

/// Sends a request and does not read.
pub(crate) fn send(server: &ModelServer, method: &str, path: &str, body: &str) -> TcpStream {
    let url = server.url();
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: here\r\nx-api-key: k1\r\nconnection: close\r\n");
    stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
    stream
}

fn read(text: &str) -> Answer {
    let (headers, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status = headers.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let (body, is_complete) =
        if headers.contains("chunked") { unchunked(body) } else { (body.to_owned(), !headers.is_empty()) };
    Answer { status, headers: headers.to_owned(), body, is_complete }
}

fn unchunked(mut text: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&rest[..size]);
        text = &rest[size + 2..];
    }
    (body, false)
}

/// A question in the form of an API.
pub(crate) fn question(api: &str, prompt: &str, stream: bool, tools: &[&str]) -> Value {
    let functions = |wrap: &dyn Fn(&str) -> Value| tools.iter().map(|name| wrap(name)).collect::<Vec<_>>();
    match api {
        "anthropic" => json!({
            "model": "m", "max_tokens": 9, "stream": stream,
            "messages": [{"role": "user", "content": prompt}],
            "tools": functions(&|name| json!({"name": name, "input_schema": {}})),
        }),
        "responses" => json!({
            "model": "m", "stream": stream, "input": prompt,
            "tools": functions(&|name| json!({"type": "function", "name": name})),
        }),
        "chat" => json!({
            "model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}],
            "tools": functions(&|name| json!({"type": "function", "function": {"name": name}})),
        }),
        _ => json!({
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "tools": [{"functionDeclarations": functions(&|name| json!({"name": name}))}],
        }),
    }
}

/// The path at which an API streams.
pub(crate) fn streaming(path: &str) -> String {
    path.replace(":generate", ":streamGenerate")
}

/// The text of an answer without a stream.
pub(crate) fn words(api: &str, answer: &Value) -> String {
    let place = match api {
        "anthropic" => "/content/0/text",
        "responses" => "/output/0/content/0/text",
        "chat" => "/choices/0/message/content",
        _ => "/candidates/0/content/parts/0/text",
    };
    answer.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

/// Asks one of the APIs and returns the text of the answer.
pub(crate) fn said(server: &ModelServer, path: &str, prompt: &str) -> String {
    let answer = post(server, path, &question("chat", prompt, false, &[]));
    assert_eq!(answer.status, 200, "{}", answer.body);
    words("chat", &answer.json())
}
