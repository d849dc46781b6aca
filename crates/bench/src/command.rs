//! `longhaul-bench`: measures the engine on this machine, and compares it with the limits of the machine.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use longhaul_store::Synchronous;

use crate::{Around, Bench, Part, Setting, Sizes, child, measure, program, report, stream, ui, watched};

/// Measure the engine, and compare it with the limits of this machine
///
/// Everything happens in a folder that is removed afterwards. Each figure is compared with the speed of the machine itself in the same
/// minutes: single-row commits, bare processes. Exits with 1 if something cannot be measured, or if a count is wrong; a missed target is only shown.
#[derive(Debug, clap::Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Use tiny sizes, to test that it works
    #[arg(long)]
    smoke: bool,
    /// Only these workloads
    #[arg(long, value_enum, value_name = "WORKLOAD")]
    only: Vec<Part>,
    /// The folder for the files; its disk is part of the measurement
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// How safe a commit is: `full` survives a power loss, `normal` survives the end of the process
    #[arg(long, value_enum, default_value_t = Sync::Full)]
    synchronous: Sync,
    /// Measure a fleet: workers around a PostgreSQL database, compared with `pgbench`
    #[arg(long)]
    fleet: bool,
    /// The database of the fleet, postgres://…, in which schemas can be made [default: starts one for the measurement]
    #[arg(long, value_name = "ADDRESS", requires = "fleet")]
    store: Option<String>,
    /// The folder of the PostgreSQL programs [default: the newest on this machine]
    #[arg(long, value_name = "FOLDER")]
    pg_bin: Option<PathBuf>,
    /// The `longhaul` to measure [default: the one beside this program; cargo builds it if it is missing]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// The part of a workload that is a process of its own
    #[arg(long, hide = true, value_name = "STORE")]
    child: Option<PathBuf>,
    /// The agent of a workload
    #[arg(long, hide = true, value_name = "FOLDER")]
    talk: Option<PathBuf>,
    /// The watchers of a run
    #[arg(long, hide = true, value_name = "WHERE")]
    watch: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sync {
    Full,
    Normal,
}

impl From<Sync> for Synchronous {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Full => Self::Full,
            Sync::Normal => Self::Normal,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(folder) = &args.talk {
        return stream::talk(folder).map(|()| ExitCode::SUCCESS);
    }
    if let Some(at) = &args.watch {
        return block_on(watched::watch(at)).map(|()| ExitCode::SUCCESS);
    }
    let bench = bench(args)?;
    if let Some(store) = &args.child {
        return block_on(child(&bench, store, &args.only)).map(|()| ExitCode::SUCCESS);
    }
    all(args, &bench)
}

fn bench(args: &Args) -> Result<Bench> {
    let sizes = if args.smoke { Sizes::SMOKE } else { Sizes::FULL };
    let around = Around { address: args.store.clone(), programs: args.pg_bin.clone() };
    let program = program::find(args.program.as_deref())?;
    Bench::new(Setting { parent: args.dir.clone(), synchronous: args.synchronous.into(), program }, sizes, around)
}

/// Measures the chosen parts, and prints the figures.
fn all(args: &Args, bench: &Bench) -> Result<ExitCode> {
    let (mut figures, mut failed) = (Vec::new(), false);
    for part in parts(args) {
        ui::say(format!("{}…", part.name()));
        match block_on(measure(bench, part)) {
            Ok(more) => figures.extend(more),
            Err(error) => {
                failed = true;
                ui::say(format!("{} was not measured: {error:#}", part.name()));
            }
        }
    }
    if args.json {
        ui::print_json(&figures)?;
    } else {
        ui::print_line(report::table(&figures))?;
    }
    let wrong = failed || figures.iter().any(|figure| figure.is_wrong());
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn parts(args: &Args) -> Vec<Part> {
    match (args.only.as_slice(), args.fleet) {
        ([], true) => Part::FLEET.to_vec(),
        ([], false) => Part::ALL.to_vec(),
        (only, _) => only.to_vec(),
    }
}

/// With the same number of threads as the measured program.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(Duration::from_secs(10));
    result
}
