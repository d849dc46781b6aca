//! What people and programs tell a run from outside, through its inbox.

use longhaul_core::Json;
use longhaul_core::decide::{Planner, misfit};
use longhaul_core::event::{Answer, Event};
use longhaul_core::path::StepPath;
use serde::{Deserialize, Serialize};

use crate::run_loop::Loaded;

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
    /// Why a message does not fit a run, if it does not, and what would.
    pub fn misfit(&self, loaded: &Loaded) -> Option<String> {
        let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
        misfit(planner, &loaded.state, &self.clone().into_event())
    }

    /// The event that a message becomes, if it fits.
    pub(crate) fn into_event(self) -> Event {
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
