//! `next`: gives the client the steps to do now.

use schemars::JsonSchema;
use serde::Deserialize;

use super::hosted;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "next",
    title: "Next steps of a hosted run",
    about: "The steps of a hosted run that you do now: new ones, and those that you hold and did not submit. \
            Call it after an interruption, after a gate, or when you lost track. You can call it any number of times.",
    nature: Nature::Takes,
    schema: schema::<Args>,
    call: |call| Box::pin(next(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
}

async fn next(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.state.run(&args.run).await?;
    hosted::next(&call, &run).await
}
