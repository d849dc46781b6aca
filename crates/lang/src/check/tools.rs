//! LH0406: a tool whose server is not configured.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::world::NameKind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "tool") {
        let Some((node, name)) = step.action.value().and_then(|node| Some((node, node.as_text()?))) else { continue };
        let known = context.world.names(NameKind::ToolServer);
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
            }
            _ => out.push(
                Diagnostic::error("LH0406", node.span, format!("`{name}` does not name a tool"))
                    .label("expected `server.tool`")
                    .help("name the server and the tool, as in `github.list_issues`"),
            ),
        }
    }
}
