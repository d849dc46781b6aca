//! `longhaul run` and `longhaul resume`: runs a workflow in the foreground.

use std::cell::Cell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use indexmap::IndexMap;
use longhaul_app::{App, RunCommand, StartOrder, workflow};
use longhaul_core::Json;
use longhaul_core::decide::group;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::plan::{OnExceed, Outcome, Plan};
use longhaul_core::state::{State, StepInst};
use longhaul_core::status::RunStatus;
use longhaul_lang::diagnostic;
use longhaul_project::{Disk, Project, WorkflowEntry, WorkflowOrigin};
use longhaul_runtime::{Engine, Idle};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::DialectArg;
use super::before_run::{is_the_same, same_folder, without_task};
use crate::background::protocol::own_environment;
use crate::background::{self, Order};
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::leaving::{self, Leave};
use crate::printer::{OutputMode, RunPrinter};
use crate::screen::terminal;
use crate::screen::watch::Watch;
use crate::{identity, inputs, ui};

/// The exit code of a run that waits for a person.
const WAITING: u8 = 3;

/// Run a workflow here, and show its progress
///
/// Ctrl-C stops the run: no engine continues it until `longhaul resume`. If the terminal is closed, the background engine continues
/// the run. Exit codes: 0 the run succeeded, 1 it failed or was
/// cancelled, 3 it waits for a person or a limit paused it, and nobody is at the terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The workflow: a name or a path
    workflow: String,
    /// The task: text that the workflow reads as `task`
    #[arg(default_value = "")]
    task: String,
    /// An input, as NAME=VALUE; read as the type that the workflow declares, or as JSON if it declares none
    #[arg(long, short, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Read inputs from this JSON file
    #[arg(long, value_name = "FILE")]
    inputs_file: Option<PathBuf>,
    /// The id of the run; if a run with this id exists, it continues
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// With --run-id: start a new run under a new id if the run exists
    #[arg(long)]
    fresh: bool,
    /// Start the run in the background engine, print its id, and return; see `longhaul up`
    #[arg(long)]
    detach: bool,
    /// Only record the run; `longhaul worker`, `serve`, `up` or `resume` does the work
    #[arg(long, conflicts_with = "detach")]
    queue: bool,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    manner: MannerArgs,
}

/// The options that choose how a run is shown.
#[derive(Debug, Clone, Copy, clap::Args)]
struct MannerArgs {
    /// Print events as JSON, one per line
    #[arg(long)]
    json: bool,
    /// Do not print what agents say and do
    #[arg(long, short)]
    quiet: bool,
    /// Print line by line, even on a terminal that can show a tree
    #[arg(long)]
    plain: bool,
}

impl MannerArgs {
    fn manner(self) -> OutputMode {
        match (self.json, self.quiet) {
            (true, _) => OutputMode::Json,
            (false, true) => OutputMode::Quiet,
            (false, false) if !self.plain && terminal::can_draw() => OutputMode::Tree,
            (false, false) => OutputMode::Lively,
        }
    }
}

/// Continue a stopped or waiting run here, and show its progress
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The id of the run, or its first characters
    run: String,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    manner: MannerArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = engine_args::disk(&args.engine)?;
    let entry = disk.find(&args.workflow)?;
    say_what_is_hidden(&disk, &entry);
    let report = disk.check(&entry, args.dialect.dialect)?;
    if report.has_errors() {
        return super::refuse(&report);
    }
    let reads_task = report.workflows.iter().any(|workflow| workflow.reads_task);
    let Ok(startable) = workflow::planned(&entry, report) else { bail!("there is nothing to run") };
    say_who_plays(&startable.plan);
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &args.agents)?;
        let wanted = args.run_id.as_deref().map(parse_id).transpose()?.filter(|_| !args.fresh);
        let known = match &wanted {
            Some(run) => engine.find(run.as_str()).await.ok().filter(|found| found == run),
            None => None,
        };
        let order = StartOrder {
            task: args.task.clone(),
            inputs: given(args, &startable.plan)?,
            run: wanted,
            trigger: Some(RunTrigger::manual()),
            driver: Driver::Engine,
        };
        let (run, shown) = match known {
            Some(run) => {
                let state = engine.load(&run).await?.state;
                is_the_same(&run, &state, &startable.plan, &args.task)?;
                resumed(&engine, &run).await?;
                (run, state.seq)
            }
            // For people, the line that names the run replaces the first event.
            None => {
                engine_args::warn_of_no_project(&engine)?;
                let app = App::new(engine.clone());
                if reads_task && args.task.trim().is_empty() {
                    ui::say(without_task(&args.workflow));
                }
                same_folder(&app, &startable.plan).await?;
                (app.start(&startable, order, &identity::caller()).await?, u64::from(!args.manner.json))
            }
        };
        say_where(args, &run)?;
        if args.queue || args.detach {
            return in_background(args, &run).await;
        }
        let to = background_order(&args.engine, &args.agents)?;
        let ended = foreground(&engine, &run, (args.manner.manner(), shown), &to).await?;
        hint(args.manner, &args.engine, &engine, &run).await?;
        Ok(ended)
    })
}

/// What the background engine is asked for.
pub(super) fn background_order(engine: &EngineArgs, agents: &AgentArgs) -> Result<Order> {
    Ok(Order {
        project: Project::current()?.root,
        store: engine.store_arg().map(str::to_owned),
        options: agents.options(),
        environment: own_environment(),
        idle_seconds: None,
        why: "it was asked for".to_owned(),
    })
}

/// Leaves a run to another engine, and makes sure that there is one unless it is only queued.
async fn in_background(args: &Args, run: &RunId) -> Result<ExitCode> {
    let json = args.manner.json;
    // The engine of the step that this command belongs to drives the run too. A process that a step leaves is ended.
    let is_inside = !identity::origin().inside.is_empty();
    if args.queue || is_inside {
        if is_inside && args.detach && !json {
            ui::say(
                "this is a step of a run, so no background engine is started; the worker of that run takes this one",
            );
        }
        ui::print_line(run)?;
        return Ok(ExitCode::SUCCESS);
    }
    let to = Order { why: format!("{run} was started with --detach"), ..background_order(&args.engine, &args.agents)? };
    let handed = match background::client::work(to).await {
        Ok(handed) => handed,
        Err(error) => {
            ui::print_line(run)?;
            bail!(
                "{run} is recorded, but no background engine could be started: {error:#}; start it with: longhaul resume {run}"
            );
        }
    };
    if json {
        let log = &handed.worker.log;
        ui::print_json_line(
            &json!({"run": run, "engine": handed.engine.pid, "log": log, "outdated": handed.engine.is_outdated}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::print_line(run)?;
    super::up::say_who_has(run, &handed);
    Ok(ExitCode::SUCCESS)
}

/// Says that a workflow of the project hides another one with the same name.
fn say_what_is_hidden(disk: &Disk, entry: &WorkflowEntry) {
    let is_hidden = |other: &WorkflowEntry| {
        other.name == entry.name && matches!(other.origin, WorkflowOrigin::User | WorkflowOrigin::Builtin)
    };
    let hidden = disk.library.all().into_iter().find(is_hidden).filter(|_| entry.origin == WorkflowOrigin::Project);
    if let Some(hidden) = hidden {
        let (name, file) = (&entry.name, entry.file.display());
        ui::say(format!("`{name}` is the project's own, {file}, and not the {} one", hidden.origin.word()));
    }
}

/// Says which roles files of the project play.
fn say_who_plays(plan: &Plan) {
    let played = plan.roles().into_iter().filter_map(|(role, file)| Some(format!("{role} is {}", file?)));
    let played: Vec<String> = played.collect();
    if !played.is_empty() {
        ui::say(format!("Roles: {}; the others are built in", played.join(", ")));
    }
}

/// Prints the project and the store of the run. Longhaul finds both by searching upwards, so they may not be the ones
/// that the user expects.
fn say_where(args: &Args, run: &RunId) -> Result<()> {
    let (project, store) = (Project::current()?.root, engine_args::store_name(&args.engine)?);
    match args.manner {
        // Standard output is for events only.
        MannerArgs { json: true, .. } => ui::say(json!({"run": run, "project": project, "store": store})),
        MannerArgs { quiet: true, .. } => {}
        _ => ui::say(ui::dim(format!("project {}, store {store}", project.display()))),
    }
    Ok(())
}

pub(crate) fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &args.agents)?;
        let run = engine.find(&args.run).await?;
        let state = engine.load(&run).await?.state;
        if engine.is_over(&run).await? {
            let ended = over(&run, &state)?;
            hint(args.manner, &args.engine, &engine, &run).await?;
            return Ok(ended);
        }
        resumed(&engine, &run).await?;
        let shown = engine.before_commands(&run).await?;
        let to = background_order(&args.engine, &args.agents)?;
        let ended = foreground(&engine, &run, (args.manner.manner(), shown), &to).await?;
        hint(args.manner, &args.engine, &engine, &run).await?;
        Ok(ended)
    })
}

/// Resumes a run that somebody stopped.
async fn resumed(engine: &Engine, run: &RunId) -> Result<()> {
    if engine.load(run).await?.state.is_stopped() {
        App::new(engine.clone()).command_within(run, RunCommand::Resume, &identity::caller(), Duration::ZERO).await?;
    }
    Ok(())
}

/// After a failure: says that the file behind the run has changed.
async fn hint(manner: MannerArgs, args: &EngineArgs, engine: &Engine, run: &RunId) -> Result<()> {
    if !manner.json && engine.load(run).await?.state.has_failed() {
        super::runs::say_changed(args, engine, run).await;
    }
    Ok(())
}

/// Reports a run that cannot continue; the exit code is that of the run.
fn over(run: &RunId, state: &State) -> Result<ExitCode> {
    let (word, succeeded) = (state.status(), state.status() == RunStatus::Succeeded);
    let more = if succeeded {
        format!("longhaul outputs {run} prints what it left")
    } else {
        format!("longhaul retry {run} starts it again")
    };
    ui::say(format!(
        "{run} is over: it {}; {more}",
        if word == RunStatus::Cancelled { "was cancelled" } else { word.word() }
    ));
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse_id(text: &str) -> Result<RunId> {
    RunId::new(text).with_context(|| {
        format!("`{text}` cannot be the id of a run: 4 to 40 small letters and digits, with single dashes between them")
    })
}

fn given(args: &Args, plan: &Plan) -> Result<IndexMap<String, Json>> {
    let mut given: IndexMap<String, Json> = match &args.inputs_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
            serde_json::from_str(&text).with_context(|| format!("{} is not a JSON object", file.display()))?
        }
        None => IndexMap::new(),
    };
    given.extend(inputs::read(&args.input, Some(plan))?);
    Ok(given)
}

/// Runs a run and prints the events after `after`, until the run ends, is stopped, or waits for a person who is not at
/// the terminal.
async fn foreground(engine: &Engine, run: &RunId, (manner, after): (OutputMode, u64), to: &Order) -> Result<ExitCode> {
    let stop = CancellationToken::new();
    let (idle, left) = show(engine, run, Showing { manner, attended: is_attended(), after }, (&stop, Some(to))).await?;
    if manner == OutputMode::Tree && matches!(idle, Idle::Finished(Outcome::Failure)) {
        ui::say(ui::dim(format!("longhaul logs {run}   or   longhaul retry {run}")));
    }
    conclude(engine, run, &idle, left).await
}

/// What `show` prints of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Showing {
    /// The output mode.
    pub(super) manner: OutputMode,
    /// Whether a person at the terminal could answer.
    pub(super) attended: bool,
    /// The last event that the user has seen; 0 for none.
    pub(super) after: u64,
}

/// The same, without a message about the result. Also returns how this process was asked to leave, if it was.
pub(super) async fn show(
    engine: &Engine,
    run: &RunId,
    showing: Showing,
    (stop, to): (&CancellationToken, Option<&Order>),
) -> Result<(Idle, Option<Leave>)> {
    let Showing { manner, attended, after } = showing;
    let shown = CancellationToken::new();
    let (leave, mut requests) = leaving::requests()?;
    let showing = if manner == OutputMode::Tree {
        let watch = Watch::new(engine.clone(), run.clone(), "stop");
        tokio::spawn(watch.drive(engine.pulse(), shown.clone(), leave.clone()))
    } else {
        ui::say(format!("run {run}"));
        let onlooker = RunPrinter::new(engine.clone(), run.clone(), manner, after);
        tokio::spawn(onlooker.watch(engine.pulse(), shown.clone()))
    };
    let driving = drive(engine, run, stop, Patience { attended, speaks: manner != OutputMode::Tree });
    let left = Cell::new(None);
    let idle = Box::pin(engine.notify_while(run, async {
        tokio::select! {
            idle = driving => idle,
            never = leaving::serve(engine, run, &mut requests, stop, (&left, to)) => match never {},
        }
    }))
    .await;
    shown.cancel();
    showing.await?;
    Ok((idle?, left.get()))
}

/// Whether a person at the terminal could answer.
fn is_attended() -> bool {
    std::io::stdin().is_terminal()
}

/// Runs a run. Without a person at the terminal it stops when the run waits only for people.
async fn drive(engine: &Engine, run: &RunId, stop: &CancellationToken, patience: Patience) -> Result<Idle> {
    let plan = engine.load(run).await?.plan;
    let told = Cell::new(!patience.speaks);
    let patient = |state: &State| {
        if state.is_queued(&plan.0) && !told.replace(true) {
            ui::say(queued(&plan.0, state));
        }
        patience.attended || !(only_people_wait(state) || asks_by_a_pause(&plan.0, state))
    };
    Ok(engine.drive(run, stop.clone(), patient).await?)
}

/// Whether a limit has paused the run to ask. If a person paused it, that person can continue it.
fn asks_by_a_pause(plan: &Plan, state: &State) -> bool {
    let asks = plan.units.iter().any(|unit| unit.limits.on_exceed == OnExceed::Ask);
    state.paused && asks && !state.account.limits_reached.is_empty() && state.open_attempts().next().is_none()
}

/// How long to wait for a run, and whether to print why it waits.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Whether a person at the terminal could answer.
    attended: bool,
    /// Whether this process may print lines.
    speaks: bool,
}

/// Why a queued run does not start yet.
fn queued(plan: &Plan, state: &State) -> String {
    let group = state.started.as_ref().and_then(|started| group(plan, started)?.ok()).unwrap_or_default();
    let max = plan.main().concurrency.as_ref().map_or(1, |concurrency| concurrency.max);
    format!(
        "queued: at most {} of the group `{}` at once; it continues when one is over (longhaul runs shows them)",
        ui::count(usize::try_from(max).unwrap_or(usize::MAX), "run"),
        diagnostic::plain(&group)
    )
}

fn only_people_wait(state: &State) -> bool {
    let outside = |step: &StepInst| step.asks().is_some() || step.phase.is_hosted();
    state.waiting().next().is_some() && state.open_attempts().next().is_none() && state.waiting().all(outside)
}

/// Says what becomes of a run that was left before its end.
fn stopped(run: &RunId, state: &State, left: Option<Leave>) -> ExitCode {
    let by = state.stopped.as_ref().and_then(|stop| stop.by.as_deref());
    match (state.is_stopped(), left) {
        (true, Some(_)) => ui::say(format!("stopped; continue with: longhaul resume {run}")),
        (true, None) => {
            let by = by.map_or_else(String::new, |by| format!(" by {}", diagnostic::plain(by)));
            ui::say(format!("{run} was stopped{by}; continue with: longhaul resume {run}"));
        }
        (false, _) => ui::say(format!(
            "{run} is not stopped, but no engine is running it here any more; a worker continues it, or: longhaul resume {run}"
        )),
    }
    ExitCode::from(if left.is_some() { engine_args::PARKED } else { WAITING })
}

async fn conclude(engine: &Engine, run: &RunId, idle: &Idle, left: Option<Leave>) -> Result<ExitCode> {
    match idle {
        Idle::Finished(Outcome::Success) => Ok(ExitCode::SUCCESS),
        Idle::Finished(_) => Ok(ExitCode::FAILURE),
        Idle::Waiting { .. } => {
            if engine.is_draining() {
                ui::say(format!("the background engine has {run} now; longhaul watch {run} shows it"));
                // Agents continue without this process. A normal end would stop them.
                std::process::exit(0);
            }
            let state = engine.load(run).await?.state;
            if state.is_stopped() || left.is_some() {
                return Ok(stopped(run, &state, left));
            }
            if state.paused {
                ui::say(match state.paused_at_limit() {
                    Some(limit) => format!(
                        "{run} is paused at the limit on {limit}; raise it: {}; then: longhaul resume {run}",
                        longhaul_core::view::Standing::raising(run.as_str(), limit)
                    ),
                    None => {
                        format!("{run} is paused; let it continue: longhaul unpause {run}; then: longhaul resume {run}")
                    }
                });
                return Ok(ExitCode::from(WAITING));
            }
            let asked = state.questions().count();
            if asked == 0 && state.hosted().next().is_some() {
                ui::say(format!("{run} waits for its client; longhaul status {run} shows which steps it has"));
                return Ok(ExitCode::from(WAITING));
            }
            ui::say(format!("{run} waits for {}; then: longhaul resume {run}", ui::count(asked.max(1), "answer")));
            Ok(ExitCode::from(WAITING))
        }
    }
}
