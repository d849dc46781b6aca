//! The engine over the wire: the Model Context Protocol, over pipes and HTTP.
//!
//! ```text
//! client ─▶ mcp ─▶ desk ─▶ engine, project
//! ```
//!
//! **Invariant:** nothing that a client is told is kept only here. Whatever a call answered is in the store before the answer
//! leaves, so the process can be killed between any two calls.

mod app_state;
mod connections;
mod ending;
pub mod http;
mod mcp;
mod origin_check;
mod patient;
mod token;

pub use app_state::{AppState, ServerSetup};
pub use mcp::{Doors, Nature, Tool, ToolSet, pipes, protocol_over_http, table};
pub use token::Token;
