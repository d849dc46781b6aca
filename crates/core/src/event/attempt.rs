//! What an attempt came to, and what it used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Carried, is_false, is_zero};
use crate::Json;
use crate::plan::ErrorClass;

/// What an attempt left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Result {
    /// The value that later steps read.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub output: Json,
    /// Of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Of a command, where it is not the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Whether a command printed its output and a line break: kept so where `stdout` would repeat a large output.
    #[serde(default, skip_serializing_if = "is_false")]
    pub newline: bool,
    /// Of a command: its start and its end, if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the conversation has used since its beginning, where the agent counts like that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_total: Option<Usage>,
    /// Whether it was taken from an earlier run instead of being done.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// Who submitted it, where the attempt was handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The files as the attempt left them, where other machines can fetch them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
}

/// Outputs up to this size are kept twice, as the output and as what was printed.
const REPEATED_BYTES_MAX: usize = 16 << 10;

impl Result {
    /// What a command printed, whole.
    pub fn printed(&self) -> Json {
        match (&self.stdout, &self.output) {
            (Some(stdout), _) => Json::String(stdout.clone()),
            (None, Json::String(output)) if self.newline => Json::String(format!("{output}\n")),
            (None, output) => output.clone(),
        }
    }

    /// The same, without what follows from the rest.
    pub fn without_repetition(mut self) -> Self {
        let (Some(stdout), Json::String(output)) = (&self.stdout, &self.output) else { return self };
        let rest = stdout.strip_prefix(output.as_str()).filter(|_| stdout.len() > REPEATED_BYTES_MAX);
        if let Some(rest @ ("" | "\n")) = rest {
            self.newline = rest == "\n";
            self.stdout = None;
        }
        self
    }
}

/// A conversation with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// As the agent calls it.
    pub id: String,
    /// Whose it is.
    pub agent: String,
    /// Whether it can be continued.
    #[serde(default)]
    pub resumes: bool,
    /// Whether it can be shortened.
    #[serde(default)]
    pub compacts: bool,
    /// What it has used since its beginning, where the agent counts like that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Usage>,
}

/// What work cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read.
    #[serde(default)]
    pub input_tokens: u64,
    /// Of the tokens read, those from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
    /// Money.
    #[serde(default)]
    pub usd: f64,
    /// Whether some of the money is not known, and `usd` only the rest.
    #[serde(default, skip_serializing_if = "is_false")]
    pub usd_unknown: bool,
    /// Whether something ended before it told all that it used: it is at least this much.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_least: bool,
}

impl Usage {
    /// Tokens, read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Whether nothing of it is unknown.
    pub fn is_all(&self) -> bool {
        !self.usd_unknown && !self.at_least
    }

    /// What has to be assumed beside it, of what was set aside: what nobody knows may have been all of that.
    pub fn unknown_of(&self, reserve: Usage) -> Usage {
        let tokens = if self.at_least { reserve.tokens().saturating_sub(self.tokens()) } else { 0 };
        let usd = if self.at_least || self.usd_unknown { (reserve.usd - self.usd).max(0.0) } else { 0.0 };
        Usage { input_tokens: tokens, usd, ..Usage::default() }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.usd += other.usd;
        self.usd_unknown |= other.usd_unknown;
        self.at_least |= other.at_least;
    }
}

/// Why work failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// As far as a retry cares.
    pub class: ErrorClass,
    /// In words.
    pub message: String,
    /// When trying again makes sense, in milliseconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether the step itself is wrong, or not set up: nothing was done, no default stands in for it, and a person is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
}

impl Failure {
    /// A failure of a class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after_ms: None, needs_person: false }
    }

    /// A step that cannot be done as it is written, or as this machine is set up.
    pub fn unusable(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { needs_person: true, ..Self::new(class, message) }
    }
}
