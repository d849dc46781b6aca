//! What drivers share about the MCP servers of a turn.

use indexmap::IndexMap;
use longhaul_core::Json;
use serde_json::{Map, json};

use super::written;
use crate::contract::{AgentSetup, Turn, UnsupportedTurn};
use crate::mcp::{self, McpServer};
use crate::tool::ToolTransport;

/// The names of what the agent may use: all tools of a server, or some.
pub(super) fn allowed(turn: &Turn, whole: impl Fn(&str) -> String, one: impl Fn(&str, &str) -> String) -> Vec<String> {
    let of = |server: &McpServer| match &server.tools {
        None => vec![whole(&server.name)],
        Some(tools) => tools.iter().map(|tool| one(&server.name, tool)).collect(),
    };
    turn.mcp.iter().flat_map(of).collect()
}

/// Writes the servers of a turn into a file as most agents read it, and returns its path. `more` adds keys to a server.
pub(super) fn config_file(
    setup: &AgentSetup,
    turn: &Turn,
    more: impl Fn(&McpServer) -> Json,
) -> Result<String, UnsupportedTurn> {
    mcp::write(setup, turn)?;
    let file = mcp::file(turn);
    let servers = listed(setup, turn, &file.to_string_lossy(), more);
    written::file(&turn.scratch, "servers.json", &json!({"mcpServers": servers}).to_string())
}

/// The servers of a turn by name, each with how the agent starts it.
pub(super) fn listed(
    setup: &AgentSetup,
    turn: &Turn,
    file: &str,
    more: impl Fn(&McpServer) -> Json,
) -> Map<String, Json> {
    let described = |server: &McpServer| {
        let entry = mcp::entry(setup, file, server);
        let mut described = json!({"command": entry.command, "args": entry.args});
        if let (Json::Object(all), Json::Object(more)) = (&mut described, more(server)) {
            all.extend(more);
        }
        (server.name.clone(), described)
    };
    turn.mcp.iter().map(described).collect()
}

/// The servers of a turn, each with how the agent starts it in place of its own description.
pub(super) fn started(setup: &AgentSetup, turn: &Turn) -> Result<Vec<McpServer>, UnsupportedTurn> {
    mcp::write(setup, turn)?;
    let file = mcp::file(turn);
    let started = |server: &McpServer| {
        let entry = mcp::entry(setup, &file.to_string_lossy(), server);
        let args = entry.args.to_vec();
        let transport = ToolTransport::Program { command: entry.command, args, env: IndexMap::new() };
        McpServer { transport, ..server.clone() }
    };
    Ok(turn.mcp.iter().map(started).collect())
}
