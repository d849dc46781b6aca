//! Files of a run on machines.

use serde::{Deserialize, Serialize};

/// The files of a run as git has them, on a remote that all machines reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The commit.
    pub commit: String,
    /// The reference from which it can be fetched.
    pub name: String,
    /// How many were sent under that name: a larger one is newer.
    pub number: u64,
}

/// What is done about a machine that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHostLost {
    /// Nothing new starts until somebody decides. Only histories of earlier versions say so.
    #[default]
    Pause,
    /// A person is asked.
    Ask,
    /// The files are made again elsewhere from what was recorded of them; without a record, a person is asked.
    Rebuild,
}

impl OnHostLost {
    pub(super) fn is_pause(&self) -> bool {
        *self == Self::Pause
    }
}
