//! The real agents, driven by the real command, against a model that follows a script.
//!
//! `scripts/install-agents` fetches the agents; what could not be fetched is skipped, and says so.

mod agent;
mod answers;
mod editor;
mod failures;
mod interruptions;
mod limits;
mod project;
mod spending;
