//! The results of fired triggers.

use serde::{Deserialize, Serialize};

/// The result of a fired trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// A run was started.
    Matched,
    /// Too many runs are active. It is tried again.
    ConcurrencyCap,
    /// The workflow no longer exists.
    WorkflowDeleted,
    /// Another engine has started the run.
    Duplicate,
    /// The run could not be started.
    Error,
}

impl DeliveryOutcome {
    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::ConcurrencyCap => "concurrency_cap",
            Self::WorkflowDeleted => "workflow_deleted",
            Self::Duplicate => "duplicate",
            Self::Error => "error",
        }
    }
}

/// One time that a trigger fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The id of the trigger.
    pub trigger: String,
    /// The unique key: `schedule:<trigger>:<bucket>`.
    pub key: String,
    /// The scheduled time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<i64>,
    /// The result.
    pub outcome: DeliveryOutcome,
    /// The run that was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The reason why no run started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
