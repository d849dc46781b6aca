//! Shows a session: `workflow_status`, `workflow_get_output`; and takes a sign of life: `workflow_heartbeat`.

use longhaul_core::view as fold;
use longhaul_runtime::Heartbeat;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::{step_name, told};
use super::view;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const WORKFLOW_STATUS: Tool = Tool {
    name: "agent007_workflow_status",
    title: "agent007: status of a session",
    about: "How a session stands. Takes and changes nothing: steps that somebody has are running_steps, ready_steps is empty.",
    nature: Nature::Looks,
    schema: schema::<StatusArgs>,
    call: |call| Box::pin(status(call)),
};

pub(super) const WORKFLOW_GET_OUTPUT: Tool = Tool {
    name: "agent007_workflow_get_output",
    title: "agent007: get an output",
    about: "One output of a session, whole, by its key.",
    nature: Nature::Looks,
    schema: schema::<OutputArgs>,
    call: |call| Box::pin(output(call)),
};

pub(super) const WORKFLOW_HEARTBEAT: Tool = Tool {
    name: "agent007_workflow_heartbeat",
    title: "agent007: heartbeat",
    about: "Says that a step is still worked on: every 3 to 5 minutes while it takes long.",
    nature: Nature::Takes,
    schema: schema::<HeartbeatArgs>,
    call: |call| Box::pin(heartbeat(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatusArgs {
    /// The session.
    session: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputArgs {
    /// The session.
    session: String,
    /// The key of the output.
    key: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HeartbeatArgs {
    /// The session.
    session: String,
    /// The id of the step.
    step: String,
    /// What you are at, in a few words.
    #[serde(default)]
    hint: Option<String>,
}

async fn status(mut call: Call) -> Result<Reply, Problem> {
    let StatusArgs { session } = call.arguments()?;
    let run = call.state.run(&session).await?;
    view::reply(&call.state, &run, &[]).await
}

async fn output(mut call: Call) -> Result<Reply, Problem> {
    let OutputArgs { session, key } = call.arguments()?;
    let (run, loaded) = call.state.load(&session).await?;
    let known = fold::outputs(&loaded.plan.0, &loaded.state);
    let value = loaded.state.top_names().get(&key).filter(|_| known.contains(&key)).cloned();
    let Some(value) = value else {
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        return Err(Problem::new(format!("session {run} has no output '{key}'; available keys: {known}")));
    };
    let text = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
    Ok(Reply::Done(text, json!({"session": run, "key": key, "output": value})))
}

async fn heartbeat(mut call: Call) -> Result<Reply, Problem> {
    let HeartbeatArgs { session, step, hint } = call.arguments()?;
    let run = call.state.run(&session).await?;
    let sign = Heartbeat { hint, attempt: None };
    let held = call.state.engine().heartbeat(&run, &step, sign, &call.caller.client).await?;
    Ok(told(json!({
        "session": run, "step": step_name(&held.path), "hint": held.hint, "status": "recorded", "claimed_until": held.until,
    })))
}
