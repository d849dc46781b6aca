//! Notifications: what people hear about a run, when, and how often.
//!
//! The open notifications of a run follow from its state, and every commit stores them beside the events. So any
//! process can compare them with the ledger of what was sent, and no notification is lost with an engine.
//!
//! **Invariant:** a notification has a key that names its run, step, kind and occurrence. A key is sent once; a crash
//! between sending and recording sends it again, with the same key.

mod decide;
mod ledger;
mod open;
mod quiet;
mod rules;
#[cfg(test)]
mod tests;
mod texts;

use serde::{Deserialize, Serialize};

use crate::id::RunId;
use crate::path::StepPath;
use crate::words::words;

pub use decide::{Look, NextNotice, Outgoing, next};
pub use ledger::{ChannelRecord, ChannelResult, MessageRecord, NotifyEntry, NotifyLedger};
pub use open::{may_begin, open};
pub use quiet::{DayTime, QuietHours, Zone};
pub use rules::NotifyRules;
pub use texts::{command, line};
pub(crate) use texts::{counted, one_line};

words! {
    /// What a notification is about.
    NotificationKind {
        /// A gate waits for an approval.
        Gate = "gate",
        /// A step asks a person something.
        Question = "question",
        /// An output waits for a review.
        Review = "review",
        /// A step waits for consent.
        Consent = "consent",
        /// A step cannot continue, and a person decides.
        Stuck = "stuck",
        /// A limit paused the run.
        Budget = "budget",
        /// The machine that has the files of the run is gone.
        Machine = "machine",
        /// No worker has the labels that a step asks for.
        Worker = "worker",
        /// An agent waits until its usage limit resets.
        Limit = "limit",
        /// The run failed.
        Failure = "failure",
        /// The run succeeded.
        Success = "success",
    }
}

impl NotificationKind {
    /// Whether nothing continues until a person acts.
    pub fn is_for_person(self) -> bool {
        !matches!(self, Self::Limit | Self::Failure | Self::Success)
    }
}

/// Something that people should hear about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification {
    /// Names it within its run: kind, step and occurrence.
    pub key: String,
    /// What it is about.
    pub kind: NotificationKind,
    /// The step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepPath>,
    /// One line: the question, or the reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Since when.
    pub since: i64,
    /// The time at which it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
    /// The answers of a question about a machine, or the limit that is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The labels that a worker needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Channels that the workflow itself notifies of the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// How long a run that is over took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
}

/// A notification of a run, as the rows of the store have it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenNotification {
    /// The run.
    pub run: RunId,
    /// Its workflow.
    pub workflow: String,
    /// The start of its task.
    pub task: String,
    /// The notification.
    pub notification: Notification,
}

impl OpenNotification {
    /// Names the notification within a store.
    pub fn key(&self) -> String {
        format!("{}/{}", self.run, self.notification.key)
    }
}

/// The run of a notification's key.
pub fn run_of(key: &str) -> Option<RunId> {
    RunId::new(key.split('/').next()?)
}
