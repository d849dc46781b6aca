//! `longhaul check`: reports all errors in workflows at once.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_lang::diagnostic::{self, Diagnostic, Severity, render};
use longhaul_lang::{CheckReport, CheckRequest};
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::{self, WorkflowEntry, WorkflowOrigin};
use serde_json::{Value, json};

use super::DialectArg;
use crate::ui;

/// Check workflows: every error, with its place and its fix
///
/// Runs nothing and writes nothing. Exit codes: 0 no errors, 1 errors, 2 a file was not found.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, folders or names; `-` reads standard input [default: all workflows of the project]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    dialect: DialectArg,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Print every finding, even if a file has very many
    #[arg(long)]
    all: bool,
    /// Print all findings as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current(longhaul_runtime::registry_of)?;
    let reports = reports(args, &disk)?;
    if args.json {
        print_json(&reports)?;
    } else {
        print(&reports, if args.all { usize::MAX } else { super::SHOWN_MAX })?;
    }
    let bad =
        |found: &Diagnostic| found.severity == Severity::Error || (args.strict && found.severity == Severity::Warning);
    let failed = reports.iter().any(|(_, report)| report.diagnostics.iter().any(bad));
    Ok(ExitCode::from(u8::from(failed)))
}

fn reports(args: &Args, disk: &Disk) -> Result<Vec<(String, CheckReport)>> {
    let mut reports = Vec::new();
    let dialect = args.dialect.dialect;
    for path in &args.paths {
        if path == "-" {
            let text = disk::from_stdin()?;
            let request =
                CheckRequest { file: "<stdin>".into(), name: "stdin".into(), text, dialect, ..CheckRequest::default() };
            reports.push(("<stdin>".to_owned(), longhaul_lang::check(request, disk)));
            continue;
        }
        for entry in entries(path, disk)? {
            reports.push((disk::shown(&entry.file), disk.check(&entry, dialect)?));
        }
    }
    if args.paths.is_empty() {
        for entry in disk.library.all().into_iter().filter(|entry| entry.origin == WorkflowOrigin::Project) {
            reports.push((disk::shown(&entry.file), disk.check(&entry, dialect)?));
        }
        if reports.is_empty() {
            let place = disk.project.root.join(".longhaul/workflows");
            bail!("this project has no workflows; name a file, or put one into {}", place.display());
        }
    }
    Ok(reports)
}

/// The workflows that a path or a name refers to.
fn entries(path: &str, disk: &Disk) -> Result<Vec<WorkflowEntry>> {
    let folder = Path::new(path);
    if !folder.is_dir() || library::file_in(folder).is_some() {
        return Ok(vec![disk.find(path)?]);
    }
    let found = library::in_folder(WorkflowOrigin::Path, folder);
    if found.is_empty() {
        bail!("{path} contains no workflows");
    }
    Ok(found)
}

fn print(reports: &[(String, CheckReport)], shown_max: usize) -> Result<()> {
    let mut out = ui::out();
    for (file, report) in reports {
        for diagnostic in report.diagnostics.iter().take(shown_max) {
            writeln!(out, "{}\n", render(diagnostic, &report.sources, true))?;
        }
        let more = report.diagnostics.len().saturating_sub(shown_max);
        if more > 0 {
            writeln!(out, "… and {more} more; `--all` prints them\n")?;
        }
        writeln!(out, "{}", verdict(file, report))?;
    }
    Ok(())
}

/// "release.yaml: ok, 12 steps (agent007)".
fn verdict(file: &str, report: &CheckReport) -> String {
    let plans = report.workflows.iter().filter_map(|workflow| workflow.plan.as_ref());
    let steps: usize = plans.map(|plan| plan.steps.len()).sum();
    let dialect = ui::dim(format!("({})", report.dialect.name()));
    let summary = diagnostic::summary(&report.diagnostics);
    if report.has_errors() {
        return format!("{}: {summary} {dialect}", ui::bold(diagnostic::plain(file)));
    }
    let extra = if report.diagnostics.is_empty() { String::new() } else { format!(", {summary}") };
    format!("{}: {}, {}{extra} {dialect}", ui::bold(diagnostic::plain(file)), ui::good("ok"), ui::count(steps, "step"))
}

fn print_json(reports: &[(String, CheckReport)]) -> Result<()> {
    let files: Vec<Value> = reports.iter().map(|(file, report)| file_json(file, report)).collect();
    let all = || reports.iter().flat_map(|(_, report)| &report.diagnostics);
    let count = |severity| all().filter(|found| found.severity == severity).count();
    ui::print_json(&json!({"files": files, "errors": count(Severity::Error), "warnings": count(Severity::Warning)}))
}

fn file_json(file: &str, report: &CheckReport) -> Value {
    let workflows: Vec<Value> = report
        .workflows
        .iter()
        .map(|workflow| json!({"name": workflow.name, "steps": workflow.plan.as_ref().map(|plan| plan.steps.len())}))
        .collect();
    json!({
        "file": file, "dialect": report.dialect.name(), "ok": !report.has_errors(), "workflows": workflows,
        "diagnostics": super::findings(report),
    })
}
