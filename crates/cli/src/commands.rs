//! The commands, one a file.

mod agents;
mod bench;
mod cards;
mod check;
mod consent;
mod convert;
mod demo;
mod explain;
mod fmt;
mod graph;
mod init;
mod list;
mod logs;
mod mcp;
mod new;
mod proposals;
mod prune;
mod run;
mod runs;
mod schema;
mod serve;
mod shell;
mod show;
mod store;
mod tell;
mod test;
mod triggers;
mod trust;
mod versions;
mod watch;
mod worker;
mod workers;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use longhaul_lang::Report;
use longhaul_lang::diagnostic::{self, render};
use longhaul_lang::dialect::Dialect;
use longhaul_lang::world::Kind;
use longhaul_project::disk;
use longhaul_project::library::Entry;
use serde_json::{Value, json};

use tell::What;

use crate::ui;

/// Runs multi-step work of AI coding agents, unattended, for days, without losing anything.
#[derive(Debug, Parser)]
#[command(name = "longhaul", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Run(Box<run::Args>),
    Resume(run::ResumeArgs),
    Watch(watch::Args),
    Top(watch::TopArgs),
    Runs(runs::ListArgs),
    /// Show what a run is doing, step by step
    Status(runs::StatusArgs),
    /// Print what happened in a run
    Events(runs::EventsArgs),
    /// Print what a run, or a step of it, left
    Outputs(runs::OneArgs),
    Logs(logs::Args),
    Export(prune::ExportArgs),
    Import(prune::ImportArgs),
    Prune(prune::Args),
    Store(store::Args),
    /// Say yes to a gate or a review
    Approve(tell::Args),
    /// Say no to a gate or a review
    Deny(tell::Args),
    /// Say yes to a review with another value
    Edit(tell::Args),
    /// Answer a question
    Answer(tell::Args),
    /// Send a signal to a run
    Signal(tell::Args),
    /// Stop a run
    Cancel(tell::CancelArgs),
    /// Start nothing new in a run
    Pause(tell::RunArgs),
    /// Let a paused run continue
    Unpause(tell::RunArgs),
    /// Start a failed or cancelled run again; finished steps are kept
    Retry(tell::RetryArgs),
    /// Let a run continue elsewhere, without the files that are on a machine which is gone
    Leave(tell::RunArgs),
    Consent(consent::Args),
    Shelve(versions::ShelveArgs),
    Versions(versions::Args),
    Rollback(versions::RollbackArgs),
    Proposals(proposals::Args),
    Triggers(triggers::Args),
    Fork(worker::ForkArgs),
    Worker(worker::Args),
    Workers(workers::Args),
    Mcp(mcp::Args),
    Serve(Box<serve::Args>),
    Ui(serve::ui::Args),
    Agents(agents::Args),
    Doctor(agents::DoctorArgs),
    Init(init::Args),
    Trust(trust::Args),
    Check(check::Args),
    List(list::Args),
    Show(show::Args),
    /// List who agents can be: personas of the project, of the user, and built in
    Personas(cards::Args),
    /// List what agents can be taught: skills of the project and of the user
    Skills(cards::Args),
    Graph(graph::Args),
    Convert(convert::Args),
    Fmt(fmt::Args),
    Schema(schema::Args),
    Explain(explain::Args),
    Bench(bench::Args),
    New(new::Args),
    Test(test::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Carries a command out.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Top(args) => watch::top(&args),
        Command::Runs(args) => runs::list(&args),
        Command::Status(args) => runs::status(&args),
        Command::Events(args) => runs::events(&args),
        Command::Outputs(args) => runs::outputs(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Export(args) => prune::export(&args),
        Command::Import(args) => prune::import(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Approve(args) => tell::run(&args, What::Approve),
        Command::Deny(args) => tell::run(&args, What::Deny),
        Command::Edit(args) => tell::run(&args, What::Edit),
        Command::Answer(args) => tell::run(&args, What::Answer),
        Command::Signal(args) => tell::run(&args, What::Signal),
        Command::Cancel(args) => tell::cancel(args),
        Command::Pause(args) => tell::whole(args, What::Pause),
        Command::Unpause(args) => tell::whole(args, What::Unpause),
        Command::Retry(args) => tell::retry(&args),
        Command::Leave(args) => tell::whole(args, What::Leave),
        Command::Workers(args) => workers::run(&args),
        Command::Consent(args) => consent::run(&args),
        Command::Shelve(args) => versions::shelve(&args),
        Command::Versions(args) => versions::run(&args),
        Command::Rollback(args) => versions::rollback(&args),
        Command::Proposals(args) => proposals::run(&args),
        Command::Triggers(args) => triggers::run(&args),
        Command::Fork(args) => worker::fork(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Ui(args) => serve::ui::run(&args),
        Command::Agents(args) => agents::run(&args),
        Command::Doctor(args) => agents::doctor(&args),
        Command::Init(args) => init::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Check(args) => check::run(&args),
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Personas(args) => cards::run(&args, Kind::Persona),
        Command::Skills(args) => cards::run(&args, Kind::Skill),
        Command::Graph(args) => graph::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::New(args) => new::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// The most findings of one file that are printed unless somebody asks for all: nobody reads more, and they
/// often have one cause.
const SHOWN_MAX: usize = 100;

/// How a file is to be read, where its keys do not tell.
#[derive(Debug, Clone, Copy, clap::Args)]
struct DialectArg {
    /// Read as native, agent007, workhorse, valet or work-buddy [default: by the file's keys]
    #[arg(long, value_name = "NAME")]
    dialect: Option<Dialect>,
}

/// Prints why a workflow cannot be used, and says so in the exit code.
fn refuse(report: &Report) -> Result<ExitCode> {
    tell(report);
    ui::say(format!("{}; nothing was done", diagnostic::summary(&report.diagnostics)));
    Ok(ExitCode::FAILURE)
}

/// Prints what was found, beside the data.
fn tell(report: &Report) {
    for found in report.diagnostics.iter().take(SHOWN_MAX) {
        ui::say(format!("{}\n", render(found, &report.sources, true)));
    }
    let more = report.diagnostics.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        ui::say(format!("… and {more} more; `longhaul check --all` prints them\n"));
    }
}

/// What was found, as data.
fn findings(report: &Report) -> Vec<diagnostic::Report<'_>> {
    report.diagnostics.iter().map(|found| found.report(&report.sources)).collect()
}

/// Where workflows are, as data.
fn places(entries: &[Entry]) -> Vec<Value> {
    entries.iter().map(|entry| json!({"origin": entry.origin, "file": disk::shown(&entry.file)})).collect()
}
