//! `longhaul machines`: continues runs whose machine is lost.

use std::process::ExitCode;

use anyhow::Result;

use super::tell::{self, RunArgs, What as Told};

/// Continue a run whose machine is lost
///
/// `longhaul workers` lists the workers and the machines they are on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Give up the files that a run has on a lost machine, and continue it on another one
    ///
    /// Use it when the machine will not come back, or when the run cannot wait. Files that were not sent to another place are not used any more.
    Abandon(RunArgs),
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.what {
        What::Abandon(args) => tell::whole(args, Told::Leave),
    }
}
