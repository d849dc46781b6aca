//! `submit`: the result of a step of a hosted run.

use longhaul_core::Json;
use longhaul_core::event::Usage;
use longhaul_runtime::Submission;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hosted;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "submit",
    title: "Submit the result of a step",
    about: "Hands in the result of a step that was handed out, then answers like `next`. Give the attempt that the step was handed out under. \
            A result that does not fit leaves the step open and says why; nothing else is harmed by a wrong call.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(submit(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The step, as it was handed out.
    step: String,
    /// The attempt, as it was handed out.
    #[serde(default)]
    attempt: Option<u32>,
    /// The result: a text, or a value that fits the schema of the step.
    #[serde(default)]
    output: Option<Json>,
    /// In the place of a result: why the step cannot be done.
    #[serde(default)]
    error: Option<String>,
    /// Tokens that it took, if you know.
    #[serde(default)]
    tokens: Option<u64>,
}

async fn submit(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    if args.output.is_some() == args.error.is_some() {
        return Err(Problem::new("give either `output`, the result, or `error`, why there is none"));
    }
    let run = call.desk.run(&args.run).await?;
    // How many of them were read and how many written nobody says, nor what they cost.
    let usage = args.tokens.map(|tokens| Usage { output_tokens: tokens, usd_unknown: true, ..Usage::default() });
    let submission =
        Submission { output: args.output.unwrap_or_default(), error: args.error, usage, attempt: args.attempt };
    let handed = call.desk.engine().submit(&run, &args.step, submission, &call.caller.client).await?;
    hosted::reply(&call, handed).await
}
