//! A model endpoint that answers from a script: one answer per request, in order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use longhaul_core::Json;

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A whole stream.
    Stream(String),
    /// A stream that breaks off.
    Cut(String),
    /// An error, or anything else: status, headers, body.
    Status(u16, &'static str, String),
    /// No answer, forever.
    Silence,
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    /// The headers in lower case.
    pub(crate) headers: String,
    pub(crate) body: Json,
}

/// The endpoint. It listens while the test runs.
pub(crate) struct Endpoint {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    script: Arc<Mutex<Vec<Answer>>>,
}

impl Endpoint {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, script) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<Mutex<Vec<Answer>>>::default());
        let (to_asked, from_script) = (Arc::clone(&asked), Arc::clone(&script));
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                let request = read(&stream);
                to_asked.lock().unwrap().push(request);
                let mut script = from_script.lock().unwrap();
                let answer = if script.is_empty() { exhausted() } else { script.remove(0) };
                drop(script);
                open.extend(reply(stream, answer));
            }
        });
        Self { port, asked, script }
    }

    pub(crate) fn then(&self, answers: impl IntoIterator<Item = Answer>) {
        self.script.lock().unwrap().extend(answers);
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn exhausted() -> Answer {
    Answer::Status(400, "", "the script is at its end".to_owned())
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut headers = String::new();
    while !headers.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut headers).unwrap() > 0, "the request broke off");
    }
    let path = headers.split(' ').nth(1).unwrap().to_owned();
    let headers = headers.to_ascii_lowercase();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Asked { path, headers, body: serde_json::from_slice(&body).unwrap() }
}

/// Answers, and returns the connection if it must stay open.
fn reply(mut stream: TcpStream, answer: Answer) -> Option<TcpStream> {
    // The client may be gone by now.
    let mut say = |text: String| drop(stream.write_all(text.as_bytes()));
    match answer {
        Answer::Stream(body) => {
            say(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}"));
        }
        Answer::Cut(body) => {
            let length = body.len() + 100;
            say(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"));
        }
        Answer::Status(status, headers, body) => {
            let length = body.len();
            say(format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"));
        }
        Answer::Silence => return Some(stream),
    }
    None
}
