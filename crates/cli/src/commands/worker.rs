//! `longhaul worker`: runs every run that has work.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use longhaul_runtime::{Engine, EngineEvent, Wanted};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

use crate::background::leash;
use crate::engine_args::{self, AgentArgs, EngineArgs, WorkerArgs};
use crate::ui;
use crate::worker_log::WorkerLog;

/// Run queued and waiting runs, and fire schedules, until stopped
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print nothing about the steps
    #[arg(long, short)]
    quiet: bool,
    /// A worker of the background engine: it ends when standard input does, or after that many seconds without a run
    #[arg(long, hide = true, value_name = "SECONDS")]
    leash: Option<u64>,
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
        let notified = engine_args::notified(&engine, &stop, args.quiet);
        let leashed = leashed(args, &engine, &stop);
        tokio::join!(work, times, traced, kept_small, notified, said, leashed).0?;
        if engine.is_draining() {
            // Its agents continue, and the next engine attaches to them. A normal end would stop them.
            std::process::exit(0);
        }
        ui::say("stopped; no step is running here any more");
        if args.leash.is_some() {
            // The thread that reads the leash cannot be ended.
            std::process::exit(0);
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Ends a worker of the background engine that is let go, or that has nothing left to do.
async fn leashed(args: &Args, engine: &Engine, stop: &CancellationToken) {
    let Some(seconds) = args.leash else { return };
    match leash::held(engine, Duration::from_secs(seconds), stop).await {
        Some(leash::End::Leaves) => engine.drain(),
        Some(leash::End::Idle) => stop.cancel(),
        None => {}
    }
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
