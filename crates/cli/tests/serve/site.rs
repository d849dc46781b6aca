//! A project, servers of it, and a client that writes its requests by hand.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Told, command, longhaul, state};

/// One step after the other, with a pause in each that somebody can be killed in.
pub(crate) const STEPS: &str = "
name: steps
description: Five commands
inputs: {word: {type: string, default: hi}}
do:
  - {id: one, run: 'printf one; sleep 0.2', output: first}
  - {id: two, run: 'printf two; printf oops >&2; sleep 0.2'}
  - {id: three, run: 'sleep 0.2; printf three'}
  - {id: four, run: 'sleep 0.2; printf four'}
  - {id: five, run: 'sleep 0.2; printf five', output: last}
outputs: {said: '{{ first }} {{ last }} {{ inputs.word }}'}
";

/// A gate between two commands.
pub(crate) const GATE: &str = "
name: gate
description: Ask before continuing
do:
  - {id: before, run: printf before}
  - {id: go, approve: 'Continue?'}
  - {id: after, run: printf after}
";

/// A project.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join(".longhaul/workflows");
        std::fs::create_dir_all(&workflows).unwrap();
        for (name, text) in [("steps", STEPS), ("gate", GATE), ("broken", "do: [{id: a, runn: x}]")] {
            std::fs::write(workflows.join(format!("{name}.yaml")), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn state(&self) -> PathBuf {
        state(command(self.path(), &[]))
    }

    pub(crate) fn longhaul(&self, args: &[&str]) -> Told {
        longhaul(self.path(), args)
    }

    /// A token for a role.
    pub(crate) fn token(&self, role: &str) -> String {
        self.longhaul(&["serve", "token", "--role", role]).stdout.trim().to_owned()
    }

    /// A server on a port of its own.
    pub(crate) fn serve(&self, args: &[&str]) -> Server {
        let args: Vec<&str> =
            ["serve", "--json", "--listen", "127.0.0.1:0"].into_iter().chain(args.iter().copied()).collect();
        Server::of(command(self.path(), &args))
    }
}

/// A server.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// What it said when it was ready.
    pub(crate) said: Value,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// What a command starts, once it says where it listens.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it said {line:?}"));
        let address = said["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { child, address, said }
    }

    /// The token of the address that was shown.
    pub(crate) fn first_token(&self) -> String {
        self.said["login"].as_str().unwrap().rsplit_once("token=").unwrap().1.to_owned()
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client::of(&self.address, token)
    }

    /// A browser that opened the address with the token.
    pub(crate) fn browser(&self, token: &str) -> Client {
        let stranger = Client { shown: "X-Nobody: 1".to_owned(), ..self.client("") };
        let answer = stranger.get(&format!("/login?token={token}"));
        assert_eq!((answer.status, answer.header("location")), (303, Some("/".to_owned())), "{}", answer.head);
        let cookie = answer.header("set-cookie").unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        Client { shown: format!("Cookie: {}", cookie.split(';').next().unwrap()), ..stranger }
    }
}

/// Somebody who asks.
pub(crate) struct Client {
    pub(crate) address: String,
    /// By what they are known.
    pub(crate) shown: String,
    /// How long they wait for the next bytes.
    pub(crate) patience: Duration,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}\n{}", self.head, self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }
}

impl Client {
    /// Somebody with a token, who speaks to the server at an address.
    pub(crate) fn of(address: &str, token: &str) -> Self {
        let shown = format!("Authorization: Bearer {token}");
        Self { address: address.to_owned(), shown, patience: Duration::from_secs(60) }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// A value that is there.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &["X-Longhaul: 1", "Content-Type: application/json"], &body.to_string())
    }

    /// Something that is made once under a key.
    pub(crate) fn make(&self, path: &str, key: &str, body: &Value) -> Answer {
        let key = format!("Idempotency-Key: {key}");
        self.ask("POST", path, &["X-Longhaul: 1", "Content-Type: application/json", &key], &body.to_string())
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.try_ask(method, path, headers, body).unwrap_or_else(|error| panic!("no answer to {path}: {error}"))
    }

    /// The same, of a server that may be gone, or be in the middle of it.
    pub(crate) fn try_ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> io::Result<Answer> {
        let mut stream = self.send(method, path, headers, body)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("it said {text:?}")))?;
        Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(self.patience))?;
        let Self { address, shown, .. } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{shown}\r\nConnection: close\r\n");
        headers.iter().for_each(|line| text.push_str(&format!("{line}\r\n")));
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    /// A stream of events.
    pub(crate) fn stream(&self, path: &str, headers: &[&str]) -> Stream {
        self.try_stream(path, headers).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The same, of a server that may be gone.
    pub(crate) fn try_stream(&self, path: &str, headers: &[&str]) -> io::Result<Stream> {
        let mut reader = BufReader::new(self.send("GET", path, headers, "")?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if !line.contains(" 200 ") {
            return Err(io::Error::other(line));
        }
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        Ok(Stream { reader })
    }
}

/// A stream of events. Sizes of chunks are lines of their own, and look like no line of an event.
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
}

/// One event of a stream.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) name: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

impl Stream {
    /// The next event; `None` when the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Happened> {
        let (mut name, mut id) = (String::new(), None);
        loop {
            let mut line = String::new();
            // A line without an end is one in the middle of which somebody died.
            if self.reader.read_line(&mut line).is_err() || !line.ends_with('\n') {
                return None;
            }
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            } else if let Some(text) = line.strip_prefix("id: ") {
                id = text.parse().ok();
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Some(Happened { name, id, data: serde_json::from_str(text).unwrap() });
            }
        }
    }

    /// The events of the journal up to one of a kind.
    pub(crate) fn until(&mut self, kind: &str) -> Vec<Happened> {
        let mut all = Vec::new();
        while let Some(happened) = self.next() {
            let is_last = happened.data["event"] == kind;
            if happened.name == "journal" {
                all.push(happened);
            }
            if is_last {
                return all;
            }
        }
        panic!("the stream ended before {kind}: {all:?}");
    }
}
