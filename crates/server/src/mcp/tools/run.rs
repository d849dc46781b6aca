//! `run`: starts an engine-driven run, and waits for it for a while.

use std::time::Duration;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::status;
use crate::app_state::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::watch;

/// The default time to wait, shorter than clients wait for a call.
const WAIT_S: u64 = 45;
/// The longest time to wait.
const WAIT_S_MAX: u64 = 3600;

pub(crate) const TOOL: Tool = Tool {
    name: "run",
    title: "Run a workflow with the engine",
    about: "Runs a workflow unattended: the ENGINE calls agents for its steps. Waits a while and returns the state of the run; the run continues by \
            itself after that, and `status` and `output` show it. With `run` instead of `workflow` it continues a run that has stopped. \
            Cancelling the call only stops the waiting; the tool `cancel` cancels a run.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(run(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow, as `workflow_list` gives it.
    #[serde(default)]
    workflow: Option<String>,
    /// The task, in the user's words.
    #[serde(default)]
    task: String,
    /// Inputs of the workflow by name, as `workflow_show` lists them.
    #[serde(default)]
    inputs: IndexMap<String, Json>,
    /// Instead of a workflow: the id of a run to continue.
    #[serde(default)]
    run: Option<String>,
    /// How many seconds to wait for it; 0 returns the id at once.
    #[serde(default)]
    wait_seconds: Option<u64>,
}

async fn run(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = match (&args.workflow, &args.run) {
        (Some(workflow), None) => {
            let order = Order { task: args.task, inputs: args.inputs, run: None };
            call.state.start(workflow, order, Driver::Engine, &call.caller).await?
        }
        (None, Some(run)) => going_on(&call, run).await?,
        _ => {
            return Err(Problem::new(
                "give either `workflow`, the workflow to run, or `run`, the id of the run to continue",
            ));
        }
    };
    call.state.drive(&run);
    let wait = Duration::from_secs(args.wait_seconds.unwrap_or(WAIT_S).min(WAIT_S_MAX));
    watch::wait(&call.state, &run, wait, &call.context).await?;
    status::reply(&call, &run).await
}

async fn going_on(call: &Call, id: &str) -> Result<RunId, Problem> {
    let (run, loaded) = call.state.load(id).await?;
    if loaded.state.is_hosted() {
        return Err(Problem::new(format!("{run} is hosted: you do its steps; `next` returns them")));
    }
    Ok(run)
}
