//! What was asked and how it was answered.

use serde::Serialize;

use super::api::Api;
use super::request::Request;

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct RequestLog {
    /// Which request of all.
    pub seq: u64,
    /// Which request of its lane; none if the agent asked on its own account.
    pub n: Option<u64>,
    /// The lane, empty without one.
    pub lane: String,
    pub(super) api: Option<Api>,
    /// The path, without the lane.
    pub path: String,
    /// The model that was asked.
    pub model: String,
    /// Whether the answer was to come piece by piece.
    pub stream: bool,
    /// Whether the agent asked on its own account.
    pub side: bool,
    /// Whether a summary was asked for that takes the place of the conversation.
    pub compact: bool,
    /// The section that answered.
    pub section: String,
    /// The step that answered, as it is written.
    pub step: String,
    /// The status of the answer; zero if none was sent.
    pub status: u16,
    /// What came of it; none while it is being answered.
    pub outcome: Option<RequestOutcome>,
    /// What the user said last.
    pub prompt: String,
    /// What the last tool said.
    pub tool_result: String,
    /// How many messages the conversation has.
    pub messages: usize,
    /// The names of the tools that were offered.
    pub tools: Vec<String>,
    /// The key that was shown.
    pub key: String,
    /// How much might be written.
    pub max_tokens: u64,
    /// Whether the answer was to follow a schema.
    pub schema: bool,
    /// Everything that was asked, where bodies are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<serde_json::Value>,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// It was answered to the end.
    Sent,
    /// Its section had no step left.
    Exhausted,
    /// The client went before the end.
    ClientGone,
    /// The connection was closed without an end, as the script wanted.
    Broken,
    /// It was no request to a model.
    NoModel,
}

impl RequestLog {
    /// What is known of a request when it comes in.
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

    /// A request that no model is asked by.
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

/// The end of a text: prompts of agents are long, and what matters stands last.
fn last(text: &str) -> String {
    let signs = text.chars().count();
    text.chars().skip(signs.saturating_sub(400)).collect()
}
