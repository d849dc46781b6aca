//! Messages that people and programs send to a run through its inbox.

use longhaul_core::Json;
use longhaul_core::decide::{Planner, rejection};
use longhaul_core::event::{Answer, BudgetChange, Event, OnHostLost};
use longhaul_core::origin::Caller;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::Rejection;
use longhaul_core::value::{TOO_DEEP, is_too_deep};
use serde::{Deserialize, Serialize};

use crate::engine::{Error, Shared};
use crate::run::approvals;
use crate::run::run_loop::Loaded;

/// A message to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum Message {
    /// Answer a question.
    Answer {
        /// The step that asks.
        path: StepPath,
        /// The decision, or the text.
        answer: Answer,
        /// The name of the caller.
        by: Option<String>,
        /// The caller: the name, the origin, and how it was verified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Box<Caller>>,
        /// A comment on the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The hash of the text that the caller saw, if the interface knows it: [`longhaul_core::view::Asked::shown`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        /// The hash of the secret from the caller: [`crate::key_of`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// Send a signal to the run.
    Signal {
        /// The name of the signal.
        name: String,
        /// The data of the signal.
        data: Json,
        /// The name of the caller.
        by: Option<String>,
    },
    /// Cancel the run.
    Cancel {
        /// The reason for the cancellation.
        reason: Option<String>,
        /// The name of the caller.
        by: Option<String>,
    },
    /// Start no new steps.
    Pause {
        /// The name of the caller.
        by: Option<String>,
    },
    /// Start new steps again.
    Unpause {
        /// The name of the caller.
        by: Option<String>,
    },
    /// Stop the run, until somebody resumes it.
    Stop {
        /// The name of the caller.
        by: Option<String>,
    },
    /// Let a stopped run continue.
    Resume {
        /// The name of the caller.
        by: Option<String>,
    },
    /// Tell the agent of a step something.
    Tell {
        /// The step.
        path: StepPath,
        /// The text for the agent.
        text: String,
        /// The name of the caller.
        by: Option<String>,
    },
    /// Change limits of the run.
    Budget {
        /// The new limits.
        change: BudgetChange,
        /// The name of the caller.
        by: Option<String>,
    },
    /// The start of the run no longer counts as consent.
    RevokeConsent {
        /// The name of the caller.
        by: Option<String>,
    },
    /// The run's files are on this machine.
    HostSettled {
        /// The machine with the files.
        host: String,
    },
    /// The machine with the run's files has been silent for too long.
    HostMissed {
        /// The silent machine.
        host: String,
        /// When the machine was last heard of.
        since: i64,
        /// The reaction: ask a person, or rebuild the files elsewhere.
        #[serde(default)]
        then: OnHostLost,
    },
    /// Continue on another machine, without the files on the lost one.
    Leave {
        /// The machine to give up.
        host: String,
        /// The name of the caller.
        by: Option<String>,
    },
    /// Start again after a failure.
    Retry {
        /// The first step to run again; `None` means the steps that failed.
        from: Option<StepPath>,
        /// The name of the caller.
        by: Option<String>,
    },
}

impl Message {
    /// An answer from a caller.
    pub fn answer(path: StepPath, answer: Answer, caller: Caller) -> Self {
        let by = caller.by().map(str::to_owned);
        Self::Answer { path, answer, by, caller: Some(Box::new(caller)), comment: None, shown: None, key: None }
    }

    /// Adds what is known about the caller.
    pub(crate) async fn identified(mut self, shared: &Shared) -> Result<Self, Error> {
        if let Self::Answer { caller: Some(caller), .. } = &mut self {
            **caller = approvals::identified(shared, std::mem::take(caller)).await?;
        }
        Ok(self)
    }

    /// Rejects a message that cannot be stored as it is.
    pub(crate) fn keepable(&self) -> Result<(), Error> {
        let value = match self {
            Self::Signal { data, .. } => data.clone(),
            Self::Answer { answer, .. } => serde_json::to_value(answer).map_err(Error::encoding)?,
            _ => return Ok(()),
        };
        if is_too_deep(&value) { Err(Rejection::invalid(TOO_DEEP).into()) } else { Ok(()) }
    }

    /// Why a message does not fit a run, and what would fit; `None` if it fits.
    pub fn rejection(&self, loaded: &Loaded) -> Option<Rejection> {
        let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
        rejection(planner, &loaded.state, &self.clone().into_event())
    }

    /// The event that records the message.
    pub(crate) fn into_event(self) -> Event {
        match self {
            Self::Answer { path, answer, by, caller, comment, shown, key } => {
                Event::Answered { path, answer, by, caller, comment, shown, key }
            }
            Self::Signal { name, data, by } => Event::Signalled { name, data, by },
            Self::Cancel { reason, by } => Event::CancelRequested { by, reason },
            Self::Pause { by } => Event::Paused { by },
            Self::Unpause { by } => Event::Unpaused { by },
            Self::Stop { by } => Event::RunStopped { by },
            Self::Resume { by } => Event::RunResumed { by },
            Self::Tell { path, text, by } => Event::HintGiven { path, text, by },
            Self::Budget { change, by } => Event::BudgetChanged { change, by },
            Self::RevokeConsent { by } => Event::ConsentRevoked { by },
            Self::HostSettled { host } => Event::HostSettled { host },
            Self::HostMissed { host, since, then } => Event::HostMissed { host, since, then },
            Self::Leave { host, by } => Event::HostLeft { host, by, carried: None },
            Self::Retry { from, by } => Event::Reopened { from, by },
        }
    }
}
