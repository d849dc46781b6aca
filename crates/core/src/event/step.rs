//! How steps end.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failure, is_false};
use crate::Json;
use crate::plan::Outcome;

/// Why a step is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Its `when` is false.
    When,
    /// Its `run_if` asks for something else.
    RunIf,
    /// A choice led elsewhere.
    Route,
    /// A gate before it was denied.
    Denied,
    /// Something it depends on failed.
    Upstream,
    /// The run is being cancelled.
    Cancelled,
}

impl Skip {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::When => "its `when` is false",
            Self::RunIf => "its `run_if` does not hold",
            Self::Route => "another way was chosen",
            Self::Denied => "denied",
            Self::Upstream => "what it needs failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// In a word.
    pub status: Ended,
    /// Names it sets beside its output.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub names: IndexMap<String, Json>,
    /// Its output, where that is not the last attempt's.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// What a person chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Why it failed, where that is not the last attempt's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Whether the output is the declared default and not a result.
    #[serde(default, skip_serializing_if = "is_false")]
    pub defaulted: bool,
    /// Whether the output may be shorter than the result, because a limit was reached.
    #[serde(default, skip_serializing_if = "is_false")]
    pub degraded: bool,
    /// Whether the run continues although it failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tolerated: bool,
    /// Of an `end` step: how the workflow it stands in ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<(Outcome, Option<String>)>,
    /// What its `progress` came to.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub progress: Option<Json>,
}

impl End {
    /// Ended like this, and nothing else to say.
    pub fn plain(status: Ended) -> Self {
        Self {
            status,
            names: IndexMap::new(),
            output: None,
            choice: None,
            error: None,
            defaulted: false,
            degraded: false,
            tolerated: false,
            verdict: None,
            progress: None,
        }
    }

    /// Failed, and why.
    pub fn failed(error: Failure) -> Self {
        Self { error: Some(error), ..Self::plain(Ended::Failed) }
    }
}

/// How a step ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Succeeded,
    /// Badly.
    Failed,
    /// Left out.
    Skipped,
    /// Stopped.
    Cancelled,
}
