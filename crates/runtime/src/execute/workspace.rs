//! The files that steps work on: Longhaul records them in git, restores them, and moves them between machines.

pub(crate) mod sync;
pub(crate) mod tree;
