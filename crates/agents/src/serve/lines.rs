//! Prints the lines of a served agent.
//!
//! **Invariant:** a line is whole and flushed before anything else happens, and contains no secrets. If the reader is
//! gone, the turn stops, because its cost could not be recorded.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::contract::{Ending, TranscriptEntry};
use crate::redact::Redaction;

/// Streamed text is printed line by line, or when this much has arrived.
const TEXT_BYTES: usize = 200;
const ALIVE: Duration = Duration::from_secs(1);
/// Streamed reasoning is printed when this much has arrived, or after this time.
const THOUGHT_BYTES: usize = 2_000;
const THOUGHT: Duration = Duration::from_secs(20);
/// Shorter secrets would match ordinary text.
const SECRET_BYTES_MIN: usize = 8;

/// A line of the stream between a served agent and its driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    /// The last line.
    Ending {
        /// The report about the turn.
        ending: Box<Ending>,
    },
    /// An entry of the transcript.
    Entry(TranscriptEntry),
}

/// Prints lines.
pub(crate) struct Lines {
    inner: Mutex<Inner>,
    cancel: CancellationToken,
}

struct Inner {
    out: Box<dyn Write + Send>,
    secrets: Redaction,
    text: String,
    /// Whether the next piece continues a started text.
    is_begun: bool,
    alive: Option<Instant>,
    thought: String,
    thought_at: Option<Instant>,
}

impl Lines {
    pub(crate) fn new(out: impl Write + Send + 'static, cancel: CancellationToken) -> Self {
        let (out, secrets) = (Box::new(out), Redaction::default());
        let inner = Inner {
            out,
            secrets,
            text: String::new(),
            is_begun: false,
            alive: None,
            thought: String::new(),
            thought_at: None,
        };
        Self { inner: Mutex::new(inner), cancel }
    }

    /// Hides a text from now on.
    pub(crate) fn hide(&self, secret: &str) {
        if secret.len() >= SECRET_BYTES_MIN {
            let mut inner = self.lock();
            inner.secrets = inner.secrets.with(vec![secret.to_owned()]);
        }
    }

    pub(crate) fn entry(&self, entry: TranscriptEntry) {
        self.end_thought();
        self.end_text();
        self.write(&mut self.lock(), &Line::Entry(entry));
    }

    /// Adds a piece of the agent's text.
    pub(crate) fn text(&self, piece: &str) {
        self.end_thought();
        let mut inner = self.lock();
        inner.text.push_str(piece);
        let whole = inner.text.rfind('\n').map_or(0, |at| at + 1);
        let is_long = inner.text.len() - whole >= TEXT_BYTES;
        let rest = if is_long { String::new() } else { inner.text.split_off(whole) };
        self.flush_text(&mut inner);
        inner.text = rest;
    }

    /// Ends the text; the next piece starts another one.
    pub(crate) fn end_text(&self) {
        let mut inner = self.lock();
        self.flush_text(&mut inner);
        inner.is_begun = false;
    }

    /// Adds a piece of the agent's reasoning. It is printed from time to time, as a sign of life.
    pub(crate) fn thought(&self, piece: &str) {
        let mut inner = self.lock();
        inner.thought.push_str(piece);
        let since = *inner.thought_at.get_or_insert_with(Instant::now);
        if inner.thought.len() >= THOUGHT_BYTES || since.elapsed() >= THOUGHT {
            self.flush_thought(&mut inner);
        }
    }

    fn end_thought(&self) {
        self.flush_thought(&mut self.lock());
    }

    fn flush_thought(&self, inner: &mut Inner) {
        inner.thought_at = None;
        let text = std::mem::take(&mut inner.thought);
        if !text.is_empty() {
            self.write(inner, &Line::Entry(TranscriptEntry::Thinking { text }));
        }
    }

    /// Prints a sign of life, at most once a second.
    pub(crate) fn alive(&self) {
        let mut inner = self.lock();
        if inner.alive.is_none_or(|last| last.elapsed() >= ALIVE) {
            inner.alive = Some(Instant::now());
            // It does not interrupt the pieces of a text.
            self.write(&mut inner, &Line::Entry(TranscriptEntry::Alive));
        }
    }

    pub(crate) fn notice(&self, text: impl Into<String>) {
        self.entry(TranscriptEntry::Notice { text: text.into() });
    }

    pub(crate) fn end(&self, ending: &Ending) {
        self.entry(TranscriptEntry::Result);
        self.write(&mut self.lock(), &Line::Ending { ending: Box::new(ending.clone()) });
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A line is written whole or not at all, so a panic in another thread leaves a valid state.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush_text(&self, inner: &mut Inner) {
        if inner.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut inner.text);
        let delta = std::mem::replace(&mut inner.is_begun, true);
        self.write(inner, &Line::Entry(TranscriptEntry::Text { text, delta }));
    }

    fn write(&self, inner: &mut Inner, line: &Line) {
        let Ok(text) = serde_json::to_string(line) else { return };
        let mut text = inner.secrets.text(text);
        text.push('\n');
        if inner.out.write_all(text.as_bytes()).and_then(|()| inner.out.flush()).is_err() {
            self.cancel.cancel();
        }
    }
}
