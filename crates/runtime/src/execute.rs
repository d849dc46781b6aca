//! Runs attempts: the kinds of work, the files that they work on, and how many run at once.

pub(crate) mod agent_defaults;
pub(crate) mod artifacts;
pub(crate) mod attempt;
pub(crate) mod cache;
pub(crate) mod compat;
pub(crate) mod kinds;
pub(crate) mod permits;
pub(crate) mod secrets;
pub(crate) mod shortage;
pub(crate) mod workspace;
