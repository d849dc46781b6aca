//! The registry: workflows in the store, with their versions, proposals to change them, and triggers.
//!
//! The store keeps a history of [`Entry`]s. [`Shelf`] is the state after them. `change`, `propose` and `arm` decide
//! which entries may follow.
//!
//! **Invariant:** a version is never changed or removed; the current text is one of them. If a writer names the text
//! that it saw, it cannot overwrite another one.

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
pub use change::{About, Change, WorkflowText};
pub use deliveries::{Delivery, DeliveryOutcome};
pub use fold::{Armed, Proposal, RegisteredWorkflow, Registry, Status, Version};
pub use propose::{EXPIRY_MS, Proposing};
use trigger::Trigger;

/// The reason for a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionSource {
    /// A user pushed the whole workflow.
    #[default]
    Sync,
    /// A user changed it.
    Update,
    /// A proposal was applied.
    ProposalApply,
    /// An earlier version became current again.
    Rollback,
}

impl VersionSource {
    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Update => "update",
            Self::ProposalApply => "proposal_apply",
            Self::Rollback => "rollback",
        }
    }
}

/// A change of the registry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shelf", rename_all = "snake_case")]
pub enum RegistryEntry {
    /// A text became the current one of a workflow.
    Saved {
        /// The name of the workflow.
        workflow: String,
        /// The text.
        #[serde(flatten)]
        text: WorkflowText,
        /// The version that its author gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The reason for the change.
        #[serde(default)]
        source: VersionSource,
        /// The user who saved it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Their notes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
        /// The proposal that it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<u64>,
    },
    /// The data of a workflow besides its text.
    Described {
        /// The name of the workflow.
        workflow: String,
        /// All of the new data.
        about: About,
        /// The user who changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A workflow left the registry; its versions stay in this history.
    Removed {
        /// The name of the workflow.
        workflow: String,
        /// The user who removed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A user or a run proposes another text. The number of this entry is its id.
    Proposed {
        /// The name of the workflow.
        workflow: String,
        /// The proposal.
        #[serde(flatten)]
        proposing: Proposing,
    },
    /// A user has reviewed a proposal.
    Reviewed {
        /// The id of the proposal.
        proposal: u64,
        /// Whether it may be applied.
        approve: bool,
        /// The reviewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Their notes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
    /// A trigger was created or changed.
    Armed {
        /// Its id.
        trigger: String,
        /// The trigger.
        set: Trigger,
        /// The user who changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A trigger was removed.
    Disarmed {
        /// Its id.
        trigger: String,
        /// The user who removed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A trigger fired, with the result.
    Delivered(Delivery),
}
