//! Connects Longhaul to editors: which files that needs, and what changes in them.
//!
//! **Invariant:** `init` keeps text that others wrote. It edits files in place with their comments, replaces a foreign
//! entry only on request, and copies a file to its backup before the first change.

pub(crate) mod agent;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod editor;
pub(crate) mod entry;
