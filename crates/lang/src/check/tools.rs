//! LH0406: a tool whose server nobody has configured, or that a built-in one does not have.

use longhaul_core::catalog::names::TOOLS;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;
use crate::world::Kind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "tool") {
        let Some((node, name)) = step.action.value().and_then(|node| Some((node, node.as_text()?))) else { continue };
        let known = context.world.names(Kind::ToolServer);
        match name.split_once('.') {
            Some((server, tool)) if !tool.is_empty() => {
                if !known.iter().any(|candidate| candidate == server) {
                    out.push(
                        Diagnostic::error("LH0406", node.span, format!("there is no tool server `{server}`"))
                            .label("unknown server")
                            .did_you_mean(server, known.iter().map(String::as_str), |known| {
                                Some(format!(
                                    "known are: {}; add it to `.mcp.json`, or to `mcp.servers` in `.longhaul/config.toml`",
                                    known.join(", ")
                                ))
                            }),
                    );
                }
                out.extend(unknown_tool(node, server, tool));
            }
            _ => out.push(
                Diagnostic::error("LH0406", node.span, format!("`{name}` does not name a tool"))
                    .label("expected `server.tool`")
                    .help("name the server and the tool, as in `github.list_issues`"),
            ),
        }
    }
}

/// A tool that a server of the product does not have. Which ones the others have is only known when they run.
fn unknown_tool(node: &Node, server: &str, tool: &str) -> Option<Diagnostic> {
    let (_, tools) = TOOLS.iter().find(|(name, tools)| *name == server && !tools.contains(&tool))?;
    let error = Diagnostic::error("LH0406", node.span, format!("`{server}` has no tool `{tool}`"));
    Some(
        error.label("unknown tool").did_you_mean(tool, tools.iter().copied(), |tools| {
            Some(format!("inside a run it has: {}", tools.join(", ")))
        }),
    )
}
