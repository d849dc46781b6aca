//! The background engine: one process per user that keeps a worker for each project that asked for one.
//!
//! ```text
//! run --detach, a closed terminal, up ─ socket ─▶ supervisor ─ leash ─▶ worker of a project, worker of a project, …
//! ```
//!
//! - The supervisor holds a lock for as long as it lives, so there is one of it. It is started on demand, in a session
//!   of its own, and ends when it has no worker left.
//! - A request carries the folder of a project and the environment of its caller. Both stay in memory.
//! - A worker has a pipe from the supervisor as its standard input, its *leash*. If the supervisor dies, the worker
//!   leaves: it lets commands end, starts nothing more, and leaves its agents running. The next engine attaches to them.

pub(crate) mod client;
pub(crate) mod install;
pub(crate) mod leash;
pub(crate) mod place;
pub(crate) mod protocol;
pub(crate) mod supervisor;
mod workers;

pub(crate) use client::Handed;
pub(crate) use protocol::{Order, Status};
