//! The Model Context Protocol, over pipes and HTTP.
//!
//! ```text
//! client ─pipes | http─▶ server ─▶ tools, resources, prompts ─▶ app state
//! ```

pub(crate) mod answers;
pub(crate) mod arguments;
pub(crate) mod ask;
pub(crate) mod compat;
mod complete;
pub(crate) mod decision;
pub(crate) mod dispatch;
pub(crate) mod handout;
pub(crate) mod http;
pub(crate) mod mcp_server;
pub(crate) mod pipes;
mod prompts;
mod resources;
pub(crate) mod sessions;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod watch;

pub use compat::ToolSet;
pub use http::{Doors, http as protocol_over_http};
pub use pipes::pipes;
pub use tools::{Nature, Tool, table};
