//! What came of a trigger that fired.

use serde::{Deserialize, Serialize};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A run was started.
    Matched,
    /// Too many runs are running; it is tried again.
    ConcurrencyCap,
    /// There is no such workflow any more.
    WorkflowDeleted,
    /// Somebody else had started the run.
    Duplicate,
    /// The run could not be started.
    Error,
}

impl Outcome {
    /// As it is written.
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
    /// What makes it unique: `schedule:<trigger>:<bucket>`.
    pub key: String,
    /// The moment that it was for, of a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<i64>,
    /// What came of it.
    pub outcome: Outcome,
    /// The run that was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
