//! The demo: a real review of a real repository, in which only what the agents say is recorded.
//!
//! **Invariant:** everything that happens is done by commands of this binary that a user could type, in a folder of its own;
//! nothing of the user's settings, store or project has a part in it.

pub(crate) mod folder;
pub(crate) mod report;
pub(crate) mod stage;
