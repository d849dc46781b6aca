//! Keeps the old names of commands: they work, and name the new command.

use std::process::ExitCode;

use anyhow::Result;

use super::tell::{self, RunArgs, What};
use super::{proposals, versions};
use crate::ui;

/// Commands that have another name now. They do not appear in any help.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Renamed {
    #[command(hide = true)]
    Shelve(versions::ShelveArgs),
    #[command(hide = true)]
    Versions(versions::OldArgs),
    #[command(hide = true)]
    Rollback(versions::RollbackArgs),
    #[command(hide = true)]
    Proposals(proposals::Args),
    #[command(hide = true)]
    Leave(RunArgs),
}

pub(crate) fn run(command: Renamed) -> Result<ExitCode> {
    match command {
        Renamed::Shelve(args) => {
            note(args.json, "shelve", "registry push");
            versions::shelve(&args)
        }
        Renamed::Versions(args) => match args.split() {
            Ok(args) => {
                note(args.json, "versions NAME", "registry versions NAME");
                versions::run(&args)
            }
            Err(args) => {
                note(args.json, "versions", "registry list");
                versions::list_all(&args)
            }
        },
        Renamed::Rollback(args) => {
            note(args.json, "rollback", "registry rollback");
            versions::rollback(&args)
        }
        Renamed::Proposals(args) => {
            note(args.json, "proposals", "registry proposals");
            proposals::run(&args)
        }
        Renamed::Leave(args) => {
            note(args.json, "leave", "machines abandon");
            tell::whole(args, What::Leave)
        }
    }
}

/// Prints the new name of a command, but not with `--json`.
fn note(json: bool, old: &str, new: &str) {
    if !json {
        ui::say(format!("note: `longhaul {old}` is now `longhaul {new}`; the old name still works in this version"));
    }
}
