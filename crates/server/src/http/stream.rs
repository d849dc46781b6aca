//! Streams of events: of one run, and of the list.

mod broadcaster;
mod bundle;
mod ring_buffer;
mod run_list;
mod transcript_tail;

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::stream;
use serde::Serialize;

pub(super) use broadcaster::Broadcaster;
pub(super) use bundle::RUNS_MAX;
use bundle::{Bundle, Wanted};

use super::call::{Call, Reply};
use super::passes::Pass;
use super::problem::Problem;

/// How often to send a sign of life if there is no event.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Sends all events of a run after a number, then each new one.
pub(super) async fn run(call: Call) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let last = call.headers.get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let after = match last {
        Some(id) => id.parse().map_err(|_| Problem::unreadable("`Last-Event-ID` is not the number of an event."))?,
        None => call.number("after", 0, 0..=u64::MAX >> 1)?,
    };
    let pass = call.pass()?;
    Ok(streamed(call.site.hub.watch(&run, after).await?, pass))
}

/// Sends rows of the list when they change.
pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    let pass = call.pass()?;
    Ok(streamed(call.site.hub.board()?, pass))
}

/// Sends the list and several runs in one stream.
pub(super) async fn several(call: Call) -> Result<Reply, Problem> {
    let list = match call.query("list") {
        None | Some("true") => true,
        Some("false") => false,
        Some(_) => return Err(Problem::unreadable("`list` must be true or false.")),
    };
    let runs: Option<Vec<Wanted>> = call.query_all("run").map(Wanted::read).collect();
    let runs = runs.ok_or_else(|| Problem::unreadable("`run` must be the id of a run, or `ID:AFTER`."))?;
    if runs.len() > RUNS_MAX {
        return Err(Problem::unreadable(format!("One stream watches at most {RUNS_MAX} runs.")));
    }
    let streams = runs.len() + usize::from(list);
    if streams == 0 {
        return Err(Problem::unreadable("The stream would be empty: name a `run`, or leave out `list=false`."));
    }
    let pass = call.passes(streams)?;
    Ok(streamed(Bundle::open(&call.site.hub, list, runs)?, pass))
}

/// A source of pieces. A call of `next` can be given up and made again; no piece is lost.
pub(super) trait Pieces: Send + 'static {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A stream that asks for a piece only after the client has taken the previous ones, so nothing piles up. It ends with
/// the pass.
fn streamed(pieces: impl Pieces, pass: Pass) -> Reply {
    let first = Bytes::from_static(b"retry: 1000\n\n");
    let rest = stream::unfold((Some(first), pieces), |(first, mut pieces)| async move {
        let piece = match first {
            Some(first) => first,
            None => pieces.next().await?,
        };
        Some((Ok::<Bytes, Infallible>(piece), (None, pieces)))
    });
    Reply::bytes(StatusCode::OK, "text/event-stream", pass.ends(Body::from_stream(rest)))
}

/// One event of a stream, as text.
fn event(name: &str, id: Option<u64>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
}
