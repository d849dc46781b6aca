//! Listens on loopback and hands requests on.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::api::Api;
use super::body::{Body, Hangup};
use super::desk::Desk;
use super::failure;
use super::log::{Entry, Outcome};
use super::play::{of_status, play};
use super::request::{Address, Request};
use super::script::Script;

/// How long tests wait for something that should happen at once, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(90);

/// An endpoint that lives as long as this value.
pub struct ModelServer {
    address: SocketAddr,
    desk: Arc<Desk>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts one on a free port, in a thread of its own.
    pub fn start(script: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let desk = Arc::new(Desk::new(script.parse()?, true));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&desk);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { address, desk, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it is, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where a lane of it is.
    pub fn lane(&self, name: &str) -> String {
        format!("{}/lane/{name}", self.url())
    }

    /// Begins again with another script, with an empty log.
    pub fn rewrite(&self, script: &str) -> Result<(), super::Error> {
        self.desk.restart(script.parse()?);
        Ok(())
    }

    /// What was asked so far.
    pub fn log(&self) -> Vec<Entry> {
        self.desk.log()
    }

    /// Waits until what was asked fits; panics with the log if it never does.
    pub fn wait(&self, fits: impl Fn(&[Entry]) -> bool) -> Vec<Entry> {
        let (log, is_so) = self.desk.wait(PATIENCE, fits);
        assert!(is_so, "what should be asked is not: {log:#?}");
        log
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // a thread that panicked has said so
            let _ = thread.join();
        }
    }
}

/// Serves a script on a port, for ever; `ready` is told the address. Every entry of the log holds its body if `keep_bodies`.
pub async fn serve(
    script: Script,
    port: u16,
    keep_bodies: bool,
    ready: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    ready(listener.local_addr()?);
    accept(listener, Arc::new(Desk::new(script, keep_bodies))).await;
    Ok(())
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        // one that could not be accepted is gone; the next may be well
        let Ok((stream, _)) = listener.accept().await else { continue };
        let desk = Arc::clone(&desk);
        let service = service_fn(move |asked| respond(Arc::clone(&desk), asked));
        tokio::spawn(async move {
            // it fails when the script or the client ends it early, and the log knows
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(desk: Arc<Desk>, asked: hyper::Request<Incoming>) -> Result<Response<Body>, Hangup> {
    let (head, body) = asked.into_parts();
    let body = body.collect().await.map_err(|_| Hangup)?.to_bytes();
    let whole_path = head.uri.path();
    if let Some(control) = whole_path.strip_prefix("/_") {
        return Ok(controlled(&desk, control, &String::from_utf8_lossy(&body)));
    }
    let (lane, path) = lane_of(whole_path);
    let Some(api) = Api::of_path(path).filter(|_| head.method == Method::POST) else {
        return Ok(other(&desk, whole_path));
    };
    let body = match serde_json::from_slice::<Value>(&body) {
        Ok(body) => body,
        Err(error) => return Ok(unreadable(&desk, api, path, &error.to_string())),
    };
    if path.ends_with("count_tokens") || path.ends_with(":countTokens") {
        let tokens = body.to_string().len() / 4;
        return Ok(noted(&desk, path, 200, &json!({"input_tokens": tokens, "totalTokens": tokens})));
    }
    let address = Address { api, lane: lane.to_owned(), path: path.to_owned(), key: key(&head.headers) };
    play(desk, Request::new(address, body)).await
}

fn lane_of(path: &str) -> (&str, &str) {
    let lane = path.strip_prefix("/lane/").and_then(|rest| rest.find('/').map(|end| rest.split_at(end)));
    lane.unwrap_or(("", path))
}

fn key(headers: &HeaderMap) -> String {
    const NAMES: [HeaderName; 3] = [
        HeaderName::from_static("x-api-key"),
        HeaderName::from_static("x-goog-api-key"),
        HeaderName::from_static("api-key"),
    ];
    let of = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = || of(&AUTHORIZATION).map(|value| value.trim_start_matches("Bearer "));
    NAMES.iter().find_map(of).or_else(bearer).unwrap_or_default().to_owned()
}

fn controlled(desk: &Desk, control: &str, text: &str) -> Response<Body> {
    match control {
        "log" => plain(200, &json!(desk.log())),
        "script" => match text.parse() {
            Ok(script) => {
                desk.restart(script);
                plain(200, &json!({"ok": true}))
            }
            Err(error) => plain(400, &json!({"error": super::Error::to_string(&error)})),
        },
        _ => plain(404, &json!({"error": "there are /_log and /_script"})),
    }
}

fn other(desk: &Desk, path: &str) -> Response<Body> {
    if path.ends_with("/models") {
        let model = json!({"id": "scripted-model", "object": "model", "type": "model", "display_name": "Scripted"});
        noted(desk, path, 200, &json!({"object": "list", "has_more": false, "data": [model]}))
    } else {
        noted(desk, path, 404, &json!({"error": {"message": "no model is asked here", "type": "not_found_error"}}))
    }
}

fn unreadable(desk: &Desk, api: Api, path: &str, error: &str) -> Response<Body> {
    let failure = failure::ours(api, &format!("unreadable request: {error}"));
    noted(desk, path, failure.status, &failure.body)
}

fn noted(desk: &Desk, path: &str, status: u16, body: &Value) -> Response<Body> {
    desk.note(Entry::other(path, status));
    plain(status, body)
}

fn plain(status: u16, body: &Value) -> Response<Body> {
    of_status(status, "application/json", Body::whole(body.to_string(), None, Outcome::Sent))
}
