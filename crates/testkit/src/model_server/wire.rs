//! Writes answers in the form of each API: as one body, or as a stream of events.
//!
//! **Invariant:** the pieces of a stream put together are the body.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use super::answer::Answer;
use super::api::Api;
use super::request::Request;

/// A fixed time in the past: answers do not depend on the clock.
const CREATED: u64 = 1_700_000_000;

/// One server-sent event.
#[derive(Debug, Clone)]
pub(super) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    fn named(name: &'static str, data: Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    fn plain(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    /// The event as it is sent.
    pub(super) fn text(&self) -> String {
        let name = self.name.map_or_else(String::new, |name| format!("event: {name}\n"));
        format!("{name}data: {}\n\n", self.data)
    }
}

/// The answer as one body.
pub(super) fn body(request: &Request, answer: &Answer) -> Value {
    match request.api {
        Api::Anthropic => anthropic::body(request, answer),
        Api::Responses => responses::body(request, answer),
        Api::Chat => chat::body(request, answer),
        Api::Gemini => gemini::body(request, answer),
    }
}

/// The answer as a stream.
pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    match request.api {
        Api::Anthropic => anthropic::events(request, answer),
        Api::Responses => responses::events(request, answer),
        Api::Chat => chat::events(request, answer),
        Api::Gemini => gemini::events(request, answer),
    }
}

/// A stream that starts well and then reports an error.
pub(super) fn failing(request: &Request, answer: &Answer, error: &Value) -> Vec<Event> {
    match request.api {
        Api::Anthropic => anthropic::failing(request, answer, error),
        Api::Responses => responses::failing(request, answer, error),
        Api::Chat => chat::failing(error),
        Api::Gemini => vec![Event::plain(error)],
    }
}

/// A text in short pieces; at least one, so that an empty text is sent too.
fn pieces(text: &str) -> Vec<String> {
    let signs: Vec<char> = text.chars().collect();
    let mut pieces: Vec<String> = signs.chunks(24).map(|piece| piece.iter().collect()).collect();
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    pieces
}

/// An object with some of its entries changed.
fn with(object: &Value, changes: Value) -> Value {
    let mut object = object.clone();
    if let (Value::Object(entries), Value::Object(changes)) = (&mut object, changes) {
        entries.extend(changes);
    }
    object
}
