//! `dispatch`: one line of text as a command, answered as agent007 answers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::flow;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::tools::dispatch::{Came, carried_out};

pub(super) const TOOL: Tool = Tool {
    name: "agent007_dispatch",
    title: "agent007: carry out a command line",
    about: "Carries out one line as a user types it, passed on unchanged: `$agent007 wf tdd Add X`, `tdd Add X`, `wf`, `/skill words`, `run TASK`, \
            `help`. Workflows are started as hosted sessions: you do their steps.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(dispatch(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The line, as it was typed.
    command: String,
}

async fn dispatch(mut call: Call) -> Result<Reply, Problem> {
    let Args { command } = call.arguments()?;
    match carried_out(&call, &command).await? {
        Came::To(run) => flow::onwards(&call, &run).await,
        Came::Said(reply) => Ok(reply),
    }
}
