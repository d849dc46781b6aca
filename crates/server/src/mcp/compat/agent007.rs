//! The tools of agent007: `agent007_*`.
//!
//! A session there is a run here, hosted by the client that started it.

mod about;
mod approve;
mod dispatch;
mod flow;
mod gate;
mod history;
mod look;
mod people;
pub(super) mod per_workflow;
mod plan;
mod progress;
mod shelf;
mod step;
mod view;
mod words;

use crate::mcp::tool::Tool;

/// The fixed tools.
pub(super) fn table() -> &'static [Tool] {
    &[
        about::HELP,
        about::HEALTH,
        about::CONFIG_SHOW,
        dispatch::TOOL,
        shelf::WORKFLOW_LIST,
        shelf::WORKFLOW_CREATE,
        plan::TOOL,
        flow::WORKFLOW_RUN,
        flow::WORKFLOW_START,
        flow::WORKFLOW_NEXT,
        flow::WORKFLOW_SUBMIT_STEP,
        look::WORKFLOW_STATUS,
        approve::TOOL,
        look::WORKFLOW_GET_OUTPUT,
        look::WORKFLOW_HEARTBEAT,
        flow::WORKFLOW_RESUME,
        history::RUN_HISTORY,
        history::RUN_SHOW,
        people::PERSONA_LIST,
        people::PERSONA_SHOW,
    ]
}
