//! `longhaul shelve`, `versions` and `rollback`: workflows that the store keeps, and every text that they had.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_core::explain::moment;
use longhaul_core::shelf::{Change, Kept, Source, Text, Version};
use longhaul_project::disk::{Disk, text_of};
use serde_json::{Value, json};

use crate::office::{self, AgentArgs, EngineArgs};
use crate::{identity, rejected, ui, width};

/// Put a workflow on the shelf, or a new version of it
///
/// The store keeps it with every version that it had. It is found by its name like a file, after those of the project. What has
/// errors is not kept.
#[derive(Debug, clap::Args)]
pub(crate) struct ShelveArgs {
    /// The file
    file: PathBuf,
    /// What it is called there [default: the name of the file]
    #[arg(long)]
    name: Option<String>,
    /// Only if this is the version that is current
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    /// What there is to say about this version
    #[arg(long)]
    notes: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// List the versions of a workflow on the shelf
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name; every workflow of the shelf is listed without one
    name: Option<String>,
    /// Print what a version says: this one, or the current one
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "", requires = "name")]
    text: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Make an earlier version of a workflow on the shelf the current one
///
/// Nothing is lost: what was current stays among the versions.
#[derive(Debug, clap::Args)]
pub(crate) struct RollbackArgs {
    /// The workflow
    name: String,
    /// The version, by its hash or the beginning of it
    hash: String,
    /// Why
    #[arg(long)]
    notes: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn shelve(args: &ShelveArgs) -> Result<ExitCode> {
    let by = person("change workflows")?;
    let stem = args.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = args.name.clone().or(stem).context("the file has no name")?;
    let text = checked(&office::disk(&args.engine)?, &name, &args.file)?;
    let hash = text.hash.clone();
    let (base, notes) = (args.base.clone(), args.notes.clone());
    let change = Change { text: Some(text), base, notes, by, source: Source::Sync, ..Change::default() };
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let changed = engine
            .change_shelf(|shelf, _| {
                let entries = shelf.save(&name, &change)?;
                Ok((!entries.is_empty(), entries))
            })
            .await?;
        let said = if changed { "is on the shelf" } else { "was on the shelf already" };
        tell(
            args.json,
            &json!({"workflow": name, "hash": hash, "changed": changed}),
            &format!("`{name}` {said}: {hash}"),
        )
    })
}

/// The text of a file that has no errors.
pub(super) fn checked(disk: &Disk, name: &str, file: &Path) -> Result<Text> {
    let text = text_of(file)?;
    disk.shelve(name, &text).map_err(anyhow::Error::msg)
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let shelf = engine.shelf().await?;
        let Some(name) = &args.name else {
            let all: Vec<(&str, &Kept)> = shelf.workflows().collect();
            return list_all(&all, args.json);
        };
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

fn list_all(all: &[(&str, &Kept)], json: bool) -> Result<ExitCode> {
    if json {
        let row = |(name, kept): &(&str, &Kept)| json!({"workflow": name, "hash": kept.current().text.hash, "version": kept.version, "versions": kept.versions.len()});
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

fn list(kept: &Kept, json: bool) -> Result<ExitCode> {
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
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let moved = engine
            .change_shelf(|shelf, _| {
                let entry = shelf.rollback(&args.name, &args.hash, &change)?;
                Ok((entry.is_some(), entry.into_iter().collect()))
            })
            .await?;
        let shelf = engine.shelf().await?;
        let hash = shelf.workflow(&args.name).map(|(_, kept)| kept.current().text.hash.clone()).unwrap_or_default();
        let said = if moved { "is back at" } else { "was already at" };
        tell(
            args.json,
            &json!({"workflow": args.name, "hash": hash, "changed": moved}),
            &format!("`{}` {said} {hash}", args.name),
        )
    })
}

/// The user here, unless they are a step of a run.
pub(super) fn person(what: &str) -> Result<Option<String>> {
    let origin = identity::origin();
    match origin.inside.first() {
        Some(run) => bail!("a step of {run} may not {what}; let a person do it outside of the run"),
        None => Ok(origin.user),
    }
}

/// The beginning of a hash, long enough to type.
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
