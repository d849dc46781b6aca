//! `longhaul registry proposals`: handles changes to workflows in the registry that wait for a decision.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_core::explain::moment;
use longhaul_core::registry::{Change, EXPIRY_MS, Proposal, Proposing, Registry};
use longhaul_project::Disk;
use longhaul_runtime::Engine;
use serde_json::{Value, json};

use super::versions::{checked, person, short, tell};
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, ui, width};

/// List, add, approve, reject and apply proposed changes to workflows in the registry
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List proposals, newest first
    List {
        /// Only proposals for this workflow
        workflow: Option<String>,
        /// Only proposals in this state: pending, approved, rejected, applied or expired
        #[arg(long)]
        status: Option<String>,
    },
    /// Show what a proposal would change
    Show {
        /// The number of the proposal
        id: u64,
    },
    /// Propose a new text for a workflow
    Add {
        /// The workflow
        workflow: String,
        /// The file with the new text
        file: PathBuf,
        /// The version that the change is based on [default: the current one]
        #[arg(long, value_name = "HASH")]
        base: Option<String>,
        /// A note about the change
        #[arg(long)]
        notes: Option<String>,
    },
    /// Approve a proposal, so that `apply` may make it current
    Approve(Decide),
    /// Reject a proposal
    Reject(Decide),
    /// Make an approved proposal the current version
    Apply(Decide),
}

#[derive(Debug, clap::Args)]
struct Decide {
    /// The number of the proposal
    id: u64,
    /// A note about the decision
    #[arg(long)]
    notes: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        match &args.what {
            What::List { workflow, status } => list(&engine, workflow.as_deref(), status.as_deref(), args.json).await,
            What::Show { id } => show(&engine, *id, args.json).await,
            What::Add { workflow, file, base, notes } => {
                let text = checked(&engine_args::disk(&args.engine)?, workflow, file)?;
                let shelf = engine.registry().await?;
                let base = match base {
                    Some(base) => base.clone(),
                    None => shelf.kept(workflow)?.current().text.hash.clone(),
                };
                let origin = identity::origin();
                let (diff, run, by) = (notes.clone(), origin.inside.first().cloned(), origin.user);
                let expires_at = engine.now_ms().saturating_add(EXPIRY_MS);
                let proposing = Proposing { base, text, diff, run, session: None, by, expires_at };
                let id = engine
                    .change_registry(|shelf, now| {
                        Ok((shelf.seq + 1, vec![shelf.propose(workflow, proposing.clone(), now)?]))
                    })
                    .await?;
                tell(args.json, &json!({"proposal": id}), &format!("proposal {id} waits for a decision"))
            }
            What::Approve(decide) => review(&engine, decide, true, args.json).await,
            What::Reject(decide) => review(&engine, decide, false, args.json).await,
            What::Apply(decide) => apply(&engine, &engine_args::disk(&args.engine)?, decide, args.json).await,
        }
    })
}

async fn list(engine: &Engine, workflow: Option<&str>, status: Option<&str>, json: bool) -> Result<ExitCode> {
    let (shelf, now) = (engine.registry().await?, engine.now_ms());
    let fits = |(_, proposal): &(u64, &Proposal)| {
        workflow.is_none_or(|workflow| proposal.workflow == workflow)
            && status.is_none_or(|status| proposal.status(now).word() == status)
    };
    let found: Vec<(u64, &Proposal)> = shelf.proposals().filter(fits).collect();
    if json {
        ui::print_json(&found.iter().map(|(id, proposal)| row(*id, proposal, now)).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for (id, proposal) in found {
        let (status, proposing) = (proposal.status(now).word(), &proposal.proposing);
        let said = proposing.diff.as_deref().and_then(|diff| diff.lines().next()).unwrap_or_default();
        let line = format!("{id:>5}  {status:<9} {}  on {}  {said}", proposal.workflow, short(&proposing.base));
        ui::print_line(width::seen(&line, 0))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(id: u64, proposal: &Proposal, now: i64) -> Value {
    let proposing = &proposal.proposing;
    json!({
        "id": id, "workflow": proposal.workflow, "status": proposal.status(now), "base": proposing.base, "hash": proposing.text.hash,
        "text": proposing.text.text, "diff": proposing.diff, "run": proposing.run, "by": proposing.by, "at": proposal.at,
        "expires_at": proposing.expires_at, "reviewed_by": proposal.reviewed.as_ref().and_then(|(_, by)| by.clone()), "notes": proposal.notes,
    })
}

async fn show(engine: &Engine, id: u64, json: bool) -> Result<ExitCode> {
    let (shelf, now) = (engine.registry().await?, engine.now_ms());
    let proposal = shelf.proposal(id).with_context(|| unknown(id))?;
    if json {
        ui::print_json(&row(id, proposal, now))?;
        return Ok(ExitCode::SUCCESS);
    }
    let proposing = &proposal.proposing;
    let by = proposing.by.as_deref().unwrap_or("somebody");
    let until = moment(proposing.expires_at / 1000 * 1000);
    ui::say(format!(
        "proposal {id} of {by} for `{}`: {}, until {until}",
        proposal.workflow,
        proposal.status(now).word()
    ));
    let before =
        shelf.workflow(&proposal.workflow).map(|(_, kept)| kept.current().text.text.as_str()).unwrap_or_default();
    let changes = similar::TextDiff::from_lines(before, &proposing.text.text);
    ui::deliver(&changes.unified_diff().header("current", "proposed").to_string(), None)?;
    Ok(ExitCode::SUCCESS)
}

async fn review(engine: &Engine, decide: &Decide, approve: bool, json: bool) -> Result<ExitCode> {
    let change = Change { by: person("decide about proposals")?, notes: decide.notes.clone(), ..Change::default() };
    let workflow = workflow_of(&engine.registry().await?, decide.id)?;
    let id = decide.id;
    engine
        .change_registry(|shelf, now| Ok(((), vec![shelf.review(&workflow, id, approve, &change, &[], now)?])))
        .await?;
    let (word, next) = if approve {
        ("approved", format!("; apply it with: longhaul registry proposals apply {id}"))
    } else {
        ("rejected", String::new())
    };
    tell(json, &json!({"proposal": id, "status": word}), &format!("proposal {id} is {word}{next}"))
}

async fn apply(engine: &Engine, disk: &Disk, decide: &Decide, json: bool) -> Result<ExitCode> {
    let change = Change { by: person("apply proposals")?, notes: decide.notes.clone(), ..Change::default() };
    let shelf = engine.registry().await?;
    let (id, workflow) = (decide.id, workflow_of(&shelf, decide.id)?);
    let text = shelf.proposal(id).map(|proposal| proposal.proposing.text.clone()).with_context(|| unknown(id))?;
    // A text that was right when it was proposed may be wrong now, so it is checked again.
    disk.shelve(&workflow, &text.text).map_err(anyhow::Error::msg)?;
    engine.change_registry(|shelf, now| Ok(((), vec![shelf.apply_proposal(&workflow, id, &change, now)?]))).await?;
    tell(
        json,
        &json!({"proposal": id, "status": "applied", "workflow": workflow, "hash": text.hash}),
        &format!("`{workflow}` is at {} now", text.hash),
    )
}

fn workflow_of(shelf: &Registry, id: u64) -> Result<String> {
    match shelf.proposal(id) {
        Some(proposal) => Ok(proposal.workflow.clone()),
        None => bail!("{}", unknown(id)),
    }
}

fn unknown(id: u64) -> String {
    format!("there is no proposal {id}; longhaul registry proposals list shows all")
}
