//! `submit`: takes the result of a step of a hosted run.

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
    about: "Submits the result of a step that you got, then answers like `next`. Give the attempt that you got with the step. \
            If a result does not fit, the step stays open and the answer says why; a wrong call does no other harm.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(submit(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The address of the step, as you got it.
    step: String,
    /// The number of the attempt, as you got it.
    #[serde(default)]
    attempt: Option<u32>,
    /// The result: a text, or a value that fits the schema of the step.
    #[serde(default)]
    output: Option<Json>,
    /// Instead of a result: why the step cannot be done.
    #[serde(default)]
    error: Option<String>,
    /// The number of tokens used, if you know it.
    #[serde(default)]
    tokens: Option<u64>,
}

async fn submit(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    if args.output.is_some() == args.error.is_some() {
        return Err(Problem::new("give either `output`, the result, or `error`, why there is none"));
    }
    let run = call.state.run(&args.run).await?;
    // The split into input and output tokens, and the cost, are not known.
    let usage = args.tokens.map(|tokens| Usage { output_tokens: tokens, usd_unknown: true, ..Usage::default() });
    let submission =
        Submission { output: args.output.unwrap_or_default(), error: args.error, usage, attempt: args.attempt };
    let handed = call.state.engine().submit(&run, &args.step, submission, &call.caller.client).await?;
    hosted::reply(&call, handed).await
}
