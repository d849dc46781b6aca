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
use crate::serve::workspace::Workspace;

pub(super) fn answer(
    request: &RequestPermissionRequest,
    workspace: &Workspace,
    reports: &Reports,
    is_cancelled: bool,
) -> RequestPermissionResponse {
    if is_cancelled {
        return RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
    }
    let call = reports.asked(&request.tool_call);
    let inside = call.places.iter().all(|place| workspace.holds(place));
    let is_allowed = match workspace.permission() {
        Permission::Full => true,
        Permission::Edit => inside,
        Permission::ReadOnly => inside && only_looks(call.kind),
    };
    if !is_allowed {
        reports.denied(&call.name);
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

fn only_looks(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch)
}
