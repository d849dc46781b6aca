//! The hosted loop: `workflow_start`, `workflow_next`, `workflow_submit_step`, and other calls that start or continue a
//! run.

use longhaul_core::Json;
use longhaul_core::event::{Driver, Usage};
use longhaul_core::id::RunId;
use longhaul_runtime::Submission;
use schemars::JsonSchema;
use serde::Deserialize;

use super::view;
use crate::app_state::Order;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const WORKFLOW_RUN: Tool = Tool {
    name: "agent007_workflow_run",
    title: "agent007: run a workflow",
    about: "Runs a workflow with a task. It is started as a hosted session, as by agent007_workflow_start: you do its steps.",
    nature: Nature::Adds,
    schema: schema::<StartArgs>,
    call: |call| Box::pin(start(call)),
};

pub(super) const WORKFLOW_START: Tool = Tool {
    name: "agent007_workflow_start",
    title: "agent007: start a hosted workflow",
    about: "Starts a hosted session of a workflow and answers with the first steps, each with its prompt. Do them, and submit each result \
            with agent007_workflow_submit_step.",
    nature: Nature::Adds,
    schema: schema::<StartArgs>,
    call: |call| Box::pin(start(call)),
};

pub(super) const WORKFLOW_NEXT: Tool = Tool {
    name: "agent007_workflow_next",
    title: "agent007: next steps",
    about: "The steps of a hosted session that are to be done now: new ones, and again those that are open. Can be called any number of times.",
    nature: Nature::Takes,
    schema: schema::<SessionArgs>,
    call: |call| Box::pin(next(call)),
};

pub(super) const WORKFLOW_SUBMIT_STEP: Tool = Tool {
    name: "agent007_workflow_submit_step",
    title: "agent007: submit a step",
    about: "Hands in the output of a step, then answers like agent007_workflow_next. A wrong call is told and harms nothing.",
    nature: Nature::Adds,
    schema: schema::<SubmitArgs>,
    call: |call| Box::pin(submit(call)),
};

pub(super) const WORKFLOW_RESUME: Tool = Tool {
    name: "agent007_workflow_resume",
    title: "agent007: resume a run",
    about: "Lets the engine continue with a run that it drives and that stands still. A hosted session continues with agent007_workflow_next instead.",
    nature: Nature::Takes,
    schema: schema::<SessionArgs>,
    call: |call| Box::pin(resume(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartArgs {
    /// The name of a workflow, as agent007_workflow_list gives it.
    name: String,
    /// What is to be done.
    task: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionArgs {
    /// The session, as agent007_workflow_start gave it.
    session: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitArgs {
    /// The session.
    session: String,
    /// The id of the step.
    step: String,
    /// The whole result.
    output: String,
    /// Tokens that it took, if you know.
    #[serde(default)]
    tokens: Option<u64>,
}

async fn start(mut call: Call) -> Result<Reply, Problem> {
    let StartArgs { name, task } = call.arguments()?;
    started(&call, &name, task).await
}

/// Starts a hosted session and returns its first steps.
pub(super) async fn started(call: &Call, workflow: &str, task: String) -> Result<Reply, Problem> {
    let order = Order { task, ..Order::default() };
    let run = call.state.start(workflow, order, Driver::Client, &call.caller).await?;
    onwards(call, &run).await
}

/// The next steps of a run, as a reply.
pub(super) async fn onwards(call: &Call, run: &RunId) -> Result<Reply, Problem> {
    let handed = call.state.engine().next(run, &call.caller.client).await?;
    view::reply(&call.state, run, &handed.ready).await
}

async fn next(mut call: Call) -> Result<Reply, Problem> {
    let SessionArgs { session } = call.arguments()?;
    let run = call.state.run(&session).await?;
    onwards(&call, &run).await
}

async fn submit(mut call: Call) -> Result<Reply, Problem> {
    let SubmitArgs { session, step, output, tokens } = call.arguments()?;
    let run = call.state.run(&session).await?;
    // The split into input and output tokens, and the cost, are not known.
    let usage = tokens.map(|tokens| Usage { output_tokens: tokens, usd_unknown: true, ..Usage::default() });
    let submission = Submission { output: Json::String(output), usage, ..Submission::default() };
    let handed = call.state.engine().submit(&run, &step, submission, &call.caller.client).await?;
    view::reply(&call.state, &run, &handed.ready).await
}

async fn resume(mut call: Call) -> Result<Reply, Problem> {
    let SessionArgs { session } = call.arguments()?;
    let (run, loaded) = call.state.load(&session).await?;
    if loaded.state.is_hosted() {
        return Err(Problem::new(format!(
            "session {run} is hosted: its steps are yours to do; agent007_workflow_next gives them to you"
        )));
    }
    if loaded.state.is_finished() {
        return Err(Problem::new(format!("session {run} is over; agent007_run_show shows what came of it")));
    }
    call.state.drive(&run);
    view::reply(&call.state, &run, &[]).await
}
