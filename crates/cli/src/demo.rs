//! The demo: a real review of a real repository. Only the replies of the agents are recorded.
//!
//! **Invariant:** the demo uses only commands of this binary that a user could type, in a folder of its own. It neither
//! reads nor changes the user's settings, store or project.

pub(crate) mod folder;
pub(crate) mod report;
pub(crate) mod stage;
