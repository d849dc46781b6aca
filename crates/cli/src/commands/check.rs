//! `longhaul check`: everything that is wrong with workflows, at once.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_lang::diagnostic::{self, Diagnostic, Severity, render};
use longhaul_lang::{Report, Request};
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::{self, Entry, Origin};
use serde_json::{Value, json};

use super::DialectArg;
use crate::ui;

/// Check workflows: read them and say everything that is wrong, with the place and the remedy
///
/// Executes nothing and writes nothing. Exits with 0 if there are no errors, 1 if there are, 2 if a file cannot be found.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, folders or names; `-` reads standard input; without any, all workflows of the project
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    dialect: DialectArg,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Print every finding, however many a file has
    #[arg(long)]
    all: bool,
    /// Print the findings as JSON, every one of them
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current()?;
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

fn reports(args: &Args, disk: &Disk) -> Result<Vec<(String, Report)>> {
    let mut reports = Vec::new();
    let dialect = args.dialect.dialect;
    for path in &args.paths {
        if path == "-" {
            let text = disk::from_stdin()?;
            let request = Request { file: "<stdin>".into(), name: "stdin".into(), text, dialect, ..Request::default() };
            reports.push(("<stdin>".to_owned(), longhaul_lang::check(request, disk)));
            continue;
        }
        for entry in entries(path, disk)? {
            reports.push((disk::shown(&entry.file), disk.check(&entry, dialect)?));
        }
    }
    if args.paths.is_empty() {
        for entry in disk.library.all().into_iter().filter(|entry| entry.origin == Origin::Project) {
            reports.push((disk::shown(&entry.file), disk.check(&entry, dialect)?));
        }
        if reports.is_empty() {
            let place = disk.project.root.join(".longhaul/workflows");
            bail!("this project has no workflows; name a file, or put one into {}", place.display());
        }
    }
    Ok(reports)
}

/// The workflows that a path or name stands for.
fn entries(path: &str, disk: &Disk) -> Result<Vec<Entry>> {
    let folder = Path::new(path);
    if !folder.is_dir() || library::file_in(folder).is_some() {
        return Ok(vec![disk.find(path)?]);
    }
    let found = library::in_folder(Origin::Path, folder);
    if found.is_empty() {
        bail!("{path} holds no workflows");
    }
    Ok(found)
}

fn print(reports: &[(String, Report)], shown_max: usize) -> Result<()> {
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
fn verdict(file: &str, report: &Report) -> String {
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

fn print_json(reports: &[(String, Report)]) -> Result<()> {
    let files: Vec<Value> = reports.iter().map(|(file, report)| file_json(file, report)).collect();
    let all = || reports.iter().flat_map(|(_, report)| &report.diagnostics);
    let count = |severity| all().filter(|found| found.severity == severity).count();
    ui::print_json(&json!({"files": files, "errors": count(Severity::Error), "warnings": count(Severity::Warning)}))
}

fn file_json(file: &str, report: &Report) -> Value {
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
