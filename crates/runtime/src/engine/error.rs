//! The errors of the engine, and the rejection that each becomes.

use longhaul_core::rejection::{Rejection, Remedy};

/// Errors, by what the caller can do about them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] longhaul_store::Error),
    /// There is no such run.
    #[error("there is no run `{0}`")]
    UnknownRun(String),
    /// More than one run has an id that begins like this.
    #[error("`{0}` is not unique: {1}")]
    Ambiguous(String, String),
    /// The command was rejected; the kind says why.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The submitted value does not fit the step's schema; the step stays open.
    #[error("`{step}` stays open: {why}")]
    Misfit {
        /// The address of the step.
        step: String,
        /// Why it does not fit.
        why: String,
    },
    /// The events of a run contradict each other.
    #[error("the history is damaged: {0}; `longhaul export` prints what can be read, `longhaul cancel` ends the run")]
    Damaged(String),
    /// A newer version of this program wrote an event that this one does not know.
    #[error("a newer version of Longhaul wrote this run (it has the event `{0}`); update this program to read it")]
    Newer(String),
    /// A file could not be read or written.
    #[error("{0}")]
    Files(#[from] std::io::Error),
}

impl Error {
    /// Whether the history of this one run is at fault. Other runs must not suffer from it.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Newer(_) | Self::Store(longhaul_store::Error::Corrupt(_)))
    }

    /// The error as all interfaces show it, with its kind.
    pub fn rejection(&self) -> Rejection {
        use longhaul_store::Error as Stored;
        match self {
            Self::Rejected(rejection) => rejection.clone(),
            Self::UnknownRun(_) => Rejection::not_found(self.to_string()).with(Remedy::ListRuns),
            Self::Store(Stored::UnknownRun) => Rejection::not_found("there is no such run").with(Remedy::ListRuns),
            Self::Ambiguous(..) => Rejection::not_found(self.to_string()).say("give more of its id"),
            Self::Misfit { .. } | Self::Store(Stored::TooLarge { .. }) => Rejection::invalid(self.to_string()),
            Self::Store(Stored::Busy) => Rejection::busy(self.to_string()),
            Self::Store(_) | Self::Damaged(_) | Self::Newer(_) | Self::Files(_) => {
                Rejection::unavailable(self.to_string())
            }
        }
    }

    pub(crate) fn encoding(error: serde_json::Error) -> Self {
        Self::Damaged(format!("an event cannot be written: {error}"))
    }

    pub(crate) fn decoding(error: serde_json::Error) -> Self {
        Self::Damaged(format!("an event cannot be read: {error}"))
    }
}
