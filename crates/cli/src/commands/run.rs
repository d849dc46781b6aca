//! `longhaul run` and `longhaul resume`: a run in the foreground.

use std::cell::Cell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::decide::group;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use longhaul_core::plan::{OnExceed, Outcome, Plan};
use longhaul_core::state::{Phase, State, StepInst};
use longhaul_lang::diagnostic;
use longhaul_project::{Disk, Entry, Origin, Project};
use longhaul_runtime::{Engine, Idle, StartRequest};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::DialectArg;
use crate::office::{self, AgentArgs, EngineArgs};
use crate::onlooker::{Manner, Onlooker};
use crate::screen::terminal;
use crate::screen::watch::Watch;
use crate::{identity, inputs, ui};

/// The exit code of a run that waits for a person.
const WAITING: u8 = 3;

/// Run a workflow in the foreground
///
/// Ctrl-C parks the run; `longhaul resume` continues where it was. Exits with 0 if it succeeded, 1 if it failed or was
/// cancelled, 3 if it waits for a person, or a limit paused it, and nobody is at the terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A name or a path
    workflow: String,
    /// What is to be done
    #[arg(default_value = "")]
    task: String,
    /// An input, as NAME=VALUE; read as what the workflow declares, JSON where it declares nothing
    #[arg(long, short, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Inputs from a JSON file
    #[arg(long, value_name = "FILE")]
    inputs_file: Option<PathBuf>,
    /// The id of the run; a run that has it already continues
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// With --run-id: start again even if the run exists, under a new id
    #[arg(long)]
    fresh: bool,
    /// Only record the run; `longhaul worker` or `resume` does the work
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    manner: MannerArgs,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, clap::Args)]
struct MannerArgs {
    /// Print what happens as JSON, an event a line
    #[arg(long)]
    json: bool,
    /// Leave out what agents say and do
    #[arg(long, short)]
    quiet: bool,
    /// Print what happens line by line, also on a terminal that could show a tree
    #[arg(long)]
    plain: bool,
}

impl MannerArgs {
    fn manner(self) -> Manner {
        match (self.json, self.quiet) {
            (true, _) => Manner::Json,
            (false, true) => Manner::Quiet,
            (false, false) if !self.plain && terminal::can_draw() => Manner::Tree,
            (false, false) => Manner::Lively,
        }
    }
}

/// Continue with a run in the foreground
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The run, or the beginning of its id
    run: String,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    manner: MannerArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = office::disk(&args.engine)?;
    let entry = disk.find(&args.workflow)?;
    say_what_is_hidden(&disk, &entry);
    let report = disk.check(&entry, args.dialect.dialect)?;
    if report.has_errors() {
        return super::refuse(&report);
    }
    let Some(plan) = report.workflows.into_iter().find_map(|workflow| workflow.plan) else {
        bail!("there is nothing to run")
    };
    let here = if entry.dir.as_os_str().is_empty() { std::path::Path::new(".") } else { &entry.dir };
    let workflow_dir = std::path::absolute(here).unwrap_or_default();
    office::block_on(async {
        let engine = office::open(&args.engine, &args.agents)?;
        let wanted = args.run_id.as_deref().map(parse_id).transpose()?.filter(|_| !args.fresh);
        let known = match &wanted {
            Some(run) => engine.find(run.as_str()).await.ok().filter(|found| found == run),
            None => None,
        };
        let request = StartRequest {
            task: args.task.clone(),
            inputs: given(args, &plan)?,
            run: wanted,
            trigger: json!({"type": "manual"}),
            owner: Some(identity::origin()),
            workflow_dir,
            driver: Driver::Engine,
        };
        let (run, shown) = match known {
            Some(run) => {
                let shown = engine.load(&run).await?.state.seq;
                (run, shown)
            }
            // Of the first event, the line that names the run tells people enough.
            None => {
                office::warn_of_no_project(&engine)?;
                (engine.start(&plan, request).await?, u64::from(!args.manner.json))
            }
        };
        say_where(args, &run)?;
        if args.detach {
            ui::print_line(&run)?;
            return Ok(ExitCode::SUCCESS);
        }
        foreground(&engine, &run, args.manner.manner(), shown).await
    })
}

/// Says that the project has a workflow under a name that means another one elsewhere.
fn say_what_is_hidden(disk: &Disk, entry: &Entry) {
    let is_hidden = |other: &Entry| other.name == entry.name && matches!(other.origin, Origin::User | Origin::Builtin);
    let hidden = disk.library.all().into_iter().find(is_hidden).filter(|_| entry.origin == Origin::Project);
    if let Some(hidden) = hidden {
        let (name, file) = (&entry.name, entry.file.display());
        ui::say(format!("`{name}` is the project's own, {file}, and not the {} one", hidden.origin.word()));
    }
}

/// Says which project this is, and who keeps the run: both are found by looking upwards, and may not be what was meant.
fn say_where(args: &Args, run: &RunId) -> Result<()> {
    let (project, store) = (Project::current()?.root, office::store_name(&args.engine)?);
    match args.manner {
        // On standard output are events alone.
        MannerArgs { json: true, .. } => ui::say(json!({"run": run, "project": project, "store": store})),
        MannerArgs { quiet: true, .. } => {}
        _ => ui::say(ui::dim(format!("project {}, store {store}", project.display()))),
    }
    Ok(())
}

pub(crate) fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &args.agents)?;
        let run = engine.find(&args.run).await?;
        let state = engine.load(&run).await?.state;
        if engine.is_over(&run).await? {
            return over(&run, &state);
        }
        foreground(&engine, &run, args.manner.manner(), state.seq).await
    })
}

/// What there is to say about a run that nothing can be done for any more; its exit code is that of the run.
fn over(run: &RunId, state: &State) -> Result<ExitCode> {
    let (word, succeeded) = (state.status_word(), state.status_word() == "succeeded");
    let more = if succeeded {
        format!("longhaul outputs {run} prints what it left")
    } else {
        format!("longhaul retry {run} starts it again")
    };
    ui::say(format!("{run} is over: it {}; {more}", if word == "cancelled" { "was cancelled" } else { word }));
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

/// Drives a run and shows what happens after an event, until it is over, parked, or waits for somebody who is not there.
async fn foreground(engine: &Engine, run: &RunId, manner: Manner, after: u64) -> Result<ExitCode> {
    let stop = CancellationToken::new();
    let idle = show(engine, run, Showing { manner, attended: is_attended(), after }, &stop).await?;
    if manner == Manner::Tree && matches!(idle, Idle::Finished(Outcome::Failure)) {
        ui::say(ui::dim(format!("longhaul logs {run}   or   longhaul retry {run}")));
    }
    conclude(engine, run, &idle, &stop).await
}

/// What of a run is shown, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Showing {
    /// How.
    pub(super) manner: Manner,
    /// Whether somebody is there who could answer.
    pub(super) attended: bool,
    /// The last event that is known already; 0 for none.
    pub(super) after: u64,
}

/// The same, without a word about what came of it.
pub(super) async fn show(engine: &Engine, run: &RunId, showing: Showing, stop: &CancellationToken) -> Result<Idle> {
    let Showing { manner, attended, after } = showing;
    let shown = CancellationToken::new();
    office::stop_on_signals(stop.clone())?;
    let showing = if manner == Manner::Tree {
        let watch = Watch::new(engine.clone(), run.clone(), "park");
        tokio::spawn(watch.drive(engine.pulse(), shown.clone(), stop.clone()))
    } else {
        ui::say(format!("run {run}"));
        let onlooker = Onlooker::new(engine.clone(), run.clone(), manner, after);
        tokio::spawn(onlooker.watch(engine.pulse(), shown.clone()))
    };
    let idle = drive(engine, run, stop, Patience { attended, speaks: manner != Manner::Tree }).await;
    shown.cancel();
    showing.await?;
    idle
}

/// Whether somebody is at the terminal who could answer.
fn is_attended() -> bool {
    std::io::stdin().is_terminal()
}

/// Nobody at the terminal means nobody to answer: a run that waits for people alone is left waiting.
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

/// Whether a limit has paused the run to ask. Who pauses it by hand is there to let it continue.
fn asks_by_a_pause(plan: &Plan, state: &State) -> bool {
    let asks = plan.units.iter().any(|unit| unit.limits.on_exceed == OnExceed::Ask);
    state.paused && asks && !state.limits_reached.is_empty() && state.open_attempts().next().is_none()
}

/// For whom a run waits, and who is told.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Whether somebody is there who could answer.
    attended: bool,
    /// Whether lines can be printed.
    speaks: bool,
}

/// What a run waits for that is not let in.
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
    let outside = |step: &StepInst| step.asks().is_some() || step.phase == Phase::Handed;
    state.waiting().next().is_some() && state.open_attempts().next().is_none() && state.waiting().all(outside)
}

async fn conclude(engine: &Engine, run: &RunId, idle: &Idle, stop: &CancellationToken) -> Result<ExitCode> {
    match idle {
        Idle::Finished(Outcome::Success) => Ok(ExitCode::SUCCESS),
        Idle::Finished(_) => Ok(ExitCode::FAILURE),
        Idle::Waiting { .. } if stop.is_cancelled() => {
            ui::say(format!("parked; continue with: longhaul resume {run}"));
            Ok(ExitCode::from(office::PARKED))
        }
        Idle::Waiting { .. } => {
            let state = engine.load(run).await?.state;
            if state.paused {
                let limit =
                    state.limits_reached.last().map_or_else(String::new, |limit| format!(" at the limit on {limit}"));
                ui::say(format!(
                    "{run} is paused{limit}; let it continue: longhaul unpause {run}; then: longhaul resume {run}"
                ));
                return Ok(ExitCode::from(WAITING));
            }
            let asked = state.questions().count();
            if asked == 0 && state.handed().next().is_some() {
                ui::say(format!("{run} waits for the client that hosts it; longhaul status {run} shows who has what"));
                return Ok(ExitCode::from(WAITING));
            }
            ui::say(format!("{run} waits for {}; then: longhaul resume {run}", ui::count(asked.max(1), "answer")));
            Ok(ExitCode::from(WAITING))
        }
    }
}
