//! `run`: an engine-driven run, in the foreground for a while.

use std::time::Duration;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::status;
use crate::desk::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::watch;

/// How long is waited unless the caller says: less than clients wait for a call.
const WAIT_S: u64 = 45;
/// The longest that anybody is waited for.
const WAIT_S_MAX: u64 = 3600;

pub(crate) const TOOL: Tool = Tool {
    name: "run",
    title: "Run a workflow by the engine",
    about: "Runs a workflow unattended: the ENGINE calls agents for its steps. Waits a while and answers how it stands; the run continues by \
            itself after that, `status` and `output` look at it. With `run` in the place of `workflow` it continues with a run that stands still. \
            Cancelling the call ends the waiting only; the tool `cancel` ends a run.",
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
    /// What is to be done, in the user's words.
    #[serde(default)]
    task: String,
    /// Inputs of the workflow by name, as `workflow_show` lists them.
    #[serde(default)]
    inputs: IndexMap<String, Json>,
    /// In the place of a workflow: the id of a run to continue with.
    #[serde(default)]
    run: Option<String>,
    /// How long to wait for it, in seconds; 0 answers with the id at once.
    #[serde(default)]
    wait_seconds: Option<u64>,
}

async fn run(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let run = match (&args.workflow, &args.run) {
        (Some(workflow), None) => {
            let order = Order { task: args.task, inputs: args.inputs, run: None };
            call.desk.start(workflow, order, Driver::Engine, &call.caller).await?
        }
        (None, Some(run)) => going_on(&call, run).await?,
        _ => {
            return Err(Problem::new("give either `workflow`, what to run, or `run`, the id of what to continue with"));
        }
    };
    call.desk.drive(&run);
    let wait = Duration::from_secs(args.wait_seconds.unwrap_or(WAIT_S).min(WAIT_S_MAX));
    watch::wait(&call.desk, &run, wait, &call.context).await?;
    status::reply(&call, &run).await
}

async fn going_on(call: &Call, id: &str) -> Result<RunId, Problem> {
    let (run, loaded) = call.desk.load(id).await?;
    if loaded.state.is_hosted() {
        return Err(Problem::new(format!("{run} is hosted: its steps are yours to do; `next` hands them out")));
    }
    Ok(run)
}
