//! `retry`: starts a failed or cancelled run again.

use longhaul_app::{Replanning, RunCommand};
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::onwards;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "retry",
    title: "Start a failed run again",
    about: "Starts a failed or cancelled run again. Steps that are done keep their results; with `from`, that step and the ones after it run again. With `workflow`, the run continues with that workflow as it is now: finished steps that mean the same keep their results.",
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
    /// The name of a workflow, usually the run's own after its file was fixed. The run continues with it.
    #[serde(default)]
    workflow: Option<String>,
}

/// Continues a run with a workflow of the project. A text is not accepted: the project decides which workflows there are.
async fn with(call: &Call, run: &RunId, name: &str) -> Result<Reply, Problem> {
    call.state.refresh_shelf().await?;
    let startable = call.state.startable(name)?.1;
    let how = Replanning::new(startable);
    let applied = call.state.replan(run, &how, &call.caller).await?;
    onwards(call, &applied).await
}

async fn retry(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.state.run(&args.run).await?;
    if let Some(name) = &args.workflow {
        return with(&call, &run, name).await;
    }
    let from = args.from.as_ref().map(|step| step.parse().map_err(Problem::new)).transpose()?;
    let applied = call.state.command(&run, RunCommand::Retry { from }, &call.caller).await?;
    onwards(&call, &applied).await
}
