//! `longhaul registry`: workflows that the store keeps for all its users, with their versions and proposals.

use std::process::ExitCode;

use anyhow::Result;

use super::{proposals, versions};

/// Share workflows through the store, and keep every version
///
/// `push` stores a file. `run NAME` then finds the workflow by its name, after the files of the project. `proposals` holds changes
/// that somebody suggested and that wait for a decision.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Push(versions::ShelveArgs),
    List(versions::ListArgs),
    Versions(versions::Args),
    Rollback(versions::RollbackArgs),
    Proposals(proposals::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Push(args) => versions::shelve(args),
        What::List(args) => versions::list_all(args),
        What::Versions(args) => versions::run(args),
        What::Rollback(args) => versions::rollback(args),
        What::Proposals(args) => proposals::run(args),
    }
}
