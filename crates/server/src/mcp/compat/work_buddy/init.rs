//! `wb_init`, the first call of a client.
//!
//! **Invariant:** the registration of a client is on disk before the client gets the answer, so a restarted server
//! knows it, too.

use std::path::PathBuf;

use longhaul_agents::private;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::told;
use super::{cancel, look};
use crate::mcp::arguments::{self, schema};
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "wb_init",
    title: "work-buddy: register this session",
    about: "Registers your session. Call it first: the other wb_ tools refuse until then.",
    nature: Nature::Takes,
    schema: schema::<Args>,
    call: |call| Box::pin(tool(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of your session.
    session_id: String,
    /// The program that you run in.
    #[serde(default)]
    harness_id: Option<String>,
    /// Its version.
    #[serde(default)]
    harness_version: Option<String>,
    /// The folder that you work in.
    #[serde(default)]
    workspace: Option<String>,
}

/// The stored data of a session.
#[derive(Serialize, Deserialize)]
struct Session {
    client: String,
    session_id: String,
}

async fn tool(mut call: Call) -> Result<Reply, Problem> {
    let arguments = std::mem::take(&mut call.arguments);
    registered(&call, arguments).await
}

/// Registers a session, and cancels runs without activity for a long time.
pub(super) async fn registered(call: &Call, arguments: rmcp::model::JsonObject) -> Result<Reply, Problem> {
    let args: Args = arguments::read(arguments)?;
    if args.session_id.trim().is_empty() {
        return Err(Problem::new("`session_id` is blank; give the id of your session"));
    }
    let session = Session { client: call.caller.client.clone(), session_id: args.session_id };
    keep(call, &session).map_err(|error| Problem::new(format!("the session cannot be kept: {error}")))?;
    let swept = cancel::sweep(call).await?;
    Ok(told(json!({
        "type": "session", "status": "ok", "session_id": session.session_id, "harness_id": args.harness_id,
        "harness_version": args.harness_version, "workspace": args.workspace,
        "active_workflows": look::active(call).await?, "swept": swept,
    })))
}

/// Rejects a client that has not registered.
pub(super) fn required(call: &Call) -> Result<(), Problem> {
    let session = std::fs::read(file(call)).ok().and_then(|bytes| serde_json::from_slice::<Session>(&bytes).ok());
    match session {
        Some(session) if session.client == call.caller.client => Ok(()),
        _ => Err(Problem::new("this session is not registered; call wb_init with your session_id first")),
    }
}

fn keep(call: &Call, session: &Session) -> std::io::Result<()> {
    let file = file(call);
    private::create_dir_all(file.parent().unwrap_or(&file))?;
    private::replace(&file, &serde_json::to_vec(session)?)
}

/// The file of a client. Each client has its own, so none overwrites the data of another.
fn file(call: &Call) -> PathBuf {
    let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
    let name: String = call.caller.client.chars().map(plain).collect();
    call.state.data_dir().join("work-buddy").join(format!("{name}.json"))
}
