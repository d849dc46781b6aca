//! `start`: starts a hosted run. The client does its steps.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hosted;
use crate::app_state::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "start",
    title: "Start a workflow, hosted",
    about: "Starts a workflow whose steps YOU do: returns the first steps, each with its prompt and how to close it. \
            Do them (a subagent each, side by side, is fine), `submit` each result, and continue until the status is `succeeded` or `failed`. \
            The engine does commands and other fixed steps in between.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(start(call)),
};

/// The values that a run starts with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow, as `workflow_list` gives it.
    workflow: String,
    /// The task, in the user's words.
    #[serde(default)]
    task: String,
    /// Inputs of the workflow by name, as `workflow_show` lists them.
    #[serde(default)]
    inputs: IndexMap<String, Json>,
    /// Your own id for the run. A repeated call with the same id continues the existing run.
    #[serde(default)]
    id: Option<String>,
}

async fn start(mut call: Call) -> Result<Reply, Problem> {
    let Args { workflow, task, inputs, id } = call.arguments()?;
    let run = id.map(own).transpose()?;
    if let Some(run) = &run
        && call.state.engine().load(run).await.is_ok()
    {
        return hosted::next(&call, run).await;
    }
    let run = call.state.start(&workflow, Order { task, inputs, run }, Driver::Client, &call.caller).await?;
    hosted::next(&call, &run).await
}

fn own(id: String) -> Result<RunId, Problem> {
    let problem = || Problem::new(format!("`{id}` cannot be an id: letters, digits, `-` and `_` make one"));
    RunId::new(id.clone()).ok_or_else(problem)
}
