//! `longhaul worker`: runs every run that has work. `longhaul fork`: starts a new run from an old one.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_app::{App, Forking};
use longhaul_runtime::{Engine, EngineEvent, Wanted};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

use crate::engine_args::{self, AgentArgs, EngineArgs, WorkerArgs};
use crate::worker_log::WorkerLog;
use crate::{identity, inputs, ui};

/// Run queued and waiting runs, and fire schedules, until stopped
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print nothing about the steps
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    worker: WorkerArgs,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let stop = CancellationToken::new();
        engine_args::stop_on_signals(stop.clone())?;
        let opened = engine_args::open_for_worker(&args.engine, &args.agents, &args.worker, &stop).await?;
        let Some(engine) = opened else { return Ok(ExitCode::SUCCESS) };
        engine_args::warn_of_no_project(&engine)?;
        if let Some(login) = engine.login() {
            let labels = engine.labels();
            for label in args.worker.labels().filter(|label| !labels.contains(label)) {
                ui::say(format!(
                    "warning: the login `{login}` may not have the label {label}: steps that ask for it are not given to it"
                ));
            }
            ui::say(format!(
                "working {}, for the engines that drive the runs, with the login `{login}`; Ctrl-C stops the running steps",
                standing(args, &engine)?
            ));
            let (pulse, over) = (engine.pulse(), CancellationToken::new());
            let work = async {
                let worked = engine.work(stop).await;
                over.cancel();
                worked
            };
            tokio::join!(work, told(args, &engine, pulse, &over)).0?;
            return Ok(ExitCode::SUCCESS);
        }
        ui::say(format!(
            "working {}; Ctrl-C stops the running steps and records that, a second one quits at once",
            standing(args, &engine)?
        ));
        let place = args.engine.clone();
        let find = move |wanted: Wanted<'_>| engine_args::startable(&place, wanted);
        let kept = |kept: Result<&longhaul_runtime::Fired, &longhaul_runtime::Error>| ui::say(engine_args::kept(kept));
        let times = engine.keep_times(&find, stop.clone(), &kept);
        let over = CancellationToken::new();
        let work = async {
            let worked = engine.work(stop.clone()).await;
            stop.cancel();
            over.cancel();
            worked
        };
        // Subscribes before the work starts, so that no event of the first step is missed.
        let pulse = engine.pulse();
        let said = told(args, &engine, pulse, &over);
        let (traced, kept_small) = (engine_args::traced(&engine, &stop), engine_args::kept_small(&engine, &stop));
        tokio::join!(work, times, traced, kept_small, said).0?;
        ui::say("stopped; no step is running here any more");
        Ok(ExitCode::SUCCESS)
    })
}

/// Prints what happens to the worker's steps, unless `--quiet` is set.
async fn told(args: &Args, engine: &Engine, pulse: Receiver<EngineEvent>, over: &CancellationToken) {
    if !args.quiet {
        WorkerLog::of(engine).tell(pulse, over).await;
    }
}

/// The store, the project and the labels of a worker.
fn standing(args: &Args, engine: &Engine) -> Result<String> {
    let project = engine.project().map_or_else(String::new, |project| format!(" in the project {project}"));
    Ok(format!(
        "on {}{project}, with the labels {}",
        engine_args::store_name(&args.engine)?,
        engine.labels().join(", ")
    ))
}

/// Start a new run from a step of an earlier one
///
/// The steps before that step keep their results.
#[derive(Debug, clap::Args)]
pub(crate) struct ForkArgs {
    /// The id of the run, or its first characters
    run: String,
    /// The first step to run again
    #[arg(long, value_name = "STEP")]
    at: String,
    /// A changed input, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE")]
    input: Vec<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn fork(args: &ForkArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        let run = engine.find(&args.run).await?;
        let at = args.at.parse().map_err(anyhow::Error::msg)?;
        let loaded = engine.load(&run).await?;
        let inputs = inputs::read(&args.input, Some(&loaded.plan.0))?;
        let forking = Forking { at: Some(at), inputs, ..Forking::default() };
        let forked = App::new(engine.clone()).fork(&run, forking, &identity::caller()).await?;
        if args.json {
            ui::print_json(&serde_json::json!({"run": forked, "from": run}))?;
        } else {
            ui::print_line(&forked)?;
            ui::say(format!("continue with: longhaul resume {forked}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}
