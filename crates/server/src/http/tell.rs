//! Telling a run something.

use axum::http::StatusCode;
use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_runtime::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Call, Reply, path_of};
use super::problem::Problem;

/// It is stored; what comes of it arrives as events.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    run: String,
    told: bool,
}

impl Told {
    pub(super) fn of(run: &RunId) -> Self {
        Self { run: run.to_string(), told: true }
    }
}

/// Stop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    #[serde(default)]
    reason: Option<String>,
}

/// Nothing more to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Start again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    /// From which step; whatever failed, if nothing is said.
    #[serde(default)]
    from: Option<String>,
}

/// A signal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Signal {
    name: String,
    #[serde(default)]
    data: Json,
}

pub(super) async fn cancel(call: Call) -> Result<Reply, Problem> {
    let Cancel { reason } = call.body()?;
    let by = by(&call);
    tell(call, Message::Cancel { reason, by }).await
}

pub(super) async fn pause(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    let by = by(&call);
    tell(call, Message::Pause { by }).await
}

pub(super) async fn unpause(call: Call) -> Result<Reply, Problem> {
    let Nothing {} = call.body()?;
    let by = by(&call);
    tell(call, Message::Unpause { by }).await
}

pub(super) async fn retry(call: Call) -> Result<Reply, Problem> {
    let Retry { from } = call.body()?;
    let from = from.as_deref().map(path_of).transpose()?;
    let by = by(&call);
    tell(call, Message::Retry { from, by }).await
}

pub(super) async fn signal(call: Call) -> Result<Reply, Problem> {
    let Signal { name, data } = call.body()?;
    let by = by(&call);
    tell(call, Message::Signal { name, data, by }).await
}

fn by(call: &Call) -> Option<String> {
    call.caller().by().map(str::to_owned)
}

async fn tell(call: Call, message: Message) -> Result<Reply, Problem> {
    let run = call.run().await?;
    call.desk().engine().tell_as(&run, message, &call.origin()).await?;
    Reply::json_with(StatusCode::ACCEPTED, &Told::of(&run))
}
