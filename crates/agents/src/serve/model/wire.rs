//! The HTTP APIs of models, one file per API: the body of a request, and the reader of its stream.

mod chat;
mod messages;
mod responses;

use longhaul_core::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::facts::LimitName;
use super::message::{Message, Part, Reply};
use crate::contract::{AgentTrouble, Meter};
use crate::serve::tools::Tool;

/// The tool through which a model gives a structured answer, if the API has no other way.
pub(super) const ANSWER: &str = "answer";

/// The API of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Chat Completions, which nearly every server supports.
    Chat,
    /// OpenAI's Responses.
    Responses,
}

/// One request.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    pub(super) effort: Option<&'a str>,
    pub(super) messages: &'a [Message],
    pub(super) tools: &'a [&'static Tool],
    /// The schema of the answer: always an object.
    pub(super) schema: Option<&'a Json>,
    /// Whether the model must answer now, without further tools.
    pub(super) is_last: bool,
    /// The most tokens of the reply, and how the server wants that to be named.
    pub(super) limit: Option<(LimitName, u64)>,
}

impl Request<'_> {
    /// Whether this model wrote a kept part and needs it back.
    fn wants(&self, wire: Wire, by: &str) -> bool {
        by == wire.author(self.model)
    }
}

/// A piece of an answer, as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// The text before is complete.
    TextEnd,
    /// A piece of reasoning.
    Thought(&'a str),
    /// Reasoning in one piece.
    Thinking(&'a str),
    /// A sign of life.
    Alive,
}

/// Reads the events of one answer.
pub(super) trait Reading: Send {
    /// Reads an event.
    fn event(&mut self, event: &Json, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), AgentTrouble>;

    /// The whole reply; an error if its end is missing.
    fn finish(self: Box<Self>) -> Result<Reply, AgentTrouble>;
}

impl Wire {
    /// The path of its requests.
    fn path(self) -> &'static str {
        match self {
            Self::Messages => "/messages",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
        }
    }

    /// The address of requests: below the base, unless the base already is that address.
    pub(super) fn address(self, base_url: &str) -> String {
        let base = base_url.trim_end_matches('/');
        if base.ends_with(self.path()) {
            return base.to_owned();
        }
        let version = if self == Self::Messages && !base.ends_with("/v1") { "/v1" } else { "" };
        format!("{base}{version}{}", self.path())
    }

    pub(super) fn body(self, request: &Request<'_>) -> Json {
        match self {
            Self::Messages => messages::body(request),
            Self::Chat => chat::body(request),
            Self::Responses => responses::body(request),
        }
    }

    pub(super) fn reading(self, model: &str) -> Box<dyn Reading> {
        match self {
            Self::Messages => Box::new(messages::Answer::new(self.author(model))),
            Self::Chat => Box::<chat::Answer>::default(),
            Self::Responses => Box::new(responses::Answer::new(self.author(model))),
        }
    }

    /// An answer that came in one piece, as the events of a stream.
    pub(super) fn events_of(self, answer: &Json) -> Vec<Json> {
        match self {
            Self::Messages => messages::events_of(answer),
            Self::Chat => chat::events_of(answer),
            Self::Responses => responses::events_of(answer),
        }
    }

    /// Whether a schema needs the tool [`ANSWER`].
    pub(super) fn answers_by_tool(self) -> bool {
        self == Self::Messages
    }

    fn author(self, model: &str) -> String {
        format!("{} {model}", self.path())
    }
}

/// A stream that ended before its answer did.
pub(super) fn cut() -> AgentTrouble {
    AgentTrouble::named("stream_cut", "the answer broke off before its end")
}

/// Sets a member, if there is a value.
fn set(body: &mut Json, name: &str, value: Option<impl Into<Json>>) {
    if let (Some(value), Some(members)) = (value, body.as_object_mut()) {
        members.insert(name.to_owned(), value.into());
    }
}

pub(super) fn text_at<'a>(event: &'a Json, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer).and_then(Json::as_str).filter(|text| !text.is_empty())
}

fn count_at(event: &Json, pointer: &str) -> u64 {
    event.pointer(pointer).and_then(Json::as_u64).unwrap_or_default()
}

/// Whether a schema is in the narrow subset that OpenAI enforces strictly; it would refuse others.
fn is_strict(schema: &Json) -> bool {
    match schema {
        Json::Array(items) => items.iter().all(is_strict),
        Json::Object(members) => {
            let is_closed = members.get("properties").and_then(Json::as_object).is_none_or(|properties| {
                let required = members.get("required").and_then(Json::as_array).map_or(0, Vec::len);
                members.get("additionalProperties") == Some(&Json::Bool(false)) && required == properties.len()
            });
            let is_open = members.get("type") == Some(&json!("object")) && !members.contains_key("properties");
            is_closed && !is_open && members.values().all(is_strict)
        }
        _ => true,
    }
}

/// Joins user texts that follow each other: some models require alternating roles.
fn merged(messages: &[Message]) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::new();
    for message in messages {
        match (merged.last_mut(), message) {
            (Some(Message::User { text }), Message::User { text: more }) => {
                text.push_str("\n\n");
                text.push_str(more);
            }
            _ => merged.push(message.clone()),
        }
    }
    merged
}

/// A text part, unless the text is empty: APIs refuse empty texts.
fn text_part(text: String) -> Option<Part> {
    (!text.is_empty()).then_some(Part::Text { text })
}

/// The usage that OpenAI's APIs report.
fn used(usage: &Json, names: [&str; 3]) -> Meter {
    let [input, cached, output] = names;
    Meter {
        input_tokens: count_at(usage, input),
        cached_tokens: count_at(usage, cached),
        output_tokens: count_at(usage, output),
        usd: usage.get("cost").and_then(Json::as_f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_below_any_base() {
        let check = |wire: Wire, base: &str, expected: &str| assert_eq!(wire.address(base), expected);
        check(Wire::Messages, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        check(Wire::Messages, "http://127.0.0.1:1/lane/a/v1/", "http://127.0.0.1:1/lane/a/v1/messages");
        check(Wire::Messages, "http://h/odd/messages", "http://h/odd/messages");
        check(Wire::Chat, "http://h/v1", "http://h/v1/chat/completions");
        check(Wire::Responses, "http://h/v1/", "http://h/v1/responses");
    }

    #[test]
    fn only_closed_schemas_are_strict() {
        let object = |extra: Json| {
            let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            schema
        };
        assert!(is_strict(&object(json!({"required": ["a"], "additionalProperties": false}))));
        assert!(!is_strict(&object(json!({"additionalProperties": false}))));
        assert!(!is_strict(&object(json!({"required": ["a"]}))));
        assert!(!is_strict(&json!({"type": "array", "items": {"type": "object"}})));
    }
}
