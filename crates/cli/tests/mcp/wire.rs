//! Speaks the protocol by hand: one message per line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The protocol version of a client that keeps a session.
pub(crate) const WITH_SESSION: &str = "2025-11-25";
/// The newest version, in which every request stands alone.
pub(crate) const NEWEST: &str = "2026-07-28";

/// A client of a server over pipes. The server is killed when it is dropped.
pub(crate) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// The output schemas that the tools declare, once they were read.
    promised: Option<Vec<Value>>,
    /// Messages of the server other than answers.
    pub(crate) beside: Vec<Value>,
    /// The answer of the person who is asked.
    pub(crate) person: Option<Value>,
}

impl Pipes {
    /// Starts a server and says hello.
    pub(crate) fn open(command: Command, client: &str) -> Self {
        let mut pipes = Self::silent(command);
        pipes.hello(client, json!({}));
        pipes
    }

    /// Starts a server without a greeting.
    pub(crate) fn silent(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, requests: 0, promised: None, beside: Vec::new(), person: None }
    }

    /// Starts a session.
    pub(crate) fn hello(&mut self, client: &str, capabilities: Value) -> Value {
        let hello = json!({"protocolVersion": WITH_SESSION, "capabilities": capabilities, "clientInfo": {"name": client, "version": "1"}});
        let welcome = self.request("initialize", hello);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        welcome
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next message of the server.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server ended");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not the protocol: {line}"))
    }

    /// A request and its answer, whole.
    pub(crate) fn answer(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.hear();
            if message["method"] == "elicitation/create" {
                let said = self.person.clone().unwrap_or_else(|| json!({"action": "decline"}));
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": said}));
            }
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.beside.push(message);
        }
    }

    /// A request and its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Calls a tool, and checks its result against the output schema of the tool.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        self.hold(name, &result);
        result
    }

    fn hold(&mut self, name: &str, result: &Value) {
        // Tools of other systems declare no schema.
        let is_theirs = ["agent007_", "wb_", "workflows"].iter().any(|start| name.starts_with(start));
        if is_theirs || result["isError"] == true || result["resultType"] == "input_required" {
            return;
        }
        if self.promised.is_none() {
            self.promised = self.request("tools/list", json!({}))["tools"].as_array().cloned();
        }
        // Their actions also accept names that no list contains.
        let Some(tool) = self.promised.iter().flatten().find(|tool| tool["name"] == name) else { return };
        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&result["structuredContent"]).map(|why| why.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}\n{result:#}");
    }

    /// A successful call, as data.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// A successful call, as text.
    pub(crate) fn told(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// A failed call, and why it failed.
    pub(crate) fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the pipe, like a client that ends, and waits for the server to end.
    pub(crate) fn close(mut self) -> i32 {
        self.input = None;
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does every offered step until the run is over, with `submit`.
pub(crate) fn do_all(mut picture: Value, mut submit: impl FnMut(&Value) -> Value) -> Value {
    for _ in 0..100 {
        let Some(step) = picture["ready"].get(0).cloned() else { return picture };
        picture = submit(&step);
    }
    panic!("it does not end: {picture}")
}
