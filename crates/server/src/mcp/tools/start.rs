//! `start`: a hosted run, whose steps the client does.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hosted;
use crate::desk::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "start",
    title: "Start a workflow, hosted",
    about: "Starts a workflow whose steps YOU do: answers with the first steps, each with its prompt and how to close it. \
            Do them (a subagent each, side by side, is fine), `submit` each result, and continue until the status is `succeeded` or `failed`. \
            Commands and other fixed steps are done by the engine in between.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(start(call)),
};

/// What a run is started with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow, as `workflow_list` gives it.
    workflow: String,
    /// What is to be done, in the user's words.
    #[serde(default)]
    task: String,
    /// Inputs of the workflow by name, as `workflow_show` lists them.
    #[serde(default)]
    inputs: IndexMap<String, Json>,
    /// An id of your own for the run: a call that is repeated with it continues with the run that exists.
    #[serde(default)]
    id: Option<String>,
}

async fn start(mut call: Call) -> Result<Reply, Problem> {
    let Args { workflow, task, inputs, id } = call.arguments()?;
    let run = id.map(own).transpose()?;
    if let Some(run) = &run
        && call.desk.engine().load(run).await.is_ok()
    {
        return hosted::next(&call, run).await;
    }
    let run = call.desk.start(&workflow, Order { task, inputs, run }, Driver::Host, &call.caller).await?;
    hosted::next(&call, &run).await
}

fn own(id: String) -> Result<RunId, Problem> {
    let problem = || Problem::new(format!("`{id}` cannot be an id: letters, digits, `-` and `_` make one"));
    RunId::new(id.clone()).ok_or_else(problem)
}
