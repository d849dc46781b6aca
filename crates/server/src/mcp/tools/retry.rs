//! `retry`: starts a failed or cancelled run again.

use longhaul_app::RunCommand;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::onwards;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "retry",
    title: "Start a failed run again",
    about: "Starts a failed or cancelled run again. Steps that are done keep their results; with `from`, that step and the ones after it run again.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(retry(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The first step to run again. Without it, the steps that failed.
    #[serde(default)]
    from: Option<String>,
}

async fn retry(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.state.run(&args.run).await?;
    let from = args.from.as_ref().map(|step| step.parse().map_err(Problem::new)).transpose()?;
    let applied = call.state.command(&run, RunCommand::Retry { from }, &call.caller).await?;
    onwards(&call, &applied).await
}
