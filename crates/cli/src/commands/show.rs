//! `longhaul show`: summarises one workflow.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_app::App;
use longhaul_core::duration::format_ms;
use longhaul_core::plan::{Form, Input, Limits, Plan, Step, Unit};
use longhaul_lang::CheckReport;
use longhaul_lang::diagnostic::plain;
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::WorkflowEntry;
use serde_json::{Value, json};

use super::DialectArg;
use crate::engine_args::{self, EngineArgs};
use crate::ui;

/// Show a workflow: its inputs, steps and gates, and where it is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A name or a path; with --source also a run
    name: String,
    #[command(flatten)]
    dialect: DialectArg,
    /// Print as JSON, with the whole plan
    #[arg(long)]
    json: bool,
    /// Print the file as it is, for example to start your own workflow from a built-in one; of a run, the text that it holds
    #[arg(long, conflicts_with = "json")]
    source: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current(longhaul_runtime::registry_of)?;
    let found = disk.find(&args.name);
    if args.source
        && found.is_err()
        && let Some(text) = text_of_run(args)?
    {
        ui::deliver(&text, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let entry = found?;
    if args.source {
        ui::deliver(&disk.text(&entry)?, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = disk.check(&entry, args.dialect.dialect)?;
    let others = disk.library.all().into_iter();
    let hidden: Vec<WorkflowEntry> =
        others.filter(|other| other.name == entry.name && other.file != entry.file).collect();
    if args.json {
        ui::print_json(&as_json(&entry, &report, &hidden))?;
        return Ok(ExitCode::from(u8::from(report.has_errors())));
    }
    if report.has_errors() {
        return super::refuse(&report);
    }
    let mut out = ui::out();
    for plan in report.workflows.iter().filter_map(|workflow| workflow.plan.as_ref()) {
        write!(out, "{}", page(plan, &entry, &report, &hidden))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The text that a run holds; `None` if there is no such run.
fn text_of_run(args: &Args) -> Result<Option<String>> {
    engine_args::block_on(async {
        let app = App::new(engine_args::open_what_is_there(&args.engine)?);
        let Ok(run) = app.find(&args.name).await else { return Ok(None) };
        match app.source(&run).await? {
            Some(source) => Ok(Some(source.text)),
            None => bail!("an earlier version of Longhaul started {run} and did not store its text"),
        }
    })
}

fn page(plan: &Plan, entry: &WorkflowEntry, report: &CheckReport, hidden: &[WorkflowEntry]) -> String {
    let unit = plan.main();
    let description = plain(unit.description.as_deref().unwrap_or_default());
    let origin = format!("{} ({}, {})", plain(&disk::shown(&entry.file)), entry.origin.word(), report.dialect.name());
    let mut page = format!("{}  {description}\n  from     {origin}\n", ui::bold(plain(&unit.name)));
    for other in hidden {
        page.push_str(&format!("  hides    {} ({})\n", plain(&disk::shown(&other.file)), other.origin.word()));
    }
    for part in [inputs(unit), outputs(unit), limits(&unit.limits), gates(plan), roles(plan)] {
        page.push_str(&part);
    }
    page.push_str(&format!("\n{}", longhaul_draw::tree(plan)));
    page
}

fn inputs(unit: &Unit) -> String {
    let mut text = "  inputs   task: text\n".to_owned();
    for (name, input) in &unit.inputs {
        text.push_str(&format!("           {name}: {}\n", plain(&input_words(input))));
    }
    text
}

fn input_words(input: &Input) -> String {
    let default = match (&input.default, input.is_required()) {
        (Some(default), _) => format!(", {default} unless given"),
        (None, true) => ", required".to_owned(),
        (None, false) => ", optional".to_owned(),
    };
    let description = input.description.as_ref().map_or_else(String::new, |text| format!(" ({text})"));
    format!("{}{default}{description}", input.value_type())
}

fn outputs(unit: &Unit) -> String {
    line("outputs", unit.outputs.keys().map(ToString::to_string).collect())
}

fn limits(limits: &Limits) -> String {
    let parts = [
        limits.tokens.map(|n| format!("{n} tokens")),
        limits.usd.map(|usd| format!("${usd}")),
        limits.duration_ms.map(format_ms),
        limits.steps.map(|n| format!("{n} steps")),
        limits.parallel.map(|n| format!("{n} at once")),
    ];
    line("limits", parts.into_iter().flatten().collect())
}

fn gates(plan: &Plan) -> String {
    line("gates", plan.steps.iter().filter_map(gate).collect())
}

fn roles(plan: &Plan) -> String {
    let player = |(role, file): (String, Option<String>)| format!("{role}: {}", file.as_deref().unwrap_or("built in"));
    line("roles", plan.roles().into_iter().map(player).collect())
}

/// A step that asks a person, described.
fn gate(step: &Step) -> Option<String> {
    match &step.form {
        Form::Approve(_) => Some(format!("{} (approval)", step.id)),
        Form::Ask { .. } => Some(format!("{} (question)", step.id)),
        _ => step.review.as_ref().map(|_| format!("{} (review)", step.id)),
    }
}

fn line(title: &str, parts: Vec<String>) -> String {
    if parts.is_empty() { String::new() } else { format!("  {title:<7}  {}\n", plain(&parts.join(", "))) }
}

fn as_json(entry: &WorkflowEntry, report: &CheckReport, hidden: &[WorkflowEntry]) -> Value {
    let workflows = report.workflows.iter().map(|workflow| json!({"name": workflow.name, "plan": workflow.plan}));
    json!({
        "name": entry.name, "origin": entry.origin, "file": disk::shown(&entry.file), "dialect": report.dialect.name(),
        "hides": super::places(hidden), "ok": !report.has_errors(), "workflows": workflows.collect::<Vec<_>>(),
        "diagnostics": super::findings(report),
    })
}
