//! `heartbeat`: a sign of life from the client that does a step.

use longhaul_core::explain::moment;
use longhaul_runtime::Heartbeat;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::mcp::answers::Beat;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "heartbeat",
    title: "Report that you are still working on a step",
    about: "Tells the run that you are still working on a step, so that no other client gets it. Call it every 3 to 5 minutes during a long step.",
    nature: Nature::Takes,
    schema: schema::<Args>,
    call: |call| Box::pin(heartbeat(call)),
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
    /// What you are doing, in a few words.
    #[serde(default)]
    hint: Option<String>,
}

async fn heartbeat(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = call.state.run(&args.run).await?;
    let sign = Heartbeat { hint: args.hint, attempt: args.attempt };
    let held = call.state.engine().heartbeat(&run, &args.step, sign, &call.caller.client).await?;
    let text = format!("`{}` is yours until {}", held.path, moment(held.until / 1000 * 1000));
    Ok(Reply::Done(text, json!(Beat { run: run.to_string(), held })))
}
