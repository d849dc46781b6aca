//! `retry`: a run that failed or was cancelled, taken up again.

use longhaul_runtime::Message;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::onwards;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "retry",
    title: "Take a failed run up again",
    about: "Starts a failed or cancelled run again. Steps that are done keep their results; with `from`, that step and what follows it are done again.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(retry(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The step to start from; without one, whatever failed.
    #[serde(default)]
    from: Option<String>,
}

async fn retry(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.desk.run(&args.run).await?;
    let from = args.from.as_ref().map(|step| step.parse().map_err(Problem::new)).transpose()?;
    let message = Message::Retry { from, by: Some(call.caller.client.clone()) };
    call.desk.tell(&run, message, &call.caller.who).await?;
    onwards(&call, &run).await
}
