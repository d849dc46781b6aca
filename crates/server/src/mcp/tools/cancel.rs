//! `cancel`: cancels a run.

use longhaul_app::RunCommand;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::onwards;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "cancel",
    title: "Cancel a run",
    about: "Cancels a run: no new step starts, and running steps stop. Finished results stay; `retry` starts the run again.",
    nature: Nature::Ends,
    schema: schema::<Args>,
    call: |call| Box::pin(cancel(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The reason.
    #[serde(default)]
    reason: Option<String>,
}

async fn cancel(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.state.run(&args.run).await?;
    let applied = call.state.command(&run, RunCommand::Cancel { reason: args.reason }, &call.caller).await?;
    onwards(&call, &applied).await
}
