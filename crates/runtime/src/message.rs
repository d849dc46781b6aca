//! What people and programs tell a run from outside, through its inbox.

use longhaul_core::Json;
use longhaul_core::event::{Answer, Event};
use longhaul_core::path::StepPath;
use longhaul_core::state::{Phase, State};
use serde::{Deserialize, Serialize};

/// Something for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum Message {
    /// An answer to a question.
    Answer {
        /// Which step's.
        path: StepPath,
        /// What is said.
        answer: Answer,
        /// By whom.
        by: Option<String>,
    },
    /// A signal.
    Signal {
        /// Its name.
        name: String,
        /// What it carries.
        data: Json,
        /// By whom.
        by: Option<String>,
    },
    /// Stop.
    Cancel {
        /// Why.
        reason: Option<String>,
        /// By whom.
        by: Option<String>,
    },
    /// Start nothing new.
    Pause {
        /// By whom.
        by: Option<String>,
    },
    /// Go on.
    Unpause {
        /// By whom.
        by: Option<String>,
    },
    /// Start again after a failure.
    Retry {
        /// From which step.
        from: Option<StepPath>,
        /// By whom.
        by: Option<String>,
    },
}

impl Message {
    /// The event that a message becomes; one that does not fit the state is recorded as refused.
    pub(crate) fn into_event(self, state: &State) -> Event {
        match self.misfit(state) {
            Some(why) => Event::Refused { what: self.word().to_owned(), why },
            None => self.fitting(),
        }
    }

    /// Why a message does not fit, if it does not.
    pub fn misfit(&self, state: &State) -> Option<String> {
        let over = state.is_finished();
        match self {
            Self::Retry { from, .. } => {
                let unknown = from.as_ref().filter(|path| state.find(path).is_none());
                match (over, unknown) {
                    (false, _) => Some("the run is not over".to_owned()),
                    (true, Some(path)) => Some(format!("no step `{path}` was reached")),
                    (true, None) => None,
                }
            }
            _ if over => Some("the run is over".to_owned()),
            Self::Answer { path, .. } => match state.find(path).map(|step| &step.phase) {
                None => Some(format!("no step `{path}` was reached")),
                Some(Phase::Question) => None,
                Some(_) => Some(format!("`{path}` asks nothing, or has been answered")),
            },
            Self::Pause { .. } if state.paused => Some("it is paused already".to_owned()),
            Self::Unpause { .. } if !state.paused => Some("it is not paused".to_owned()),
            Self::Signal { .. } | Self::Cancel { .. } | Self::Pause { .. } | Self::Unpause { .. } => None,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Answer { .. } => "answer",
            Self::Signal { .. } => "signal",
            Self::Cancel { .. } => "cancel",
            Self::Pause { .. } => "pause",
            Self::Unpause { .. } => "unpause",
            Self::Retry { .. } => "retry",
        }
    }

    fn fitting(self) -> Event {
        match self {
            Self::Answer { path, answer, by } => Event::Answered { path, answer, by },
            Self::Signal { name, data, by } => Event::Signalled { name, data, by },
            Self::Cancel { reason, by } => Event::CancelRequested { by, reason },
            Self::Pause { by } => Event::Paused { by },
            Self::Unpause { by } => Event::Unpaused { by },
            Self::Retry { from, by } => Event::Reopened { from, by },
        }
    }
}
