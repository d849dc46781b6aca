//! Limits that a person changes while a run is open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount<T> {
    /// This much.
    To(T),
    /// This much more than now.
    By(T),
}

/// New limits of a run. Those that are not named stay.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetChange {
    /// Money, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<Amount<f64>>,
    /// Tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Amount<u64>>,
    /// Executed steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Amount<u64>>,
    /// Time since the start of the run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Amount<u64>>,
}

impl Amount<u64> {
    /// The limit that follows from the one before; `None` if it adds to nothing.
    pub(crate) fn after(self, before: Option<u64>) -> Option<u64> {
        match self {
            Self::To(limit) => Some(limit),
            Self::By(more) => before.map(|before| before.saturating_add(more)),
        }
    }
}

impl Amount<f64> {
    /// The limit that follows from the one before; `None` if it adds to nothing.
    pub(crate) fn after(self, before: Option<f64>) -> Option<f64> {
        match self {
            Self::To(limit) => Some(limit),
            Self::By(more) => before.map(|before| before + more),
        }
    }
}

impl BudgetChange {
    /// The limits that it changes, as a workflow names them.
    pub fn names(&self) -> Vec<&'static str> {
        let named = [
            ("usd", self.usd.is_some()),
            ("tokens", self.tokens.is_some()),
            ("steps", self.steps.is_some()),
            ("duration", self.duration_ms.is_some()),
        ];
        named.into_iter().filter(|(_, is_named)| *is_named).map(|(name, _)| name).collect()
    }
}
