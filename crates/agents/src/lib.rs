//! Who does the work of a run: commands, and the agents that are called through them.
//!
//! **Invariant:** nothing outlives what started it. A command that has ended, however it ended, has left
//! no process behind; an engine that has died, however it died, is cleared up after by its guard.

pub mod contract;
pub mod data;
pub mod notice;
pub mod process;
pub mod scripted;
