//! The tools, one file each.

pub(crate) mod answer;
mod cancel;
pub(crate) mod dispatch;
mod heartbeat;
pub(crate) mod hosted;
mod next;
pub(crate) mod output;
pub(crate) mod per_workflow;
mod retry;
pub(crate) mod run;
mod runs;
mod start;
pub(crate) mod status;
mod submit;
pub(crate) mod workflow_check;
pub(crate) mod workflow_create;
pub(crate) mod workflow_list;
mod workflow_show;

pub use crate::mcp::tool::{Nature, Tool};

/// All fixed tools.
pub fn table() -> &'static [Tool] {
    &[
        workflow_list::TOOL,
        workflow_show::TOOL,
        workflow_check::TOOL,
        workflow_create::TOOL,
        start::TOOL,
        next::TOOL,
        submit::TOOL,
        heartbeat::TOOL,
        run::TOOL,
        status::TOOL,
        output::TOOL,
        answer::TOOL,
        cancel::TOOL,
        retry::TOOL,
        runs::TOOL,
        dispatch::TOOL,
    ]
}
