//! `longhaul-sim --seed N` shows one seed, `longhaul-sim --seeds A..B` runs many and continues after failures,
//! `longhaul-sim --fleet WORKERS RUNS SEED` plays a fleet.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::process::ExitCode;

use longhaul_testkit::fleet::{Size, play};
use longhaul_testkit::sim::{simulate, simulate_all, workflow};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--seed", seed] => seed.parse().map_or(ExitCode::FAILURE, one),
        ["--seeds", range] => range
            .split_once("..")
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
            .map_or(ExitCode::FAILURE, |(a, b)| many(a, b)),
        ["--fleet", workers, runs, seed] => match (workers.parse(), runs.parse(), seed.parse()) {
            (Ok(workers), Ok(runs), Ok(seed)) => fleet(seed, Size { workers, runs }),
            _ => ExitCode::FAILURE,
        },
        _ => {
            println!("longhaul-sim --seed N | --seeds A..B | --fleet WORKERS RUNS SEED");
            ExitCode::FAILURE
        }
    }
}

fn one(seed: u64) -> ExitCode {
    match simulate(seed) {
        Ok(summary) => {
            println!("{}\n{}", workflow(seed), summary.lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn fleet(seed: u64, size: Size) -> ExitCode {
    match play(seed, size) {
        Ok(report) => {
            println!("{report:?}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn many(from: u64, to: u64) -> ExitCode {
    let mut failed = 0;
    let mut events = 0;
    for outcome in simulate_all(from..to) {
        match outcome {
            Ok(summary) => events += summary.events,
            Err(why) => {
                failed += 1;
                let mut lines = why.lines();
                println!("{}", lines.by_ref().take(2).collect::<Vec<_>>().join(" | "));
            }
        }
    }
    println!("{} seeds, {events} events, {failed} failed", to - from);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
