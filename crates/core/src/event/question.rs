//! What is asked, and what is answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Json;

/// What a person is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A gate between steps.
    Approval,
    /// Something only a person knows.
    Question,
    /// Whether an output may be used.
    Review,
    /// What to do about a failure, or about rounds or a limit that are used up.
    Operator,
    /// Whether a step may do what it does.
    Consent,
    /// What to do about the machine that has the files of the run, and is gone.
    Machine,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes; of a failure: try again.
    Approve,
    /// No; of a failure: give up.
    Deny {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Yes, with this instead; of a failure: use this as the result.
    Edit {
        /// The value.
        value: Json,
    },
    /// The answer to a question, or one of the choices.
    Value {
        /// The value.
        value: Json,
    },
    /// Of a failure: continue without it.
    Skip,
    /// Nobody answered in time.
    TimedOut,
}
