//! Writes the permissions of Gemini as rules that leave nothing to ask. A higher priority wins.

use longhaul_core::Json;

use crate::contract::{Permission, Turn};
use crate::mcp::McpServer;

/// Tools that change something by themselves.
const WRITING: [&str; 3] = ["write_file", "replace", "run_shell_command"];

/// The rules of a turn.
pub(super) fn of(turn: &Turn) -> String {
    let mut rules = String::new();
    match &turn.tools {
        Some(tools) => {
            rules += &rule("*", "deny", 100);
            rules.extend(tools.iter().map(|tool| rule(tool, "allow", 200)));
        }
        None if turn.permission != Permission::ReadOnly => rules += &rule("*", "allow", 100),
        None => {}
    }
    if turn.permission == Permission::ReadOnly {
        rules.extend(WRITING.iter().map(|tool| rule(tool, "deny", 300)));
    }
    rules.extend(turn.mcp.iter().map(of_server));
    rules
}

/// The rules of a server: what is not allowed is denied.
fn of_server(server: &McpServer) -> String {
    let named = |tool: &str, decision, priority| {
        format!("{}mcpName = {}\n\n", rule(tool, decision, priority), Json::from(server.name.as_str()))
    };
    match &server.tools {
        None => named("*", "allow", 500),
        Some(tools) => {
            let allowed = tools.iter().map(|tool| named(tool, "allow", 500));
            std::iter::once(named("*", "deny", 400)).chain(allowed).collect()
        }
    }
}

fn rule(tool: &str, decision: &str, priority: u32) -> String {
    // A JSON string is also a TOML string.
    let name = Json::from(tool);
    let redirects = if decision == "allow" { "allowRedirection = true\n" } else { "" };
    format!("[[rule]]\ntoolName = {name}\ndecision = \"{decision}\"\npriority = {priority}\n{redirects}")
}
