//! A conversation with a model, in a form that every API can send.

use longhaul_core::Json;
use serde::{Deserialize, Serialize};

use crate::contract::Meter;

/// One message of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Message {
    User { text: String },
    Assistant { parts: Vec<Part> },
    Results { results: Vec<Answered> },
}

impl Message {
    pub(super) fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// The calls in it.
    pub(super) fn calls(&self) -> Vec<&Call> {
        match self {
            Self::Assistant { parts } => calls(parts),
            Self::User { .. } | Self::Results { .. } => Vec::new(),
        }
    }
}

/// A part of what a model says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part {
    Text {
        text: String,
    },
    Call(Call),
    /// A part that only the model that wrote it can read (signed or sealed reasoning), and that must be sent back.
    Kept {
        /// The API and the model.
        by: String,
        block: Json,
    },
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Json,
    /// The original text of the input, if it was not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<String>,
}

impl Call {
    /// A call whose input came as text. An empty text means no parameters.
    pub(super) fn new(id: String, name: String, input: &str) -> Self {
        let empty = || Json::Object(serde_json::Map::new());
        match serde_json::from_str(input) {
            Ok(input @ Json::Object(_)) => Self { id, name, input, broken: None },
            _ if input.trim().is_empty() => Self { id, name, input: empty(), broken: None },
            _ => Self { id, name, input: empty(), broken: Some(input.to_owned()) },
        }
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) ok: bool,
    pub(super) text: String,
}

/// The reply of a model to one request.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Reply {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    pub(super) used: Meter,
    pub(super) model: Option<String>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Stop {
    /// It has finished, or waits for tools.
    #[default]
    Done,
    /// It reached the limit of one reply.
    Cut,
    /// It refused, or a filter stopped it.
    Refused(String),
    /// Its context is full.
    Full,
    /// It asks to be called again to continue.
    Paused,
}

pub(super) fn calls(parts: &[Part]) -> Vec<&Call> {
    let mut calls = Vec::new();
    for part in parts {
        if let Part::Call(call) = part {
            calls.push(call);
        }
    }
    calls
}

pub(super) fn text(parts: &[Part]) -> String {
    let mut all = String::new();
    for part in parts {
        if let Part::Text { text } = part {
            all.push_str(text);
        }
    }
    all
}

impl Meter {
    pub(super) fn add(&mut self, more: &Self) {
        self.input_tokens += more.input_tokens;
        self.cached_tokens += more.cached_tokens;
        self.output_tokens += more.output_tokens;
        self.usd = match (self.usd, more.usd) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
    }
}
