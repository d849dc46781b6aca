//! The `longhaul` command.
//!
//! Data goes to stdout, talk to stderr. Exit codes: 0 all is well, 1 the answer is no (errors were found, a
//! run failed), 2 the question was wrong (unknown command, no such file).

mod amounts;
mod answering;
mod commands;
mod demo;
mod duties;
mod identity;
mod init;
mod inputs;
mod live;
mod manual;
mod office;
mod onlooker;
mod opening;
mod screen;
mod story;
mod trial;
mod ui;
mod width;

use std::process::ExitCode;

use clap::FromArgMatches;
use longhaul_agents::{machine, process, serve, shim, tool};

fn main() -> ExitCode {
    machine::prepare();
    if let Some(code) = beside_an_engine() {
        return code;
    }
    let matches = manual::command().get_matches();
    let cli = match commands::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) if ui::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// The processes beside an engine are this program under another name: the guard, which clears up after an engine that was
/// killed, the shims, below which agents continue, the agents that are no programs of their own, and calls of tools.
fn beside_an_engine() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let (name, of) = (args.next()?, args.next()?);
    let is_done = match name.to_str()? {
        process::GUARD_COMMAND => process::guard_main(of.to_str()?).is_ok(),
        shim::SHIM_COMMAND => shim::shim_main(of.as_ref()).is_ok(),
        serve::AGENT_COMMAND => return Some(serve::serve_main(of.to_str()?)),
        tool::TOOL_COMMAND => return Some(tool::tool_main(of.to_str()?)),
        _ => return None,
    };
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
