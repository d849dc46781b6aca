//! The tools of work-buddy: `wb_*`.
//!
//! A workflow run there is a run here, hosted by the client that started it. The client sees one step at a time.

mod advance;
mod cancel;
mod context;
mod id;
mod init;
mod look;
mod params;
mod registry;
mod response;
mod run;
mod search;
mod words;

use crate::mcp::tool::Tool;

/// The tools.
pub(super) fn table() -> &'static [Tool] {
    &[init::TOOL, search::TOOL, run::TOOL, advance::TOOL, look::STATUS, look::STEP_RESULT]
}
