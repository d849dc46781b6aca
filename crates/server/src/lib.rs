//! The server: the Model Context Protocol over pipes and HTTP, and the HTTP API.
//!
//! ```text
//! client ─▶ mcp ─▶ app state ─▶ engine, project
//! ```
//!
//! **Invariant:** the server keeps no state of its own that a client relies on. The store has the result of a call
//! before the answer leaves, so the process can be killed between any two calls.

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
