//! `wb_run`: starts a workflow, or calls one of a few functions.

use longhaul_core::Json;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_runtime::{Error, Startable};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::super::told;
use super::registry::{self, Registered};
use super::response::{self, Since};
use super::{cancel, id, init, params};
use crate::app_state::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// The functions that exist besides workflows.
pub(super) const CAPABILITIES: [&str; 3] = ["wb_init", "workflow_cancel", "workflow_sweep_idle"];
/// How often to try another id if one is taken.
const TRIES: usize = 5;

pub(super) const TOOL: Tool = Tool {
    name: "wb_run",
    title: "work-buddy: run a workflow or a capability",
    about: "Starts a workflow and answers with its first step, or calls a capability: workflow_cancel, workflow_sweep_idle. Do the step that is \
            current_step, then call wb_advance with its result.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(run(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow or a capability, as wb_search gives it.
    capability: String,
    /// Its parameters: an object, or the text of one.
    #[serde(default)]
    params: Option<Json>,
}

async fn run(mut call: Call) -> Result<Reply, Problem> {
    let Args { capability, params } = call.arguments()?;
    let params = params::read(params)?;
    if capability == "wb_init" {
        return init::registered(&call, params).await;
    }
    init::required(&call)?;
    match capability.as_str() {
        "workflow_cancel" => cancel::cancel(&call, params).await,
        "workflow_sweep_idle" => cancel::sweep_idle(&call, params).await,
        workflow => start(&call, workflow, params).await,
    }
}

async fn start(call: &Call, workflow: &str, params: Map<String, Json>) -> Result<Reply, Problem> {
    let workflow = registry::find(&call.state, workflow)?;
    let order = params::order(&workflow.name, &workflow.plan, &params)?;
    let run = begin(call, &workflow, order).await?;
    let handed = call.state.engine().next(&run, &call.caller.client).await?;
    let since = Since { start: Some(params), prior: None };
    Ok(told(response::of(&call.state, &handed, since).await?))
}

/// Records the start of a run with an id in the form of work-buddy.
async fn begin(call: &Call, workflow: &Registered, order: Order) -> Result<RunId, Problem> {
    let mut taken = Problem::new("no id is free for the run; try again");
    let startable = Startable { plan: workflow.plan.clone(), dir: workflow.dir.clone(), source: None };
    for _ in 0..TRIES {
        let order = longhaul_app::StartOrder {
            task: order.task.clone(),
            inputs: order.inputs.clone(),
            run: id::new(),
            trigger: Some(RunTrigger { tools: Some("work-buddy".to_owned()), ..RunTrigger::mcp(&call.caller.client) }),
            driver: Driver::Client,
        };
        match call.state.app().start(&startable, order, &call.caller.known()).await {
            Ok(run) => return Ok(run),
            Err(Error::Store(error)) => taken = Problem::new(error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(taken)
}
