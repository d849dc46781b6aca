//! The commands, one per file.

mod agents;
mod before_run;
mod bench;
mod cards;
mod check;
mod consent;
mod convert;
mod demo;
mod digest;
mod explain;
mod fmt;
mod graph;
mod help;
mod init;
mod list;
mod logs;
mod machines;
mod mcp;
mod new;
mod notify;
mod proposals;
mod prune;
mod registry;
mod renamed;
mod retry;
mod run;
mod runs;
mod schema;
mod serve;
mod shell;
mod show;
mod steer;
mod store;
mod tell;
mod test;
mod triggers;
mod trust;
mod up;
mod versions;
mod watch;
mod worker;
mod workers;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use longhaul_lang::CheckReport;
use longhaul_lang::diagnostic::{self, render};
use longhaul_lang::dialect::Dialect;
use longhaul_lang::world::NameKind;
use longhaul_project::disk;
use longhaul_project::library::WorkflowEntry;
use serde_json::{Value, json};

use tell::What;

use crate::ui;

/// Runs multi-step work of AI coding agents, unattended, for days, without losing anything.
#[derive(Debug, Parser)]
#[command(
    name = "longhaul",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
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
    /// Show a run step by step: done, running, waiting and for what
    Status(runs::StatusArgs),
    /// Print everything that happened in a run, in order
    Events(runs::EventsArgs),
    /// Print the outputs of a run, or of one of its steps
    Outputs(runs::OneArgs),
    Logs(logs::Args),
    Digest(digest::Args),
    Notify(notify::Args),
    Export(prune::ExportArgs),
    Import(prune::ImportArgs),
    Prune(prune::Args),
    Store(store::Args),
    /// Approve a gate or a review, so that the run continues
    ///
    /// The run asks a person for a decision and waits. `longhaul status RUN` shows the question. After you approve, the steps behind the
    /// gate start. For a gate with several choices, name the choice as VALUE.
    Approve(tell::Args),
    /// Deny a gate or a review: the step fails, or follows its `on_deny`
    ///
    /// The run asks a person for a decision and waits. `longhaul status RUN` shows the question. `--reason` is
    /// recorded with the denial.
    Deny(tell::Args),
    /// Approve a review with your own value in place of the result
    ///
    /// The run waits for the review of a result. VALUE replaces the result, and the run continues with it.
    Edit(tell::Args),
    /// Answer a question that a step or an agent asks a person
    ///
    /// The run waits for the answer. `longhaul status RUN` shows the question and what kind of value it wants. After you answer, the step
    /// continues with the value. To send something that no step asks a person for, use `longhaul signal`.
    Answer(tell::Args),
    Tell(steer::TellArgs),
    /// Send a named signal, with a value if you like, to a run
    ///
    /// The step of the run that has `wait: {event: NAME}` receives it and continues. If no such step waits yet, the run keeps the signal for it.
    /// Programs use signals to report that something happened; people answer questions with `longhaul answer`.
    Signal(tell::Args),
    /// Cancel a run: its processes end, and no further step starts
    ///
    /// Finished steps and their outputs stay. `longhaul retry RUN` continues a cancelled run.
    Cancel(tell::CancelArgs),
    /// Pause a run: running steps finish, no new step starts
    ///
    /// `longhaul unpause RUN` continues it.
    Pause(tell::RunArgs),
    /// Continue a paused run
    ///
    /// At a limit, this drops the limit for the rest of the run. `longhaul budget RUN` raises it instead.
    Unpause(tell::RunArgs),
    /// Stop a run: its running steps end, and no engine continues it
    ///
    /// `longhaul resume RUN` continues it at the same point: agents continue their conversation, other steps that were running start again. Ctrl-C
    /// in `longhaul run` does the same.
    Stop(tell::RunArgs),
    Budget(steer::BudgetArgs),
    /// Run the failed steps of a run again
    ///
    /// Works on a failed or cancelled run. Finished steps keep their results.
    Retry(retry::RetryArgs),
    Consent(consent::Args),
    Registry(registry::Args),
    Triggers(triggers::Args),
    Fork(retry::ForkArgs),
    Up(up::Args),
    Worker(worker::Args),
    Workers(workers::Args),
    Machines(machines::Args),
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
    /// List the personas of the project, of the user, and built in
    Personas(cards::Args),
    /// List the skills of the project and of the user
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
    Help(help::Args),
    #[command(flatten)]
    Renamed(renamed::Renamed),
}

/// Runs the command of a parsed command line.
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
        Command::Digest(args) => digest::run(&args),
        Command::Notify(args) => notify::run(&args),
        Command::Export(args) => prune::export(&args),
        Command::Import(args) => prune::import(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Approve(args) => tell::run(&args, What::Approve),
        Command::Deny(args) => tell::run(&args, What::Deny),
        Command::Edit(args) => tell::run(&args, What::Edit),
        Command::Answer(args) => tell::run(&args, What::Answer),
        Command::Tell(args) => steer::tell(&args),
        Command::Budget(args) => steer::budget(&args),
        Command::Signal(args) => tell::run(&args, What::Signal),
        Command::Cancel(args) => tell::cancel(args),
        Command::Pause(args) => tell::whole(args, What::Pause),
        Command::Unpause(args) => tell::whole(args, What::Unpause),
        Command::Stop(args) => tell::whole(args, What::Stop),
        Command::Retry(args) => retry::retry(&args),
        Command::Workers(args) => workers::run(&args),
        Command::Machines(args) => machines::run(args),
        Command::Consent(args) => consent::run(&args),
        Command::Registry(args) => registry::run(&args),
        Command::Triggers(args) => triggers::run(&args),
        Command::Fork(args) => retry::fork(&args),
        Command::Up(args) => up::run(&args),
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
        Command::Personas(args) => cards::run(&args, NameKind::Persona),
        Command::Skills(args) => cards::run(&args, NameKind::Skill),
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
        Command::Help(args) => help::run(&args),
        Command::Renamed(command) => renamed::run(command),
    }
}

/// The most findings of one file that are printed without `--all`. A longer list is not useful: many findings often
/// have one cause.
const SHOWN_MAX: usize = 100;

/// The option that chooses the dialect of a file, for files whose keys do not show it.
#[derive(Debug, Clone, Copy, clap::Args)]
struct DialectArg {
    /// Read the file as native, agent007, workhorse, valet or work-buddy [default: decided by the keys in the file]
    #[arg(long, value_name = "NAME")]
    dialect: Option<Dialect>,
}

/// Prints why a workflow cannot be used, and returns the matching exit code.
fn refuse(report: &CheckReport) -> Result<ExitCode> {
    tell_findings(report);
    ui::say(format!("{}; nothing was done", diagnostic::summary(&report.diagnostics)));
    Ok(ExitCode::FAILURE)
}

/// Prints the findings to stderr.
fn tell_findings(report: &CheckReport) {
    for found in report.diagnostics.iter().take(SHOWN_MAX) {
        ui::say(format!("{}\n", render(found, &report.sources, true)));
    }
    let more = report.diagnostics.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        ui::say(format!("… and {more} more; `longhaul check --all` prints them\n"));
    }
}

/// The findings, as data.
fn findings(report: &CheckReport) -> Vec<diagnostic::DiagnosticReport<'_>> {
    report.diagnostics.iter().map(|found| found.report(&report.sources)).collect()
}

/// The places of workflows, as data.
fn places(entries: &[WorkflowEntry]) -> Vec<Value> {
    entries.iter().map(|entry| json!({"origin": entry.origin, "file": disk::shown(&entry.file)})).collect()
}
