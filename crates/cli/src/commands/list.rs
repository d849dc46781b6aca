//! `longhaul list`: lists the workflows that can be found by name.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use longhaul_lang::diagnostic::plain;
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::WorkflowEntry;
use serde_json::{Value, json};

use crate::{ui, width};

/// List the workflows that you can run by name, and where each one is
///
/// If several workflows have one name, it also lists the hidden ones.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also list workflows that are only parts of built-in ones
    #[arg(long)]
    all: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) struct Row {
    pub(super) entry: WorkflowEntry,
    pub(super) description: String,
    /// `None` if the workflow has errors.
    steps: Option<usize>,
    hides: Vec<WorkflowEntry>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current(longhaul_runtime::registry_of)?;
    let rows = rows(&disk, args.all);
    if args.json {
        ui::print_json(&rows.iter().map(row_json).collect::<Vec<_>>())?;
    } else {
        print(&rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One row per name: the first entry wins and hides the others.
pub(super) fn rows(disk: &Disk, parts: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for entry in disk.library.all() {
        match rows.iter_mut().find(|row| row.entry.name == entry.name) {
            Some(row) => row.hides.push(entry),
            None if entry.is_part() && !parts => {}
            None => rows.push(row(disk, entry)),
        }
    }
    rows.sort_by(|a, b| a.entry.name.cmp(&b.entry.name));
    rows
}

fn row(disk: &Disk, entry: WorkflowEntry) -> Row {
    let report = disk.check(&entry, None).ok();
    let first = report.as_ref().and_then(|report| report.workflows.first());
    let description = first.and_then(|workflow| workflow.native.get("description")?.scalar()).unwrap_or_default();
    let steps = first.and_then(|workflow| workflow.plan.as_ref()).map(|plan| plan.steps.len());
    Row { description: description.to_owned(), steps, hides: Vec::new(), entry }
}

fn print(rows: &[Row]) -> Result<()> {
    let mut out = ui::out();
    let width = rows.iter().map(|row| row.entry.name.chars().count()).max().unwrap_or(0);
    for row in rows {
        let steps = row.steps.map_or_else(|| "has errors".to_owned(), |steps| ui::count(steps, "step"));
        let name = ui::bold(format!("{:width$}", plain(&row.entry.name)));
        let about = width::seen(&plain(&row.description), width + 24);
        writeln!(out, "{name}  {:<8}  {steps:<10}  {about}", row.entry.origin.word())?;
        for hidden in &row.hides {
            let text = format!("hides {} ({})", plain(&disk::shown(&hidden.file)), hidden.origin.word());
            writeln!(out, "{:width$}  {}", "", ui::dim(text))?;
        }
    }
    Ok(())
}

fn row_json(row: &Row) -> Value {
    json!({
        "name": row.entry.name, "description": row.description, "steps": row.steps, "ok": row.steps.is_some(),
        "origin": row.entry.origin, "file": disk::shown(&row.entry.file), "hides": super::places(&row.hides),
    })
}
