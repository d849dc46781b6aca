//! Sends commands to a run.

use axum::http::StatusCode;
use longhaul_app::{CommandOutcome, RunCommand};
use longhaul_core::Json;
use longhaul_core::event::BudgetChange;
use longhaul_core::origin::Caller;
use longhaul_runtime::Follow;
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Reply, path_of};
use super::problem::Problem;

/// Cancels a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    #[serde(default)]
    reason: Option<String>,
}

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Starts a run again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    /// The first step to run again. Without it, the steps that failed.
    #[serde(default)]
    from: Option<String>,
}

/// Sends a signal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Signal {
    name: String,
    #[serde(default)]
    data: Json,
}

/// Tells the agent of a step something.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tell {
    /// The step: its path, or its id if only one such step is open.
    step: String,
    /// The text for the agent.
    text: String,
}

/// Changes limits of a run. Each is `{"to": N}`, the new limit, or `{"by": N}`, added to the limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Budget(BudgetChange);

pub(super) async fn tell(call: Call) -> Result<Reply, Problem> {
    let Tell { step, text } = call.body()?;
    command(&call, RunCommand::Tell { step, text }, call.caller()).await
}

pub(super) async fn budget(call: Call) -> Result<Reply, Problem> {
    let Budget(change) = call.body()?;
    command(&call, RunCommand::Budget(change), call.caller()).await
}

pub(super) async fn cancel(call: Call) -> Result<Reply, Problem> {
    let Cancel { reason } = call.body()?;
    command(&call, RunCommand::Cancel { reason }, call.caller()).await
}

pub(super) async fn pause(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    command(&call, RunCommand::Pause, call.caller()).await
}

pub(super) async fn unpause(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    command(&call, RunCommand::Unpause, call.caller()).await
}

pub(super) async fn stop(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    command(&call, RunCommand::Stop, call.caller()).await
}

pub(super) async fn resume(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    command(&call, RunCommand::Resume, call.caller()).await
}

pub(super) async fn retry(call: Call) -> Result<Reply, Problem> {
    let Retry { from } = call.body()?;
    let from = from.as_deref().map(path_of).transpose()?;
    command(&call, RunCommand::Retry { from }, call.caller()).await
}

pub(super) async fn signal(call: Call) -> Result<Reply, Problem> {
    let Signal { name, data } = call.body()?;
    command(&call, RunCommand::Signal { name, data }, call.caller()).await
}

/// Carries out a command, and replies with its outcome. The status is 202 if no engine has applied it yet.
pub(super) async fn command(call: &Call, command: RunCommand, caller: Caller) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let applied = call.state().app().command(&run, command, &caller).await?;
    let status = if applied.then == Follow::Stored { StatusCode::ACCEPTED } else { StatusCode::OK };
    Reply::json_with(status, &CommandOutcome::of(&applied))
}
