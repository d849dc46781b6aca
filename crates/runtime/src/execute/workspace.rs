//! The files that steps work on: recorded in git, put back, and moved between machines.

pub(crate) mod sync;
pub(crate) mod tree;
