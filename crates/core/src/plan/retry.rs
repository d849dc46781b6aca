//! Why work fails, and what is tried again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is tried again, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// Attempts beside the first.
    pub max: u32,
    /// Classes of error; empty means the transient ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<ErrorClass>,
    /// The pauses.
    pub backoff: Backoff,
}

/// What the attempts of a step may use.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How many there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Why work failed, as far as a retry cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Will probably work later.
    Transient,
    /// A quota; works after its reset.
    RateLimit,
    /// Took too long.
    Timeout,
    /// The answer does not fit its schema.
    Invalid,
    /// The worker disappeared.
    Lost,
    /// The agent said nothing.
    Empty,
    /// The other side has more to do than it can.
    Overload,
    /// A plan's or budget's share is used up; works after its reset.
    UsageLimit,
    /// The conversation does not fit the model any more.
    Overflow,
    /// A login or key is missing or wrong.
    Auth,
    /// Nobody pays.
    Billing,
    /// There is no such model, or not for this account.
    UnknownModel,
    /// The model will not do it.
    Refused,
    /// It cannot continue without an answer.
    Question,
    /// No sign of life.
    Hung,
    /// Ended from outside.
    Killed,
    /// The work said no.
    Failed,
    /// All of them.
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

    /// As files and people write it.
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

    /// The class that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }
}

/// The pauses between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// Before the second attempt.
    pub first_ms: u64,
    /// Each pause is this times the one before.
    pub factor: f64,
    /// No pause is longer.
    pub max_ms: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first_ms: 10_000, factor: 2.0, max_ms: 300_000 }
    }
}
