//! `longhaul help`: the daily commands, all commands, or one command.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Command;

use crate::{manual, ui};

/// Show the daily commands; `help all` shows every command
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `all`, or a command such as `run` or `registry push`
    #[arg(value_name = "COMMAND")]
    of: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let text = match args.of.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["all"] => format!("{}\n", manual::all()),
        names => of(names)?,
    };
    ui::deliver(&text, None)?;
    Ok(ExitCode::SUCCESS)
}

/// The help of one command, or the first page.
fn of(names: &[&str]) -> Result<String> {
    let mut command = manual::command();
    command.build();
    let mut found: &mut Command = &mut command;
    for name in names {
        let Some(below) = found.find_subcommand_mut(name) else {
            bail!("there is no command `{}`; longhaul help all shows every command", names.join(" "));
        };
        found = below;
    }
    Ok(format!("{}\n", found.render_long_help().ansi().to_string().trim_end()))
}
