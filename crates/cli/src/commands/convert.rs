//! `longhaul convert`: prints a workflow of any dialect as native text.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use longhaul_lang::dialect::Dialect;
use longhaul_lang::source::{Sources, emit};
use longhaul_lang::{CheckReport, format};
use longhaul_project::disk::Disk;
use serde_json::json;

use super::DialectArg;
use crate::ui;

/// Convert a workflow of another system to Longhaul's own format
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A name or a path
    file: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArg,
    /// Print name, dialect and text as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current(longhaul_runtime::registry_of)?;
    let entry = disk.find(&args.file)?;
    let report = disk.check(&entry, args.dialect.dialect)?;
    if report.has_errors() {
        return super::refuse(&report);
    }
    let texts = native_texts(&report, &disk.text(&entry)?);
    super::tell_findings(&report);
    if args.json {
        let workflows: Vec<_> = texts.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
        ui::print_json(&json!({"file": args.file, "dialect": report.dialect.name(), "workflows": workflows}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("---\n");
    ui::deliver(&text, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Native files are formatted with their comments; others are printed from their native tree.
fn native_texts(report: &CheckReport, text: &str) -> Vec<(String, String)> {
    if report.dialect == Dialect::Native {
        let mut sources = Sources::default();
        let file = sources.add("", text);
        let formatted = format::format(&sources, file, &mut Vec::new());
        if let (Some(formatted), Some(first)) = (formatted, report.workflows.first()) {
            return vec![(first.name.clone(), formatted)];
        }
    }
    report.workflows.iter().map(|workflow| (workflow.name.clone(), emit(&workflow.native))).collect()
}
