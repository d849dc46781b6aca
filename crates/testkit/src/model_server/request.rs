//! A request of an agent, in one shape for all APIs.

use serde_json::Value;

use super::api::Api;
use super::{reading, side};

/// A request to the model.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) api: Api,
    /// The path, without the lane.
    pub(super) path: String,
    /// The lane; empty if there is none.
    pub(super) lane: String,
    pub(super) body: Value,
    pub(super) key: String,
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Tool>,
    /// The last result of a tool.
    pub(super) tool_result: String,
    /// The most tokens of the answer; zero if the request does not say.
    pub(super) max_tokens: u64,
    /// Whether the agent asks on its own account.
    pub(super) side: bool,
    /// Whether the request asks for a summary that replaces the conversation.
    pub(super) compact: bool,
}

/// A message of the conversation, without calls and results of tools.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    Tool,
}

/// A tool that the client offers.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    /// Whether it takes plain text instead of an object.
    pub(super) freeform: bool,
    /// The schema of its input.
    pub(super) schema: Value,
    /// The group of the tool, if the API has groups.
    pub(super) namespace: Option<String>,
}

/// The parts of a request that are known before its body is read.
pub(super) struct Address {
    pub(super) api: Api,
    pub(super) lane: String,
    pub(super) path: String,
    pub(super) key: String,
}

impl Request {
    /// Reads a request.
    pub(super) fn new(address: Address, body: Value) -> Self {
        let Address { api, lane, path, key } = address;
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        let stream = body["stream"].as_bool().unwrap_or_default();
        let mut request = Self {
            api,
            path,
            lane,
            body: Value::Null,
            key,
            model,
            stream,
            system: String::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_result: String::new(),
            max_tokens: 0,
            side: false,
            compact: false,
        };
        reading::read(&mut request, &body);
        request.body = body;
        request.compact = side::is_compact(&request);
        request.side = !request.compact && side::is_side(&request);
        request
    }

    /// The last message of the user, without the client's additions.
    pub(super) fn prompt(&self) -> String {
        let of_user = |message: &&Message| message.role == Role::User && !message.text.is_empty();
        let last = self.messages.iter().rev().find(of_user).map_or("", |message| &message.text);
        let own = without_added(last);
        if own.trim().is_empty() { last.to_owned() } else { own.trim().to_owned() }
    }

    /// The schema of the whole answer, if the request has one.
    pub(super) fn schema(&self) -> Option<&Value> {
        const PLACES: [&str; 5] = [
            "/generationConfig/responseJsonSchema",
            "/generationConfig/responseSchema",
            "/response_format/json_schema/schema",
            "/text/format/schema",
            "/output_config/format/schema",
        ];
        PLACES.iter().find_map(|place| self.body.pointer(place))
    }

    /// The working directory that the client reports.
    pub(super) fn cwd(&self) -> Option<String> {
        let texts = std::iter::once(&self.system).chain(self.messages.iter().map(|message| &message.text));
        texts.filter_map(|text| folder_in(text)).next()
    }

    /// The first of these tools that the client offers.
    pub(super) fn offered(&self, names: &[&str]) -> Option<&Tool> {
        names.iter().find_map(|name| self.tools.iter().find(|tool| tool.name == *name))
    }
}

/// Removes the client's additions: clients put them into user messages, inside tags with these names.
fn without_added(text: &str) -> String {
    const ADDED: [&str; 4] = ["system-reminder", "current_datetime", "session_context", "environment_context"];
    let mut text = text.to_owned();
    for name in ADDED {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let Some(length) = text[start..].find(&close) else { break };
            text.replace_range(start..start + length + close.len(), "");
        }
    }
    text
}

fn folder_in(text: &str) -> Option<String> {
    const MARKS: [&str; 4] = ["working directory", "working in the directory", "<cwd>", "workspace directories"];
    let lower = text.to_ascii_lowercase();
    let after = |mark: &&str| lower.find(*mark).map(|start| &text[start + mark.len()..]);
    let near = |rest: &str| rest.find('/').filter(|start| *start <= 20).map(|start| rest[start..].to_owned());
    let rest = MARKS.iter().filter_map(after).filter_map(near).next()?;
    let end = rest.find(|sign: char| sign.is_whitespace() || "<`\"')".contains(sign)).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['.', ',']).to_owned())
}
