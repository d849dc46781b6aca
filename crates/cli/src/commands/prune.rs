//! `longhaul prune`: deletes old runs. `longhaul import`: restores one. `longhaul export`: prints a run as one
//! document.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_core::duration::parse_ms;
use longhaul_core::id::RunId;
use longhaul_runtime::Engine;
use serde_json::json;

use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, ui};

/// Delete old finished runs and their files
///
/// Without --yes it only lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only runs that ended at least this long ago
    #[arg(long, default_value = "30d", value_name = "DURATION")]
    older: String,
    /// Always keep the newest N runs
    #[arg(long, default_value_t = 0, value_name = "N")]
    keep: usize,
    /// First write each run to a file in this folder; `longhaul import` brings it back
    #[arg(long, value_name = "FOLDER")]
    archive: Option<PathBuf>,
    /// Delete them
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let age_ms = parse_ms(&args.older).with_context(|| format!("`{}` is not a duration such as 30d", args.older))?;
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let rows = engine.old_runs(Duration::from_millis(age_ms), args.keep).await?;
        if args.yes {
            for row in &rows {
                engine.put_away(&row.run, args.archive.as_deref()).await?;
            }
        }
        let runs: Vec<&str> = rows.iter().map(|row| row.run.as_str()).collect();
        if args.json {
            let mut said = json!({"runs": runs, "removed": args.yes});
            if let Some(folder) = &args.archive {
                said["archive"] = json!(folder);
            }
            ui::print_json(&said)?;
            return Ok(ExitCode::SUCCESS);
        }
        for row in &rows {
            ui::print_line(format!("{}  {:<10} {}", row.run, row.head.status, row.head.workflow))?;
        }
        let count = ui::count(rows.len(), "run");
        ui::say(match (&args.archive, args.yes) {
            (Some(folder), true) => {
                format!("{count} removed; longhaul import brings one back from {}", folder.display())
            }
            (None, true) => format!("{count} removed"),
            (_, false) => format!("{count} would be deleted; add --yes to delete them"),
        });
        Ok(ExitCode::SUCCESS)
    })
}

/// Print a run as one JSON document: its plan, its events, its outputs
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The id of the run, or its first characters
    run: String,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON (the output is always JSON)
    #[arg(long)]
    json: bool,
}

pub(crate) fn export(args: &ExportArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let loaded = match engine.load(&run).await {
            Err(error) if error.is_damage() => return export_damaged(&engine, &run).await,
            loaded => loaded?,
        };
        let state = &loaded.state;
        let last = usize::try_from(state.seq).unwrap_or(usize::MAX);
        let events = engine.events(&run, 0, last).await?;
        ui::print_json(&json!({
            "run": run, "status": state.status_in(&loaded.plan.0), "workflow": loaded.plan.0.main().name,
            "started_at": state.started_at, "ended_at": state.finished.as_ref().map(|finished| finished.at),
            "outputs": state.finished.as_ref().map(|finished| &finished.outputs),
            "plan": loaded.plan.0, "events": events,
        }))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Exports the readable part of a run whose history is damaged.
async fn export_damaged(engine: &Engine, run: &RunId) -> Result<ExitCode> {
    let row = engine.row(run).await?.context("the run is gone")?;
    let readable = engine.readable(run).await?;
    let damage = readable.damage.map(|damage| damage.to_string());
    ui::say(format!("{run} cannot be read to its end; these are {} of {} events", readable.events.len(), row.last_seq));
    ui::print_json(&json!({
        "run": run, "status": row.head.status, "workflow": row.head.workflow, "damage": damage, "last_seq": row.last_seq,
        "events": readable.events,
    }))?;
    Ok(ExitCode::FAILURE)
}

/// Restore runs from files that `longhaul prune --archive` wrote
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Refuse a run that is larger than this when unpacked [default: a hundred times its file, at least 1024]
    #[arg(long, value_name = "MIB")]
    max_mib: Option<u64>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let by = identity::caller().who.name().map(str::to_owned);
        let (mut runs, mut refused) = (Vec::new(), Vec::new());
        for file in &args.files {
            match engine.import(file, args.max_mib.map(|mib| mib << 20), by.clone()).await {
                Ok(run) => {
                    if !args.json {
                        ui::say(format!("{run} is back; longhaul status {run} shows it"));
                    }
                    runs.push(run);
                }
                // The other files are still imported.
                Err(error) => {
                    ui::say(format!("{}: not imported: {error}", file.display()));
                    refused.push(json!({"file": file, "why": error.to_string()}));
                }
            }
        }
        if args.json {
            let mut page = json!({ "runs": runs });
            if !refused.is_empty() {
                page["refused"] = json!(refused);
            }
            ui::print_json(&page)?;
        }
        if !refused.is_empty() {
            return Ok(ExitCode::from(2));
        }
        Ok(ExitCode::SUCCESS)
    })
}
