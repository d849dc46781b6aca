//! LH0406: a tool whose server is not configured.

use std::collections::HashSet;

use longhaul_core::catalog::names;

use super::Context;
use super::meant::Meant;
use crate::diagnostic::Diagnostic;
use crate::source::Node;
use crate::world::NameKind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "tool") {
        let Some((node, name)) = step.action.value().and_then(|node| Some((node, node.as_text()?))) else { continue };
        let known = context.world.names(NameKind::ToolServer);
        match name.split_once('.') {
            Some((server, tool)) if !tool.is_empty() => {
                if !known.iter().any(|candidate| candidate == server) {
                    out.push(unknown(node, server, known.iter().map(String::as_str)));
                }
            }
            _ => out.push(
                Diagnostic::error("LH0406", node.span, format!("`{name}` does not name a tool"))
                    .label("expected `server.tool`")
                    .help("name the server and the tool, as in `github.list_issues`"),
            ),
        }
    }
    of_agents(context, out);
}

/// The servers whose tools an agent may use.
fn of_agents(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // Several steps may use the same agent.
    let mut said = HashSet::new();
    for meant in Meant::all(context) {
        let entries = meant.get("mcp").and_then(Node::items).unwrap_or_default();
        for (node, name) in entries.iter().filter_map(|node| Some((node, node.as_text()?))) {
            if said.insert(node.span) {
                out.extend(of_agent(context, node, name));
            }
        }
    }
}

fn of_agent(context: &Context<'_, '_>, node: &Node, name: &str) -> Option<Diagnostic> {
    let server = name.split_once('.').map_or(name, |(server, _)| server);
    if names::TOOL_SERVERS.contains(&server) {
        let message = format!("`{server}` is built in and cannot be given to an agent");
        return Some(
            Diagnostic::error("LH0406", node.span, message)
                .label("only for `tool` steps")
                .help("write a `tool` step, or name a server of `mcp.servers` in the settings"),
        );
    }
    let configured = context.world.names(NameKind::ToolServer).iter().map(String::as_str);
    let known: Vec<&str> = configured.filter(|name| !names::TOOL_SERVERS.contains(name)).collect();
    (!known.contains(&server)).then(|| unknown(node, server, known))
}

fn unknown<'a>(node: &Node, server: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let place = "to `.mcp.json`, or to `mcp.servers` in `.longhaul/config.toml`";
    Diagnostic::error("LH0406", node.span, format!("there is no tool server `{server}`"))
        .label("unknown server")
        .did_you_mean(server, known, |known| {
            let names = if known.is_empty() { String::new() } else { format!("known are: {}; ", known.join(", ")) };
            Some(format!("{names}add it {place}"))
        })
}
