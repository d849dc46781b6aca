//! The reasons for which the store does not accept a commit.

use longhaul_store::Error as Refusal;

use crate::engine::Error;

/// Whether another process wrote first. Then load the run and decide again.
pub(crate) fn moved_on(error: &Error) -> bool {
    use longhaul_store::Error::{Conflict, Exists, Fenced};
    matches!(error, Error::Store(Conflict { .. } | Exists | Fenced { .. }))
}

/// Whether the store will never accept this commit.
pub(crate) fn is_refused(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::TooLarge { .. } | Refusal::Invalid(_)))
}

/// Whether another worker holds a task of the commit.
pub(crate) fn is_fenced(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::Fenced { .. }))
}

/// Whether the store does not answer now, but may answer later.
pub(crate) fn is_away(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::Unreachable(_) | Refusal::Unsure(_) | Refusal::Busy))
}
