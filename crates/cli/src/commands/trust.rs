//! `longhaul trust`: lets the agent settings of a checkout take effect.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use longhaul_config::trust::sensitive_files;
use longhaul_project::{Project, disk, trusted};
use serde_json::json;

use crate::ui;

/// Trust this project's agent settings, hooks and servers
///
/// A checkout can bring settings that run programs (`.claude/settings.json`, `.mcp.json`,
/// `.codex`, `.longhaul/config.toml`, …). Longhaul ignores them until you have read and trusted them. Trust is for this
/// folder and this content, with the project scripts that the settings name. Any change ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only show the settings and whether they are trusted
    #[arg(long)]
    show: bool,
    /// Revoke the trust
    #[arg(long, conflicts_with = "show")]
    revoke: bool,
    /// Use the project in this folder although another user owns it; with --revoke, stop using it
    #[arg(long, value_name = "FOLDER", conflicts_with = "show")]
    folder: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(folder) = &args.folder {
        return allow(folder, args);
    }
    let project = Project::current()?;
    if args.revoke {
        trusted::forget(&project, &project.root)?;
    }
    let told = sensitive_files(&project.root).map_err(|why| anyhow!("{}: {why}", project.root.display()))?;
    if let (false, false, Some(told)) = (args.show, args.revoke, &told) {
        trusted::add(&project, &told.hash, &project.root)?;
    }
    let hash = told.as_ref().map(|told| &told.hash);
    let is_trusted = hash.is_some_and(|hash| trusted::hashes(&project).contains(hash));
    let files: Vec<String> = told.iter().flat_map(|told| &told.files).map(|file| disk::shown(file)).collect();
    if args.json {
        ui::print_json(&json!({"files": files, "hash": hash, "trusted": is_trusted}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for file in &files {
        ui::print_line(file)?;
    }
    ui::say(match (files.is_empty(), is_trusted) {
        (false, false) if !trusted::is_needed(&project) => "nothing in it needs to be trusted".to_owned(),
        (true, _) => "nothing here tells agents what to do".to_owned(),
        (false, true) => "trusted, as long as these files stay as they are".to_owned(),
        (false, false) => "not trusted: agents are started without it; `longhaul trust` changes that".to_owned(),
    });
    Ok(ExitCode::SUCCESS)
}

fn allow(folder: &Path, args: &Args) -> Result<ExitCode> {
    longhaul_project::allow(folder, !args.revoke)?;
    if args.json {
        ui::print_json(&json!({"folder": folder, "allowed": !args.revoke}))?;
    } else {
        let word = if args.revoke { "is refused again if another user owns it" } else { "is used, with any owner" };
        ui::say(format!("the project in {} {word}", folder.display()));
    }
    Ok(ExitCode::SUCCESS)
}
