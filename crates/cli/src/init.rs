//! Hooking Longhaul up with editors: which files that takes, and what is to change in them.
//!
//! **Invariant:** what somebody else wrote stays: files are edited in place with their comments, an entry that is not ours
//! is only replaced on request, and what is there is kept beside the file before the first change.

pub(crate) mod agent;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod editor;
pub(crate) mod entry;
