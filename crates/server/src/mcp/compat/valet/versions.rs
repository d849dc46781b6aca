//! The versions of a workflow, and rolling back to one.

use longhaul_core::Json;
use longhaul_core::registry::Change;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::workflows::find;
use super::{Action, limit, rows};
use crate::mcp::tool::{Call, Nature, Problem};

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<History>(
        "list_workflow_history",
        "The versions of a workflow, the newest first: hash, text, who, when.",
        Nature::Looks,
        |call| Box::pin(history(call)),
    ),
    Action::new::<Rollback>(
        "rollback_workflow",
        "Makes an earlier version the current one again. Nothing is lost: what was current stays in the history.",
        Nature::Ends,
        |call| Box::pin(rollback(call)),
    )
    .medium()
    .guarded(),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct History {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// At most so many: 50 unless you say, 200 at most.
    #[serde(default)]
    limit: Option<u32>,
    /// How many of the newest are left out.
    #[serde(default)]
    offset: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rollback {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// The hash of the version, as the history gives it; the hash of its text is taken as well.
    target_workflow_hash: String,
    /// What the version is called from now on; the last number is raised otherwise.
    #[serde(default)]
    version: Option<String>,
    /// Why.
    #[serde(default)]
    notes: Option<String>,
}

async fn history(mut call: Call) -> Result<Json, Problem> {
    let args: History = call.arguments()?;
    let shelf = call.state.engine().registry().await?;
    let (name, kept) = find(&shelf, &args.workflow_id)?;
    let newest = kept.versions.iter().enumerate().rev().skip(args.offset.unwrap_or(0) as usize);
    let rows: Vec<Json> =
        newest.take(limit(args.limit, 50, 200)).map(|(at, version)| rows::version(version, at == kept.at)).collect();
    Ok(
        json!({"workflowId": name, "currentWorkflowHash": kept.current().text.hash, "total": kept.versions.len(), "history": rows}),
    )
}

async fn rollback(mut call: Call) -> Result<Json, Problem> {
    let args: Rollback = call.arguments()?;
    let engine = call.state.engine();
    let id = find(&engine.registry().await?, &args.workflow_id)?.0.to_owned();
    let by = Some(call.caller.client.clone());
    let change = Change { version: args.version, notes: args.notes, by, ..Change::default() };
    let moved = engine
        .change_registry(|shelf, _| {
            let entry = shelf.rollback(&id, &args.target_workflow_hash, &change)?;
            Ok((entry.is_some(), entry.into_iter().collect()))
        })
        .await?;
    let shelf = engine.registry().await?;
    let (name, kept) = find(&shelf, &id)?;
    Ok(json!({"alreadyAtVersion": !moved, "workflow": rows::workflow(name, kept)}))
}
