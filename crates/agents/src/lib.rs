//! Who does the work of a run: commands, and the agents that are called through them.
//!
//! **Invariant:** nothing outlives what started it. A command that has ended, however it ended, has left
//! no process behind; an engine that has died, however it died, is cleared up after by its guard. Agents alone continue
//! when their engine dies, below a shim that lets them, and for as long as it does.

pub mod answer;
pub mod contract;
pub mod data;
pub mod drivers;
pub mod machine;
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
