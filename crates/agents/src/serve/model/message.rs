//! A conversation with a model, as every wire can tell it.

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
    /// What only the model that wrote it can read (its thoughts, signed or sealed) and wants to see again.
    Kept {
        /// The wire and the model.
        by: String,
        block: Json,
    },
}

/// A model wants a tool to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Json,
    /// What stood in place of an input, if that was no JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<String>,
}

impl Call {
    /// A call whose input came as text. Nothing at all means no parameters.
    pub(super) fn new(id: String, name: String, input: &str) -> Self {
        let empty = || Json::Object(serde_json::Map::new());
        match serde_json::from_str(input) {
            Ok(input @ Json::Object(_)) => Self { id, name, input, broken: None },
            _ if input.trim().is_empty() => Self { id, name, input: empty(), broken: None },
            _ => Self { id, name, input: empty(), broken: Some(input.to_owned()) },
        }
    }
}

/// What a tool said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) ok: bool,
    pub(super) text: String,
}

/// What a model answered to one request.
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
    /// It has said what it had to say, or waits for tools.
    #[default]
    Done,
    /// It wrote as much as it may at once.
    Cut,
    /// It will not, or was not let.
    Refused(String),
    /// There is no room for more in its context.
    Full,
    /// It wants to be asked to continue.
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
