//! Where a step is, with what belongs to being there.
//!
//! **Invariant:** an open question, the lease of a client and the labels of an attempt exist only while the step is in the phase that
//! they are part of. Leaving the phase drops them.

use serde::{Deserialize, Serialize};

use super::HostedLease;
use crate::Json;
use crate::event::{Answer, QuestionKind, Usage};

/// Where a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reached; nothing has been decided.
    Ready,
    /// An attempt is under way.
    Attempt(OpenAttempt),
    /// Another attempt is due then.
    Retry {
        /// When the next attempt begins.
        due: i64,
    },
    /// A person is asked.
    Question(Box<Question>),
    /// Asleep, or waiting for a signal.
    Waiting {
        /// When the wait ends by itself.
        due: Option<i64>,
        /// The signal that ends it.
        signal: Option<String>,
    },
    /// Its attempt is offered to the client that hosts the run, or taken by it.
    Hosted(HostedAttempt),
    /// Its attempt waits for a worker.
    Queued(QueuedAttempt),
    /// Its bodies are running.
    Inside,
    /// Something ended, and what that means has not been decided.
    Judge,
    /// Over.
    Done,
}

/// An attempt that an engine makes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OpenAttempt {
    /// The labels that it asked a worker for, where it waited for one.
    pub labels: Vec<String>,
    /// What it waits for: something its machine is short of, or what its agent does in the background.
    pub delayed: Option<String>,
    /// What is set aside for it.
    pub(crate) reserve: Option<Usage>,
}

/// An attempt that a client makes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostedAttempt {
    /// The client that took it, and until when; `None` while it is only offered.
    pub lease: Option<Box<HostedLease>>,
    /// What is set aside for it.
    pub(crate) reserve: Option<Usage>,
}

/// An attempt that waits for a worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QueuedAttempt {
    /// The labels that a worker must have to take it.
    pub labels: Vec<String>,
    /// What a person is asked about the machine that it waits for.
    pub question: Option<Box<Question>>,
    /// What is set aside for it.
    pub(crate) reserve: Option<Usage>,
}

impl Phase {
    /// An attempt that begins, made by the engine or by a client.
    pub(super) fn begun(reserve: Option<Usage>, hosted: bool) -> Self {
        match hosted {
            true => Self::Hosted(HostedAttempt { lease: None, reserve }),
            false => Self::Attempt(OpenAttempt { reserve, ..OpenAttempt::default() }),
        }
    }

    /// What is set aside for the attempt.
    pub(crate) fn reserve(&self) -> Option<Usage> {
        match self {
            Self::Attempt(OpenAttempt { reserve, .. })
            | Self::Hosted(HostedAttempt { reserve, .. })
            | Self::Queued(QueuedAttempt { reserve, .. }) => *reserve,
            _ => None,
        }
    }

    /// Takes what is set aside for the attempt.
    pub(super) fn take_reserve(&mut self) -> Option<Usage> {
        match self {
            Self::Attempt(OpenAttempt { reserve, .. })
            | Self::Hosted(HostedAttempt { reserve, .. })
            | Self::Queued(QueuedAttempt { reserve, .. }) => reserve.take(),
            _ => None,
        }
    }

    /// The question that is open.
    pub fn question(&self) -> Option<&Question> {
        match self {
            Self::Question(question) => Some(question),
            Self::Queued(queued) => queued.question.as_deref(),
            _ => None,
        }
    }

    pub(super) fn question_mut(&mut self) -> Option<&mut Question> {
        match self {
            Self::Question(question) => Some(question),
            Self::Queued(queued) => queued.question.as_deref_mut(),
            _ => None,
        }
    }

    /// Whether an engine makes an attempt.
    pub fn is_attempt(&self) -> bool {
        matches!(self, Self::Attempt(_))
    }

    /// Whether an attempt is offered to a client, or taken by it.
    pub fn is_hosted(&self) -> bool {
        matches!(self, Self::Hosted(_))
    }

    /// Whether an attempt waits for a worker.
    pub fn is_queued(&self) -> bool {
        matches!(self, Self::Queued(_))
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What it is for.
    pub kind: QuestionKind,
    /// What they read.
    pub text: String,
    /// What they may answer beside yes and no.
    pub choices: Vec<String>,
    /// What a free answer looks like.
    pub schema: Option<Json>,
    /// When silence becomes an answer.
    pub due: Option<i64>,
    /// When it was asked.
    pub asked_at: i64,
    /// The hash of the secret that answers it from afar.
    pub key: Option<String>,
}

/// The last question of a step that was answered, for as long as something can follow from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// What the question was for.
    pub(crate) kind: QuestionKind,
    /// The answer; that nobody answered in time is one.
    pub(crate) answer: Answer,
}
