//! The engine over the wire: the Model Context Protocol, over pipes and HTTP.
//!
//! ```text
//! client ─pipes | http─▶ face ─▶ tools, resources, prompts ─▶ desk ─▶ engine, project
//! ```
//!
//! **Invariant:** nothing that a client is told is kept only here. Whatever a call answered is in the store before the answer
//! leaves, so the process can be killed between any two calls.

mod arguments;
mod ask;
mod complete;
mod decision;
mod desk;
mod dispatch;
mod face;
mod handout;
mod http;
mod pipes;
mod prompts;
mod resources;
mod sessions;
mod token;
mod tool;
mod tools;
mod watch;

pub use desk::{Desk, Setup};
pub use http::{Doors, http};
pub use pipes::pipes;
pub use token::Token;
pub use tools::{Nature, Tool, table};
