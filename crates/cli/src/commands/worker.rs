//! `longhaul worker`: drives every run that has something to do. `longhaul fork`: a new run from an old one.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_core::id::RunId;
use longhaul_runtime::{Engine, ForkRequest, Pulse, Wanted};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

use crate::duties::Duties;
use crate::office::{self, AgentArgs, EngineArgs, WorkerArgs};
use crate::{inputs, ui};

/// Drive queued and waiting runs, and let schedules fire, until stopped
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Say nothing about the steps it takes
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
    office::block_on(async {
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        let opened = office::open_for_worker(&args.engine, &args.agents, &args.worker, &stop).await?;
        let Some(engine) = opened else { return Ok(ExitCode::SUCCESS) };
        office::warn_of_no_project(&engine)?;
        if let Some(login) = engine.login() {
            let labels = engine.labels();
            for label in args.worker.labels().filter(|label| !labels.contains(label)) {
                ui::say(format!(
                    "warning: the login `{login}` may not have the label {label}: steps that ask for it are not given to it"
                ));
            }
            ui::say(format!(
                "working {}, for whoever drives the runs, with the login `{login}`; Ctrl-C stops what is under way",
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
            "working {}; Ctrl-C stops what is under way and records it, a second one quits at once",
            standing(args, &engine)?
        ));
        let place = args.engine.clone();
        let find = move |wanted: Wanted<'_>| office::startable(&place, wanted);
        let kept = |kept: Result<&RunId, &longhaul_runtime::Error>| ui::say(office::kept(kept));
        let times = engine.keep_times(&find, stop.clone(), &kept);
        let over = CancellationToken::new();
        let work = async {
            let worked = engine.work(stop.clone()).await;
            stop.cancel();
            over.cancel();
            worked
        };
        // Heard from here on, so that nothing is missed of the first step.
        let pulse = engine.pulse();
        let said = told(args, &engine, pulse, &over);
        let (traced, kept_small) = (office::traced(&engine, &stop), office::kept_small(&engine, &stop));
        tokio::join!(work, times, traced, kept_small, said).0?;
        ui::say("stopped; nothing is under way here any more");
        Ok(ExitCode::SUCCESS)
    })
}

/// Says what becomes of the steps that it takes, unless that is left out.
async fn told(args: &Args, engine: &Engine, pulse: Receiver<Pulse>, over: &CancellationToken) {
    if !args.quiet {
        Duties::of(engine).tell(pulse, over).await;
    }
}

/// On which store a worker works, for which project, and as what.
fn standing(args: &Args, engine: &Engine) -> Result<String> {
    let project = engine.project().map_or_else(String::new, |project| format!(" in the project {project}"));
    Ok(format!("on {}{project}, with the labels {}", office::store_name(&args.engine)?, engine.labels().join(", ")))
}

/// Start a new run that shares the past of another one up to a step
#[derive(Debug, clap::Args)]
pub(crate) struct ForkArgs {
    /// The run, or the beginning of its id
    run: String,
    /// The step that is the first to be done again
    #[arg(long, value_name = "STEP")]
    at: String,
    /// Another input, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE")]
    input: Vec<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn fork(args: &ForkArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let run = engine.find(&args.run).await?;
        let at = args.at.parse().map_err(anyhow::Error::msg)?;
        let loaded = engine.load(&run).await?;
        let inputs = inputs::read(&args.input, Some(&loaded.plan.0))?;
        let request = ForkRequest { inputs, ..ForkRequest::from(at) };
        let forked = engine.fork(&run, request).await?;
        if args.json {
            ui::print_json(&serde_json::json!({"run": forked, "from": run}))?;
        } else {
            ui::print_line(&forked)?;
            ui::say(format!("continue with: longhaul resume {forked}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}
