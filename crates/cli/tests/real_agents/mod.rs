//! Tests the real agents with the real command, against a scripted model.
//!
//! `scripts/install-agents` fetches the agents; a test whose agent is missing is skipped, and says so.

mod agent;
mod answers;
mod editor;
mod failures;
mod interruptions;
mod limits;
mod mcp;
mod night;
mod project;
mod spending;
