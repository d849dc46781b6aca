//! What people and programs tell a run from outside, through its inbox.

use longhaul_core::Json;
use longhaul_core::decide::{Planner, misfit};
use longhaul_core::event::{Answer, Event, Gone};
use longhaul_core::origin::Caller;
use longhaul_core::path::StepPath;
use longhaul_core::value::{TOO_DEEP, is_too_deep};
use serde::{Deserialize, Serialize};

use crate::engine::{Error, Shared};
use crate::run::approvals;
use crate::run::run_loop::Loaded;

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
        /// By whom, from where, and how that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Box<Caller>>,
        /// What is said beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The hash of what they were shown, where their face knows it: [`longhaul_core::view::Asked::shown`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        /// The hash of the secret that they gave: [`crate::key_of`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
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
    /// Continue.
    Unpause {
        /// By whom.
        by: Option<String>,
    },
    /// That it was started is no consent any more.
    RevokeConsent {
        /// By whom.
        by: Option<String>,
    },
    /// Its files are on this machine.
    HostSettled {
        /// Which.
        host: String,
    },
    /// The machine on which its files are has been silent for too long.
    HostMissed {
        /// Which.
        host: String,
        /// Since when.
        since: i64,
        /// What is done about it.
        #[serde(default)]
        then: Gone,
    },
    /// Continue elsewhere, without the files that are on a machine.
    Leave {
        /// Which.
        host: String,
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
    /// The answer of somebody.
    pub fn answer(path: StepPath, answer: Answer, caller: Caller) -> Self {
        let by = caller.who.name().map(str::to_owned);
        Self::Answer { path, answer, by, caller: Some(Box::new(caller)), comment: None, shown: None, key: None }
    }

    /// The message with everything that is known about who sends it.
    pub(crate) async fn identified(mut self, shared: &Shared) -> Result<Self, Error> {
        if let Self::Answer { caller: Some(caller), .. } = &mut self {
            **caller = approvals::identified(shared, std::mem::take(caller)).await?;
        }
        Ok(self)
    }

    /// Refuses what cannot be kept as it is.
    pub(crate) fn keepable(&self) -> Result<(), Error> {
        let value = match self {
            Self::Signal { data, .. } => data.clone(),
            Self::Answer { answer, .. } => serde_json::to_value(answer).map_err(Error::encoding)?,
            _ => return Ok(()),
        };
        if is_too_deep(&value) { Err(Error::Input(TOO_DEEP.to_owned())) } else { Ok(()) }
    }

    /// Why a message does not fit a run, if it does not, and what would.
    pub fn misfit(&self, loaded: &Loaded) -> Option<String> {
        let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
        misfit(planner, &loaded.state, &self.clone().into_event())
    }

    /// The event that a message becomes, if it fits.
    pub(crate) fn into_event(self) -> Event {
        match self {
            Self::Answer { path, answer, by, caller, comment, shown, key } => {
                Event::Answered { path, answer, by, caller, comment, shown, key }
            }
            Self::Signal { name, data, by } => Event::Signalled { name, data, by },
            Self::Cancel { reason, by } => Event::CancelRequested { by, reason },
            Self::Pause { by } => Event::Paused { by },
            Self::Unpause { by } => Event::Unpaused { by },
            Self::RevokeConsent { by } => Event::ConsentRevoked { by },
            Self::HostSettled { host } => Event::HostSettled { host },
            Self::HostMissed { host, since, then } => Event::HostMissed { host, since, then },
            Self::Leave { host, by } => Event::HostLeft { host, by, carried: None },
            Self::Retry { from, by } => Event::Reopened { from, by },
        }
    }
}
