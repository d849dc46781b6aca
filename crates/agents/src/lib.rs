//! Runs the work of a run: commands, and the agents that are called as commands.
//!
//! **Invariant:** no process outlives the process that started it. A command that has ended, in any way, leaves no
//! process behind. If an engine dies, in any way, its guard cleans up. Only agents continue when their engine dies,
//! under a shim that limits how long they may.

pub mod answer;
pub mod contract;
pub mod data;
pub mod drivers;
pub mod machine;
pub mod mcp;
pub mod notice;
pub mod prices;
pub mod private;
pub mod process;
pub mod redact;
pub mod scripted;
pub mod serve;
pub mod shim;
pub mod tool;
pub mod watch;
