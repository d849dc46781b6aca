//! `longhaul watch` and `longhaul top`: looking at runs while they continue.

use std::process::ExitCode;

use anyhow::{Result, bail};
use tokio_util::sync::CancellationToken;

use super::runs;
use crate::office::{self, EngineArgs};
use crate::screen::terminal;
use crate::screen::top::Top;
use crate::screen::watch::Watch;
use crate::ui;

/// Watch a run that continues elsewhere, and answer what it asks
///
/// A tree of its steps, with keys to open, approve, pause and cancel; leaving it changes nothing. Without a terminal, or with `--plain`,
/// what happens is printed line by line.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run, or the beginning of its id
    run: String,
    /// Print line by line
    #[arg(long)]
    plain: bool,
    /// Print what happens as JSON, an event a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Watch all runs; enter opens one
///
/// Without a terminal, `longhaul runs` has the same.
#[derive(Debug, clap::Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.plain || args.json || !terminal::can_draw() {
        return runs::follow(&args.run, &args.engine, args.json);
    }
    office::block_on(async {
        let engine = office::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        Watch::new(engine.clone(), run.clone(), "leave").observe(false, stop).await?;
        if !engine.load(&run).await?.state.is_finished() {
            ui::say(format!("{run} is as it was; if no engine is running it: longhaul resume {run}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn top(args: &TopArgs) -> Result<ExitCode> {
    if !terminal::can_draw() {
        bail!("there is no terminal to draw on; `longhaul runs` lists the same, `longhaul runs --json` for programs");
    }
    office::block_on(async {
        let engine = office::open_what_is_there(&args.engine)?;
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        Top::new(engine).show(stop).await?;
        Ok(ExitCode::SUCCESS)
    })
}
