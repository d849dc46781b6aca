//! `longhaul workers`: lists the workers of this store and their work.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_core::duration::format_ms;
use longhaul_runtime::{Present, Roster};

use crate::engine_args::{self, EngineArgs};
use crate::ui;

/// A worker that is silent for longer than this is not listed.
const LONG_MS: i64 = 5 * 60 * 1000;

/// List workers, their machines and work, and steps that wait for one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also list idle workers that have been silent for long
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let roster = engine_args::open_what_is_there(&args.engine)?.roster().await?;
        if args.json {
            ui::print_json(&roster)?;
        } else {
            print(&roster, args.all)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn print(roster: &Roster, all: bool) -> Result<()> {
    if roster.workers.is_empty() {
        ui::say("no worker is running; start one with: longhaul worker");
    }
    let (gone, shown): (Vec<&Present>, Vec<&Present>) =
        roster.workers.iter().partition(|worker| !all && is_gone(worker, roster));
    for worker in shown {
        ui::print_line(line(worker, roster.now))?;
    }
    if !gone.is_empty() {
        let are = if gone.len() == 1 { "is" } else { "are" };
        ui::say(format!(
            "{} of which nothing is heard {are} left out; --all shows more",
            ui::count(gone.len(), "worker")
        ));
    }
    for open in &roster.waiting {
        ui::print_line(format!("{}  {}", ui::dim(&open.duty.run), open.text))?;
    }
    Ok(())
}

/// Whether a worker can be left out of the list: it holds no attempt, and it has been silent for minutes or a newer
/// worker has its name.
fn is_gone(worker: &Present, roster: &Roster) -> bool {
    let came_after = |other: &Present| {
        (&other.name, &other.host) == (&worker.name, &worker.host)
            && (other.seen, &other.id) > (worker.seen, &worker.id)
    };
    let is_old = roster.now.saturating_sub(worker.seen) > LONG_MS || roster.workers.iter().any(came_after);
    worker.silent && worker.busy == 0 && is_old
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 10_000_000;

    fn worker(id: &str, name: &str, seen: i64, busy: u32) -> Present {
        let (host, version, login) = ("alpha".to_owned(), String::new(), None);
        let (id, name, labels, holds) = (id.to_owned(), name.to_owned(), Vec::new(), Vec::new());
        let silent = NOW - seen > 30_000;
        Present { id, name, host, login, labels, slots: 1, busy, version, since: 0, seen, silent, holds }
    }

    fn gone(workers: Vec<Present>) -> Vec<String> {
        let roster = Roster { now: NOW, workers, others: Vec::new(), waiting: Vec::new() };
        let gone = roster.workers.iter().filter(|worker| is_gone(worker, &roster));
        gone.map(|worker| worker.id.clone()).collect()
    }

    #[test]
    fn only_who_is_silent_for_long_and_holds_nothing_is_left_out() {
        let (short, long) = (NOW - LONG_MS + 1, NOW - LONG_MS - 1);
        assert_eq!(gone(vec![worker("1", "a", short, 0), worker("2", "b", long, 0)]), ["2"]);
        assert!(gone(vec![worker("1", "a", long, 1)]).is_empty(), "what it holds is to be seen");
        assert_eq!(
            gone(vec![worker("1", "a", short, 0), worker("2", "a", short + 1, 0)]),
            ["1"],
            "the last of a name stays"
        );
        assert!(gone(vec![worker("1", "a", NOW, 0), worker("2", "a", NOW, 0)]).is_empty(), "both are there");
    }
}
