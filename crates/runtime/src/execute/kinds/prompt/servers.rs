//! The MCP servers of a turn: the step or the settings of the agent name them, the settings describe them.

use longhaul_agents::mcp::McpServer;
use longhaul_config::Choice;

use crate::execute::kinds::Attempt;
use crate::execute::kinds::tool::usable;

/// The servers of a turn, or why one cannot be used. Several entries can name tools of the same server.
pub(super) fn of(attempt: &Attempt, choice: &Choice) -> Result<Vec<McpServer>, String> {
    let known = &attempt.shared.options.tools;
    let mut servers: Vec<McpServer> = Vec::new();
    for entry in &choice.mcp {
        let (name, tool) = named(entry);
        if let Some(server) = servers.iter_mut().find(|server| server.name == name) {
            add(server, tool);
            continue;
        }
        let Some(configured) = known.get(name) else {
            return Err(unknown(name, known.keys()));
        };
        let (transport, _) = usable(attempt, name, configured)?;
        servers.push(McpServer { name: name.to_owned(), transport, tools: tool.map(|tool| vec![tool.to_owned()]) });
    }
    Ok(servers)
}

/// `server`, or `server.tool`.
fn named(entry: &str) -> (&str, Option<&str>) {
    match entry.split_once('.') {
        Some((server, tool)) if !tool.is_empty() && tool != "*" => (server, Some(tool)),
        Some((server, _)) => (server, None),
        None => (entry, None),
    }
}

/// Adds a tool to those that the agent may use; a whole server includes all.
fn add(server: &mut McpServer, tool: Option<&str>) {
    match (tool, &mut server.tools) {
        (Some(tool), Some(tools)) => tools.push(tool.to_owned()),
        (None, tools) => *tools = None,
        (Some(_), None) => {}
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let there =
        if known.is_empty() { "none is configured".to_owned() } else { format!("there are: {}", known.join(", ")) };
    format!("there is no MCP server `{name}` for the agent; {there}; add it to `mcp.servers` in the settings")
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use longhaul_agents::tool::ToolTransport;

    use super::*;

    #[test]
    fn an_entry_names_a_server_or_one_of_its_tools() {
        assert_eq!(named("github"), ("github", None));
        assert_eq!(named("github.list_issues"), ("github", Some("list_issues")));
        assert_eq!(named("github.a.b"), ("github", Some("a.b")));
        assert_eq!((named("github."), named("github.*")), (("github", None), ("github", None)));
    }

    #[test]
    fn a_whole_server_includes_its_tools() {
        let transport = ToolTransport::Address { url: String::new(), headers: IndexMap::new() };
        let mut server = McpServer { name: "a".to_owned(), transport, tools: Some(vec!["x".to_owned()]) };
        add(&mut server, Some("y"));
        assert_eq!(server.tools.as_deref(), Some(&["x".to_owned(), "y".to_owned()][..]));
        add(&mut server, None);
        add(&mut server, Some("z"));
        assert_eq!(server.tools, None);
    }

    #[test]
    fn an_unknown_server_is_named_with_what_there_is() {
        let known = ["a".to_owned()];
        assert!(unknown("x", known.iter()).starts_with("there is no MCP server `x` for the agent; there are: a;"));
        assert!(unknown("x", [].iter()).contains("none is configured"));
    }
}
