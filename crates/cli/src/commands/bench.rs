//! `longhaul bench`: how fast the engine is on this machine, beside what the machine can do at all.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use longhaul_store::Synchronous;

use crate::bench::{self, Around, Bench, Part, Sizes, report};
use crate::{office, ui};

/// Measure the engine beside the limits of this machine
///
/// Everything happens in a folder that is removed afterwards. Figures are held against what the machine itself did in the same
/// minutes: single-row commits, bare processes. Exits with 1 if something cannot be measured or a count is wrong; a missed target is only shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny sizes: whether it works, not how fast
    #[arg(long)]
    smoke: bool,
    /// Only these
    #[arg(long, value_enum, value_name = "WORKLOAD")]
    only: Vec<Part>,
    /// Where the files go; the disk under it is part of what is measured
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// What a commit survives: the loss of power, or the end of the process
    #[arg(long, value_enum, default_value_t = Sync::Full)]
    synchronous: Sync,
    /// The workloads of a fleet: workers around a PostgreSQL database, beside `pgbench`
    #[arg(long)]
    fleet: bool,
    /// The database of the fleet, postgres://…, where schemas may be made [default: one that is started here for as long]
    #[arg(long, value_name = "ADDRESS", requires = "fleet")]
    store: Option<String>,
    /// Where the programs of PostgreSQL are [default: the newest of this machine]
    #[arg(long, value_name = "FOLDER")]
    pg_bin: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// The part of a workload that is a process of its own
    #[arg(long, hide = true, value_name = "STORE")]
    child: Option<PathBuf>,
    /// The agent of a workload
    #[arg(long, hide = true, value_name = "FOLDER")]
    talk: Option<PathBuf>,
    /// Those who watch a run
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
        return bench::talk(folder).map(|()| ExitCode::SUCCESS);
    }
    if let Some(at) = &args.watch {
        return office::block_on(bench::watch(at)).map(|()| ExitCode::SUCCESS);
    }
    let sizes = if args.smoke { Sizes::SMOKE } else { Sizes::FULL };
    let around = Around { address: args.store.clone(), programs: args.pg_bin.clone() };
    let bench = Bench::new(args.dir.clone(), args.synchronous.into(), sizes, around)?;
    if let Some(store) = &args.child {
        return office::block_on(bench::child(&bench, store, &args.only)).map(|()| ExitCode::SUCCESS);
    }
    let parts = match (args.only.as_slice(), args.fleet) {
        ([], true) => Part::FLEET.to_vec(),
        ([], false) => Part::ALL.to_vec(),
        (only, _) => only.to_vec(),
    };
    let (mut figures, mut failed) = (Vec::new(), false);
    for part in parts {
        ui::say(format!("{}…", part.name()));
        match office::block_on(bench::measure(&bench, part)) {
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
