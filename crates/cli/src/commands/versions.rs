//! `longhaul registry push`, `list`, `versions` and `rollback`: stores workflows in the registry and keeps every
//! version.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_core::explain::moment;
use longhaul_core::registry::{Change, RegisteredWorkflow, Version, VersionSource, WorkflowText};
use longhaul_project::disk::{Disk, text_of};
use serde_json::{Value, json};

use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, rejected, ui, width};

/// Store a workflow in the registry, or a new version of it
///
/// The registry keeps every version. `longhaul run NAME` finds the workflow by its name, after the files of the project. A file with
/// errors is refused.
#[derive(Debug, clap::Args)]
pub(crate) struct ShelveArgs {
    /// The file to store
    file: PathBuf,
    /// The name in the registry [default: the name of the file]
    #[arg(long)]
    name: Option<String>,
    /// Refuse unless this is the current version
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    /// A note about this version
    #[arg(long)]
    notes: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// List the workflows in the registry, each with its current version
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// List the versions of a workflow in the registry, or print one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The workflow
    name: String,
    /// Print the text of this version, or of the current one if you give no hash
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "")]
    text: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// List versions, or workflows without a name: two commands in one, as it used to be
#[derive(Debug, clap::Args)]
pub(crate) struct OldArgs {
    name: Option<String>,
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "", requires = "name")]
    text: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    #[arg(long)]
    json: bool,
}

impl OldArgs {
    /// The arguments of the new command: `versions` with a name, else `list`.
    pub(super) fn split(self) -> Result<Args, ListArgs> {
        let Self { name, text, engine, json } = self;
        match name {
            Some(name) => Ok(Args { name, text, engine, json }),
            None => Err(ListArgs { engine, json }),
        }
    }
}

/// Make an earlier version of a workflow in the registry the current one
///
/// No version is lost. The version that was current stays in the list.
#[derive(Debug, clap::Args)]
pub(crate) struct RollbackArgs {
    /// The workflow
    name: String,
    /// The hash of the version, or its first characters
    hash: String,
    /// A note about the reason
    #[arg(long)]
    notes: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(crate) fn shelve(args: &ShelveArgs) -> Result<ExitCode> {
    let by = person("change workflows")?;
    let stem = args.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = args.name.clone().or(stem).context("the file has no name")?;
    let text = checked(&engine_args::disk(&args.engine)?, &name, &args.file)?;
    let hash = text.hash.clone();
    let (base, notes) = (args.base.clone(), args.notes.clone());
    let change = Change { text: Some(text), base, notes, by, source: VersionSource::Sync, ..Change::default() };
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let changed = engine
            .change_registry(|shelf, _| {
                let entries = shelf.save(&name, &change)?;
                Ok((!entries.is_empty(), entries))
            })
            .await?;
        let said = if changed { "is in the registry" } else { "was in the registry already" };
        tell(
            args.json,
            &json!({"workflow": name, "hash": hash, "changed": changed}),
            &format!("`{name}` {said}: {hash}"),
        )
    })
}

/// The text of a file that has no errors.
pub(super) fn checked(disk: &Disk, name: &str, file: &Path) -> Result<WorkflowText> {
    let text = text_of(file)?;
    disk.shelve(name, &text).map_err(anyhow::Error::msg)
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let (shelf, name) = (engine.registry().await?, &args.name);
        let Some((_, kept)) = shelf.workflow(name) else {
            let refusal = shelf.kept(name).err().map(|rejection| rejected::words(&rejection));
            bail!("{}", refusal.unwrap_or_default());
        };
        if let Some(hash) = &args.text {
            let version = if hash.is_empty() { Some(kept.current()) } else { kept.find(hash) };
            let version = version.with_context(|| format!("`{name}` has no version {hash}"))?;
            ui::deliver(&version.text.text, None)?;
            return Ok(ExitCode::SUCCESS);
        }
        list(kept, args.json)
    })
}

pub(crate) fn list_all(args: &ListArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let shelf = engine.registry().await?;
        print_all(&shelf.workflows().collect::<Vec<_>>(), args.json)
    })
}

fn print_all(all: &[(&str, &RegisteredWorkflow)], json: bool) -> Result<ExitCode> {
    if json {
        let row = |(name, kept): &(&str, &RegisteredWorkflow)| json!({"workflow": name, "hash": kept.current().text.hash, "version": kept.version, "versions": kept.versions.len()});
        ui::print_json(&all.iter().map(row).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for (name, kept) in all {
        let versions = ui::count(kept.versions.len(), "version");
        ui::print_line(format!(
            "{}  {}  {}, {versions}",
            ui::bold(name),
            short(&kept.current().text.hash),
            kept.version
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(kept: &RegisteredWorkflow, json: bool) -> Result<ExitCode> {
    let newest = || kept.versions.iter().enumerate().rev();
    if json {
        let rows: Vec<Value> = newest().map(|(at, version)| row(version, at == kept.at)).collect();
        ui::print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (at, version) in newest() {
        let mark = if at == kept.at { "*" } else { " " };
        let by = version.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        let notes = version.notes.as_ref().map_or_else(String::new, |notes| format!(": {notes}"));
        let when = moment(version.at / 1000 * 1000);
        let hash = short(&version.text.hash);
        let line = format!("{mark} {hash}  {:<8}  {when}  {}{by}{notes}", version.version, version.source.word());
        ui::print_line(width::seen(&line, 0))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(version: &Version, current: bool) -> Value {
    json!({
        "hash": version.text.hash, "text_hash": version.text.raw, "version": version.version, "source": version.source, "by": version.by,
        "at": version.at, "notes": version.notes, "current": current, "text": version.text.text,
    })
}

pub(crate) fn rollback(args: &RollbackArgs) -> Result<ExitCode> {
    let change = Change { by: person("change workflows")?, notes: args.notes.clone(), ..Change::default() };
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let moved = engine
            .change_registry(|shelf, _| {
                let entry = shelf.rollback(&args.name, &args.hash, &change)?;
                Ok((entry.is_some(), entry.into_iter().collect()))
            })
            .await?;
        let shelf = engine.registry().await?;
        let hash = shelf.workflow(&args.name).map(|(_, kept)| kept.current().text.hash.clone()).unwrap_or_default();
        let said = if moved { "is back at" } else { "was already at" };
        tell(
            args.json,
            &json!({"workflow": args.name, "hash": hash, "changed": moved}),
            &format!("`{}` {said} {hash}", args.name),
        )
    })
}

/// The user of this process; an error if a step of a run started it.
pub(super) fn person(what: &str) -> Result<Option<String>> {
    let origin = identity::origin();
    match origin.inside.first() {
        Some(run) => bail!("a step of {run} may not {what}; let a person do it outside of the run"),
        None => Ok(origin.user),
    }
}

/// The first characters of a hash, enough to type.
pub(super) fn short(hash: &str) -> String {
    hash.trim_start_matches("sha256:").chars().take(12).collect()
}

pub(super) fn tell(json: bool, value: &Value, text: &str) -> Result<ExitCode> {
    if json {
        ui::print_json(value)?;
    } else {
        ui::say(text);
    }
    Ok(ExitCode::SUCCESS)
}
