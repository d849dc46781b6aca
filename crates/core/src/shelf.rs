//! The shelf: workflows that are kept in the store, with their versions, proposals to change them, and triggers.
//!
//! What is kept is a history of [`Entry`]s; [`Shelf`] is what is true after them. `change`, `propose` and `arm` say what may be
//! written next, from the shelf as it is.
//!
//! **Invariant:** a version is never changed or forgotten; what is current is one of them. Nothing is written over a text that
//! the writer has not seen, where they say which one they saw.

mod arm;
mod change;
mod deliveries;
mod fold;
mod propose;
pub mod schedule;
#[cfg(test)]
mod tests;
pub mod trigger;

use serde::{Deserialize, Serialize};

pub use arm::Arming;
pub use change::{About, Change, Text};
pub use deliveries::{Delivery, Outcome};
pub use fold::{Armed, Kept, Proposal, Shelf, Status, Version};
pub use propose::{EXPIRY_MS, Proposing};
use trigger::Trigger;

/// Why something cannot be written, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Why a version was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Somebody put the whole workflow there.
    #[default]
    Sync,
    /// Somebody changed it.
    Update,
    /// A proposal was applied.
    ProposalApply,
    /// An earlier version was taken up again.
    Rollback,
}

impl Source {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Update => "update",
            Self::ProposalApply => "proposal_apply",
            Self::Rollback => "rollback",
        }
    }
}

/// Something that happened to the shelf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shelf", rename_all = "snake_case")]
pub enum Entry {
    /// A text became the current one of a workflow.
    Saved {
        /// The name that it is found by.
        workflow: String,
        /// The text.
        #[serde(flatten)]
        text: Text,
        /// What its author calls this version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Why.
        #[serde(default)]
        source: Source,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What they say about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
        /// The proposal that it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<u64>,
    },
    /// What is said about a workflow beside its text.
    Described {
        /// Which.
        workflow: String,
        /// All of it, as it is from now on.
        about: About,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A workflow left the shelf; its versions stay in this history.
    Removed {
        /// Which.
        workflow: String,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Somebody proposes another text. Named by the number of this entry.
    Proposed {
        /// For which workflow.
        workflow: String,
        /// What they propose.
        #[serde(flatten)]
        proposing: Proposing,
    },
    /// Somebody has looked at a proposal.
    Reviewed {
        /// Which.
        proposal: u64,
        /// Whether it may be applied.
        approve: bool,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What they say about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
    /// A trigger is like this from now on.
    Armed {
        /// Its id.
        trigger: String,
        /// What it is.
        set: Trigger,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A trigger is gone.
    Disarmed {
        /// Its id.
        trigger: String,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A trigger fired, and what came of it.
    Delivered(Delivery),
}
