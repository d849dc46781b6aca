//! Answers the permission requests of an agent, from the turn.
//!
//! **Invariant:** a request that is not clearly allowed is rejected. A permission is for one use only, if the agent
//! offers that.

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolKind,
};

use super::reports::Reports;
use crate::contract::Permission;
use crate::mcp::McpServer;
use crate::serve::workspace::Workspace;

/// A request, and everything that decides it.
pub(super) struct Asked<'a> {
    pub(super) request: &'a RequestPermissionRequest,
    pub(super) servers: &'a [McpServer],
    pub(super) reports: &'a Reports,
}

pub(super) fn answer(asked: Asked<'_>, workspace: &Workspace, is_cancelled: bool) -> RequestPermissionResponse {
    let Asked { request, servers, reports } = asked;
    if is_cancelled {
        return RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
    }
    let call = reports.asked(&request.tool_call);
    let inside = call.places.iter().all(|place| workspace.holds(place));
    let of_server = [&call.name, call.title()].into_iter().find_map(|name| of_server(servers, name));
    let is_allowed = match (of_server, workspace.permission()) {
        (Some(is_allowed), _) => is_allowed,
        (None, Permission::Full) => true,
        (None, Permission::Edit) => inside,
        (None, Permission::ReadOnly) => inside && only_looks(call.kind),
    };
    if !is_allowed {
        reports.denied(if of_server.is_some() { call.title() } else { &call.name });
    }
    let wanted = if is_allowed {
        [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
    } else {
        [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]
    };
    let chosen = wanted.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    RequestPermissionResponse::new(match chosen {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone())),
        None => RequestPermissionOutcome::Cancelled,
    })
}

/// Whether a tool of one of these servers is allowed; `None` for other tools. Agents write such a tool as
/// `mcp__server__tool`, `server__tool`, `server/tool` and the like.
fn of_server(servers: &[McpServer], name: &str) -> Option<bool> {
    let name = name.strip_prefix("mcp__").or_else(|| name.strip_prefix("mcp_")).unwrap_or(name);
    servers.iter().find_map(|server| {
        let tool = name.strip_prefix(server.name.as_str())?.strip_prefix(['_', '-', '.', '/', ':', ' '])?;
        let tool = tool.strip_prefix('_').unwrap_or(tool);
        let is_listed = |tools: &Vec<String>| tools.iter().any(|listed| listed == tool);
        Some(server.tools.as_ref().is_none_or(is_listed))
    })
}

fn only_looks(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ToolTransport;

    #[test]
    fn a_tool_belongs_to_the_server_in_its_name() {
        let server = |name: &str, tools: Option<&[&str]>| McpServer {
            name: name.to_owned(),
            transport: ToolTransport::Address { url: String::new(), headers: indexmap::IndexMap::new() },
            tools: tools.map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect()),
        };
        let servers = [server("hand", Some(&["text"])), server("all", None)];
        let said = |name: &str| of_server(&servers, name);
        assert_eq!(
            (said("mcp__hand__text"), said("hand/text"), said("hand.text")),
            (Some(true), Some(true), Some(true))
        );
        assert_eq!((said("mcp__hand__env"), said("mcp_hand_env")), (Some(false), Some(false)));
        assert_eq!((said("mcp__all__anything"), said("handy"), said("Bash")), (Some(true), None, None));
    }
}
