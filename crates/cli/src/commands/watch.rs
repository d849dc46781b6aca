//! `longhaul watch` and `longhaul top`: shows runs live.

use std::process::ExitCode;

use anyhow::{Result, bail};
use tokio_util::sync::CancellationToken;

use super::runs;
use crate::engine_args::{self, EngineArgs};
use crate::screen::terminal;
use crate::screen::top::Top;
use crate::screen::watch::Watch;
use crate::ui;

/// Watch a run that runs elsewhere, and answer its questions
///
/// Shows a tree of the steps, with keys to open, approve, pause and cancel. Leaving it changes nothing. Without a terminal, or with `--plain`,
/// it prints line by line.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the run, or its first characters
    run: String,
    /// Print line by line
    #[arg(long)]
    plain: bool,
    /// Print events as JSON, one per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Watch all runs of this project; Enter opens one
///
/// Without a terminal, use `longhaul runs`.
#[derive(Debug, clap::Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.plain || args.json || !terminal::can_draw() {
        return runs::follow(&args.run, &args.engine, args.json);
    }
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let stop = CancellationToken::new();
        engine_args::stop_on_signals(stop.clone())?;
        Watch::new(engine.clone(), run.clone(), "leave").observe(false, stop).await?;
        let state = engine.load(&run).await?.state;
        if state.has_failed() {
            runs::say_changed(&args.engine, &engine, &run).await;
        }
        if !state.is_finished() {
            ui::say(format!("{run} is as it was; if no engine is running it: longhaul resume {run}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn top(args: &TopArgs) -> Result<ExitCode> {
    if !terminal::can_draw() {
        bail!("there is no terminal to draw on; `longhaul runs` lists the same, `longhaul runs --json` for programs");
    }
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let stop = CancellationToken::new();
        engine_args::stop_on_signals(stop.clone())?;
        Top::new(engine).show(stop).await?;
        Ok(ExitCode::SUCCESS)
    })
}
