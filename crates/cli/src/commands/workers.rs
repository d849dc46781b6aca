//! `longhaul workers`: who works for this store, and on what.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_core::duration::format_ms;
use longhaul_runtime::{Present, Roster};

use crate::office::{self, EngineArgs};
use crate::ui;

/// List the workers of this store: where they are, what they can and do, and what waits for one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let roster = office::open_what_is_there(&args.engine)?.roster().await?;
        if args.json {
            ui::print_json(&roster)?;
        } else {
            print(&roster)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn print(roster: &Roster) -> Result<()> {
    if roster.workers.is_empty() {
        ui::say("no worker has said that it is there; start one with: longhaul worker");
    }
    for worker in &roster.workers {
        ui::print_line(line(worker, roster.now))?;
    }
    for open in &roster.waiting {
        ui::print_line(format!("{}  {}", ui::dim(&open.duty.run), open.text))?;
    }
    Ok(())
}

fn line(worker: &Present, now: i64) -> String {
    let ago = u64::try_from(now - worker.seen).unwrap_or_default() / 1000 * 1000;
    let seen = match (worker.silent, ago) {
        (true, _) => ui::bad(format!("silent for {}", format_ms(ago))),
        (false, 0) => "seen just now".to_owned(),
        (false, _) => format!("seen {} ago", format_ms(ago)),
    };
    let host = if worker.host.is_empty() { String::new() } else { format!(" on {}", worker.host) };
    let host = worker.login.as_ref().map_or(host.clone(), |login| format!("{host} with login {login}"));
    format!(
        "{}{host}  {}/{} busy  {seen}  {}",
        ui::bold(&worker.name),
        worker.busy,
        worker.slots,
        ui::dim(worker.labels.join(", "))
    )
}
