//! The log of requests and answers.

use serde::Serialize;

use super::api::Api;
use super::request::Request;

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct RequestLog {
    /// The number of the request.
    pub seq: u64,
    /// The number of the request in its lane; `None` for a request on the agent's own account.
    pub n: Option<u64>,
    /// The lane; empty if there is none.
    pub lane: String,
    pub(super) api: Option<Api>,
    /// The path, without the lane.
    pub path: String,
    /// The requested model.
    pub model: String,
    /// Whether the client asked for a stream.
    pub stream: bool,
    /// Whether the agent asked on its own account.
    pub side: bool,
    /// Whether the request asks for a summary that replaces the conversation.
    pub compact: bool,
    /// The section that answered.
    pub section: String,
    /// The step that answered, as the script writes it.
    pub step: String,
    /// The status of the answer; zero if none was sent.
    pub status: u16,
    /// The outcome; `None` until the answer is complete.
    pub outcome: Option<RequestOutcome>,
    /// The last message of the user.
    pub prompt: String,
    /// The last result of a tool.
    pub tool_result: String,
    /// The number of messages in the conversation.
    pub messages: usize,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The key of the request.
    pub key: String,
    /// The most tokens that the answer may have.
    pub max_tokens: u64,
    /// Whether the answer must follow a schema.
    pub schema: bool,
    /// The whole body, if bodies are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<serde_json::Value>,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// The answer was sent completely.
    Sent,
    /// Its section had no step left.
    Exhausted,
    /// The client disconnected before the end.
    ClientGone,
    /// The connection was closed without an end, as the script says.
    Broken,
    /// The request was not for a model.
    NoModel,
}

impl RequestLog {
    /// The entry of a new request.
    pub(super) fn of(request: &Request, body: bool) -> Self {
        Self {
            seq: 0,
            n: None,
            lane: request.lane.clone(),
            api: Some(request.api),
            path: request.path.clone(),
            model: request.model.clone(),
            stream: request.stream,
            side: request.side,
            compact: request.compact,
            section: String::new(),
            step: String::new(),
            status: 0,
            outcome: None,
            prompt: last(&request.prompt()),
            tool_result: last(&request.tool_result),
            messages: request.messages.len(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            key: request.key.clone(),
            max_tokens: request.max_tokens,
            schema: request.schema().is_some(),
            body: body.then(|| request.body.clone()),
        }
    }

    /// The entry of a request that is not for a model.
    pub(super) fn other(path: &str, status: u16) -> Self {
        Self {
            seq: 0,
            n: None,
            lane: String::new(),
            api: None,
            path: path.to_owned(),
            model: String::new(),
            stream: false,
            side: true,
            compact: false,
            section: String::new(),
            step: String::new(),
            status,
            outcome: Some(RequestOutcome::NoModel),
            prompt: String::new(),
            tool_result: String::new(),
            messages: 0,
            tools: Vec::new(),
            key: String::new(),
            max_tokens: 0,
            schema: false,
            body: None,
        }
    }
}

/// The end of a text: prompts of agents are long, and the important part is last.
fn last(text: &str) -> String {
    let signs = text.chars().count();
    text.chars().skip(signs.saturating_sub(400)).collect()
}
