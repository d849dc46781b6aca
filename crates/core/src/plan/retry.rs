//! The classes of failures, and the rules for retries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules for retries of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// The most retries after the first attempt.
    pub max: u32,
    /// The error classes that are retried; empty means the transient ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<ErrorClass>,
    /// The pauses between attempts.
    pub backoff: Backoff,
}

/// The budget of all attempts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Money, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The most attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// The class of a failure, as far as retries need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// It will probably work later.
    Transient,
    /// A quota is used up. It works again after the reset.
    RateLimit,
    /// It took too long.
    Timeout,
    /// The answer does not match its schema.
    Invalid,
    /// The worker disappeared.
    Lost,
    /// The agent said nothing.
    Empty,
    /// The service is overloaded.
    Overload,
    /// The usage of a plan or budget is exhausted. It works again after the reset.
    UsageLimit,
    /// The conversation no longer fits the model.
    Overflow,
    /// A login or key is missing or wrong.
    Auth,
    /// The account has no valid payment.
    Billing,
    /// The model does not exist, or not for this account.
    UnknownModel,
    /// The model refuses.
    Refused,
    /// The agent needs an answer to continue.
    Question,
    /// No sign of life.
    Hung,
    /// The process was killed from outside.
    Killed,
    /// The work itself reports a failure.
    Failed,
    /// Every class.
    Any,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 18] = [
        Self::Transient,
        Self::RateLimit,
        Self::Timeout,
        Self::Invalid,
        Self::Lost,
        Self::Empty,
        Self::Overload,
        Self::UsageLimit,
        Self::Overflow,
        Self::Auth,
        Self::Billing,
        Self::UnknownModel,
        Self::Refused,
        Self::Question,
        Self::Hung,
        Self::Killed,
        Self::Failed,
        Self::Any,
    ];

    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
            Self::Invalid => "invalid",
            Self::Lost => "lost",
            Self::Empty => "empty",
            Self::Overload => "overload",
            Self::UsageLimit => "usage_limit",
            Self::Overflow => "overflow",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::UnknownModel => "unknown_model",
            Self::Refused => "refused",
            Self::Question => "question",
            Self::Hung => "hung",
            Self::Killed => "killed",
            Self::Failed => "failed",
            Self::Any => "any",
        }
    }

    /// The class for a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }
}

/// The pauses between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// The pause before the second attempt, in milliseconds.
    pub first_ms: u64,
    /// The factor from each pause to the next.
    pub factor: f64,
    /// The longest pause, in milliseconds.
    pub max_ms: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first_ms: 10_000, factor: 2.0, max_ms: 300_000 }
    }
}
