//! `longhaul worker`: drives every run that has something to do. `longhaul fork`: a new run from an old one.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_core::id::RunId;
use longhaul_project::Project;
use longhaul_runtime::{ForkRequest, Wanted};
use tokio_util::sync::CancellationToken;

use crate::duties::Duties;
use crate::office::{self, AgentArgs, EngineArgs, WorkerArgs};
use crate::{inputs, ui};

/// Drive queued and waiting runs, and let schedules go off, until stopped
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
        let engine = office::open_as(Project::current()?, &args.engine, &args.agents, &args.worker)?;
        office::warn_of_no_project(&engine)?;
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        if let Some(login) = engine.login() {
            ui::say(format!(
                "working for whoever drives the runs, with the login `{login}`; Ctrl-C stops what is under way"
            ));
            engine.work(stop).await?;
            return Ok(ExitCode::SUCCESS);
        }
        ui::say("working; Ctrl-C stops what is under way and records it, a second one quits at once");
        let place = args.engine.clone();
        let find = move |wanted: Wanted<'_>| office::startable(&place, wanted);
        let told = |kept: Result<&RunId, &longhaul_runtime::Error>| ui::say(office::kept(kept));
        let times = engine.keep_times(&find, stop.clone(), &told);
        let over = CancellationToken::new();
        let work = async {
            let worked = engine.work(stop.clone()).await;
            stop.cancel();
            over.cancel();
            worked
        };
        // Heard from here on, so that nothing is missed of the first step.
        let pulse = engine.pulse();
        let said = async {
            if !args.quiet {
                Duties::of(&engine).tell(pulse, &over).await;
            }
        };
        let (traced, kept_small) = (office::traced(&engine, &stop), office::kept_small(&engine, &stop));
        tokio::join!(work, times, traced, kept_small, said).0?;
        ui::say("stopped; nothing is under way here any more");
        Ok(ExitCode::SUCCESS)
    })
}

/// Start a new run that shares the past of another one up to a step
#[derive(Debug, clap::Args)]
pub(crate) struct ForkArgs {
    /// The run, or the beginning of its id
    run: String,
    /// The step that is the first to be done anew
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
            ui::say(format!("go on with: longhaul resume {forked}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}
