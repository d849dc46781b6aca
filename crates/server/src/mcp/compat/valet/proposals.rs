//! Proposals: create, list, decide, apply.

use longhaul_core::Json;
use longhaul_core::registry::{Change, EXPIRY_MS, Proposing, Registry, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::workflows::{checked, find};
use super::{Action, limit, rows};
use crate::mcp::tool::{Call, Nature, Problem};

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<Create>(
        "create_workflow_proposal",
        "Proposes another definition of a workflow, based on the current one. Nothing changes until somebody approves and applies it.",
        Nature::Adds,
        |call| Box::pin(create(call)),
    ),
    Action::new::<List>(
        "list_workflow_proposals",
        "The proposals for a workflow, the newest first.",
        Nature::Looks,
        |call| Box::pin(list(call)),
    ),
    Action::new::<Review>(
        "review_workflow_proposal",
        "Approves or rejects a pending proposal. Whoever proposed it cannot approve it.",
        Nature::Ends,
        |call| Box::pin(review(call)),
    )
    .guarded(),
    Action::new::<Apply>(
        "apply_workflow_proposal",
        "Makes an approved proposal the current version, if the workflow is still what it was based on.",
        Nature::Ends,
        |call| Box::pin(apply(call)),
    )
    .guarded(),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Create {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// The hash of the current version; the hash of its text is taken as well.
    base_workflow_hash: String,
    /// The whole new definition, as JSON text.
    proposal_json: Json,
    /// The run that it comes from.
    #[serde(default)]
    execution_id: Option<String>,
    /// The session that it comes from.
    #[serde(default)]
    proposed_by_session_id: Option<String>,
    /// What changes, in words or as a diff.
    #[serde(default)]
    diff_text: Option<String>,
    /// When it cannot be applied any more, as `2026-12-24T18:00:00Z`; in 14 days unless you say.
    #[serde(default)]
    expires_at: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// Only these: pending, approved, rejected, applied or expired.
    #[serde(default)]
    status: Option<String>,
    /// At most so many: 50 unless you say, 200 at most.
    #[serde(default)]
    limit: Option<u32>,
    /// How many of the newest are left out.
    #[serde(default)]
    offset: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Review {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// The id of the proposal.
    proposal_id: String,
    /// Whether it may be applied.
    approve: bool,
    /// Why.
    #[serde(default)]
    notes: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Apply {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// The id of the proposal.
    proposal_id: String,
    /// What there is to say about it.
    #[serde(default)]
    review_notes: Option<String>,
    /// What the new version is called; the last number is raised otherwise.
    #[serde(default)]
    version: Option<String>,
}

async fn create(mut call: Call) -> Result<Json, Problem> {
    let args: Create = call.arguments()?;
    let engine = call.state.engine();
    let workflow = find(&engine.registry().await?, &args.workflow_id)?.0.to_owned();
    let text = checked(&call.state, &workflow, &args.proposal_json).await?;
    let who = &call.caller.who;
    let run = args.execution_id.or_else(|| who.inside.first().cloned());
    let proposing = Proposing {
        base: args.base_workflow_hash,
        text,
        diff: args.diff_text,
        run,
        session: args.proposed_by_session_id,
        by: Some(call.caller.client.clone()),
        expires_at: expiry(args.expires_at.as_deref(), engine.now_ms())?,
    };
    let id = engine
        .change_registry(|shelf, now| Ok((shelf.seq + 1, vec![shelf.propose(&workflow, proposing.clone(), now)?])))
        .await?;
    shown(&call, id).await
}

fn expiry(given: Option<&str>, now: i64) -> Result<i64, Problem> {
    let Some(text) = given else { return Ok(now.saturating_add(EXPIRY_MS)) };
    longhaul_core::registry::schedule::at(text)
        .ok_or_else(|| Problem::new(format!("`expires_at` is `{text}`; write it as `2026-12-24T18:00:00Z`")))
}

async fn list(mut call: Call) -> Result<Json, Problem> {
    let args: List = call.arguments()?;
    let known = Status::ALL.map(|status| status.word().to_owned());
    if let Some(unknown) = args.status.as_ref().filter(|status| !known.contains(status)) {
        return Err(Problem::unknown("status", unknown, &known));
    }
    let (engine, now) = (call.state.engine(), call.state.engine().now_ms());
    let shelf = engine.registry().await?;
    let (name, _) = find(&shelf, &args.workflow_id)?;
    let wanted = args.status.as_deref();
    let rows: Vec<Json> = shelf
        .proposals()
        .filter(|(_, proposal)| proposal.workflow == name)
        .filter(|(_, proposal)| wanted.is_none_or(|wanted| proposal.status(now).word() == wanted))
        .skip(args.offset.unwrap_or(0) as usize)
        .take(limit(args.limit, 50, 200))
        .map(|(id, proposal)| rows::proposal(id, proposal, now))
        .collect();
    Ok(json!({"proposals": rows}))
}

async fn review(mut call: Call) -> Result<Json, Problem> {
    let args: Review = call.arguments()?;
    let engine = call.state.engine();
    let (workflow, id) = named(&engine.registry().await?, &args.workflow_id, &args.proposal_id)?;
    let change = Change { by: Some(call.caller.client.clone()), notes: args.notes, ..Change::default() };
    let who = &call.caller.who;
    let from: Vec<String> = who.inside.iter().chain(&who.session).cloned().collect();
    engine
        .change_registry(|shelf, now| Ok(((), vec![shelf.review(&workflow, id, args.approve, &change, &from, now)?])))
        .await?;
    shown(&call, id).await
}

async fn apply(mut call: Call) -> Result<Json, Problem> {
    let args: Apply = call.arguments()?;
    let engine = call.state.engine();
    let shelf = engine.registry().await?;
    let (workflow, id) = named(&shelf, &args.workflow_id, &args.proposal_id)?;
    // A proposal that was valid may be invalid by now: other workflows that it uses may be gone.
    if let Some(proposal) = shelf.proposal(id) {
        checked(&call.state, &workflow, &Json::String(proposal.proposing.text.text.clone())).await?;
    }
    let by = Some(call.caller.client.clone());
    let change = Change { by, notes: args.review_notes, version: args.version, ..Change::default() };
    engine.change_registry(|shelf, now| Ok(((), vec![shelf.apply_proposal(&workflow, id, &change, now)?]))).await?;
    let shelf = engine.registry().await?;
    let (name, kept) = find(&shelf, &workflow)?;
    let mut data = shown(&call, id).await?;
    data["workflow"] = rows::workflow(name, kept);
    Ok(data)
}

fn named(shelf: &Registry, workflow: &str, proposal: &str) -> Result<(String, u64), Problem> {
    let (name, _) = find(shelf, workflow)?;
    let known: Vec<String> =
        shelf.proposals().filter(|(_, proposal)| proposal.workflow == name).map(|(id, _)| id.to_string()).collect();
    let id = proposal.parse().ok().filter(|_| known.iter().any(|id| id == proposal));
    id.map(|id| (name.to_owned(), id)).ok_or_else(|| Problem::unknown("proposal", proposal, &known))
}

async fn shown(call: &Call, id: u64) -> Result<Json, Problem> {
    let engine = call.state.engine();
    let shelf = engine.registry().await?;
    let row = shelf.proposal(id).map(|proposal| rows::proposal(id, proposal, engine.now_ms()));
    Ok(json!({"proposal": row}))
}
