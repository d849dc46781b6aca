//! Several streams in one connection: the list of runs, and any number of runs.
//!
//! Browsers allow few connections to a server. With a bundle, all windows of a browser need one.
//!
//! ```text
//! list ──────┐
//! run a ─────┼─▶ {about: a} events of a {about: b} events of b …
//! run b ─────┘
//! ```
//!
//! **Invariant:** the events of a run follow an `about` with its id, in the order of its own stream. A run that is not
//! there, or whose journal is slow to read, holds up no other.

use std::collections::VecDeque;

use axum::body::Bytes;
use futures_util::future::{BoxFuture, FutureExt, select_all};
use serde_json::json;
use tokio::task::JoinHandle;

use super::broadcaster::{Broadcaster, Watcher};
use super::run_list::Viewer;
use super::{Pieces, event};
use crate::http::problem::Problem;

/// The most runs in one bundle.
pub(crate) const RUNS_MAX: usize = 32;

/// A run that a client wants to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The id, or the start of it.
    pub(crate) run: String,
    /// The last event that the client has.
    pub(crate) after: u64,
}

impl Wanted {
    /// Reads `ID` or `ID:AFTER`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (run, after) = text.split_once(':').unwrap_or((text, "0"));
        let is_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_right = (1..=40).contains(&run.len()) && run.bytes().all(is_id);
        let after = after.parse().ok().filter(|after| *after <= u64::MAX >> 1)?;
        is_right.then(|| Self { run: run.to_owned(), after })
    }
}

/// Several streams in one.
pub(crate) struct Bundle {
    sources: VecDeque<Source>,
    /// The run that the last event was about.
    about: Option<String>,
}

enum Source {
    List(Viewer),
    /// The journal of the run is being read, in a task of its own: reading must not start again at each event.
    Joining(String, JoinHandle<Result<Watcher, Problem>>),
    Run(String, Box<Watcher>),
}

/// What a source gives next.
enum Given {
    Piece(Option<Bytes>),
    Joined(Result<Watcher, Problem>),
}

impl Bundle {
    /// Opens the streams.
    pub(crate) fn open(hub: &Broadcaster, list: bool, runs: Vec<Wanted>) -> Result<Self, Problem> {
        let mut sources = VecDeque::new();
        if list {
            sources.push_back(Source::List(hub.board()?));
        }
        sources.extend(runs.into_iter().map(|wanted| Source::joining(hub.clone(), wanted)));
        Ok(Self { sources, about: None })
    }

    /// The next piece, and the source that gave it. Every source can be asked again if another one was first.
    async fn first(&mut self) -> Option<(usize, Given)> {
        let asked: Vec<BoxFuture<'_, Given>> = self.sources.iter_mut().map(Source::next).collect();
        if asked.is_empty() {
            return None;
        }
        let (given, at, _) = select_all(asked).await;
        Some((at, given))
    }

    /// A piece of a run, after its id if the piece before it was about another run.
    fn labelled(&mut self, run: &str, piece: &Bytes) -> Bytes {
        // A comment is about no run.
        if piece.starts_with(b":") || self.about.as_deref() == Some(run) {
            return piece.clone();
        }
        self.about = Some(run.to_owned());
        [event("about", None, &json!({"run": run})), piece.clone()].concat().into()
    }
}

impl Source {
    fn joining(hub: Broadcaster, Wanted { run, after }: Wanted) -> Self {
        let id = run.clone();
        let join = async move {
            let found = hub.find(&id).await?;
            hub.watch(&found, after).await
        };
        Self::Joining(run, tokio::spawn(join))
    }

    fn next(&mut self) -> BoxFuture<'_, Given> {
        match self {
            Self::List(viewer) => viewer.next().map(Given::Piece).boxed(),
            Self::Run(_, watcher) => watcher.next().map(Given::Piece).boxed(),
            Self::Joining(_, join) => join
                .map(|joined| Given::Joined(joined.unwrap_or_else(|error| Err(Problem::failing(error.to_string())))))
                .boxed(),
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Self::Joining(_, join) = self {
            join.abort();
        }
    }
}

impl Pieces for Bundle {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let (at, given) = self.first().await?;
            let mut source = self.sources.remove(at)?;
            match (&mut source, given) {
                // The stream of the list ends if the client is too far behind, or with the server.
                (Source::List(_), Given::Piece(piece)) => {
                    let piece = piece?;
                    // The others are asked first, so that no source keeps them waiting.
                    self.sources.push_back(source);
                    return Some(piece);
                }
                (Source::Run(run, _), Given::Piece(Some(piece))) => {
                    let piece = self.labelled(&run.clone(), &piece);
                    self.sources.push_back(source);
                    return Some(piece);
                }
                // A run that is removed ends; a store that fails, and a server that stops, end the whole stream.
                (Source::Run(_, watcher), Given::Piece(None)) if watcher.is_over() => {}
                (Source::Joining(run, _), Given::Joined(Ok(watcher))) => {
                    let run = std::mem::take(run);
                    self.sources.push_back(Source::Run(run, Box::new(watcher)));
                }
                // A run that cannot be read takes nothing away from the others.
                (Source::Joining(run, _), Given::Joined(Err(_))) => {
                    let gone = event("gone", None, &json!({}));
                    return Some(self.labelled(&run.clone(), &gone));
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_run_has_an_id_and_perhaps_a_place() {
        let read = |text| Wanted::read(text).map(|wanted| (wanted.run, wanted.after));
        assert_eq!(read("build-7"), Some(("build-7".to_owned(), 0)));
        assert_eq!(read("build-7:12"), Some(("build-7".to_owned(), 12)));
        let long = "a".repeat(41);
        for wrong in ["", ":1", "a:", "a:-1", "a:b", "a:1:2", "A", "a/b", "a\n", &long, "a:9223372036854775808"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
