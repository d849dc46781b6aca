//! The `longhaul` command.
//!
//! Data goes to stdout, talk to stderr. Exit codes: 0 success, 1 the answer is no (errors were found, a run failed,
//! another caller was first), 2 the command was wrong (unknown command, no such file), 75 try again later.

mod answering;
mod asking;
mod background;
mod commands;
mod comparison;
mod demo;
mod editor;
mod engine_args;
mod format_event;
mod identity;
mod init;
mod inputs;
mod leaving;
mod live;
mod manual;
mod names;
mod numbers;
mod printer;
mod rejected;
mod run_table;
mod screen;
mod test_runner;
mod times;
mod ui;
mod unknown;
mod width;
mod worker_log;

use std::process::ExitCode;

use clap::FromArgMatches;
use longhaul_agents::{machine, mcp, process, serve, shim, tool};

fn main() -> ExitCode {
    machine::prepare();
    if let Some(code) = beside_an_engine() {
        return code;
    }
    let matches = match manual::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return wrong(&error),
    };
    let cli = match commands::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) if ui::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui::complain(&error);
            ExitCode::from(rejected::exit_code_of(&error))
        }
    }
}

/// Prints help that the user asked for, or an error about a command line that cannot be parsed.
fn wrong(error: &clap::Error) -> ExitCode {
    let first = std::env::args().nth(1);
    let Some(text) = unknown::explain(error, first.as_deref()) else { error.exit() };
    ui::say(text);
    ExitCode::from(2)
}

/// The processes beside an engine are this program under another name: the guard, which cleans up after a killed
/// engine; the shims, under which agents continue; the built-in agents; the MCP servers of agents; and calls of
/// tools.
fn beside_an_engine() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let (name, of) = (args.next()?, args.next()?);
    let is_done = match name.to_str()? {
        process::GUARD_COMMAND => process::guard_main(of.to_str()?).is_ok(),
        shim::SHIM_COMMAND => shim::shim_main(of.as_ref()).is_ok(),
        serve::AGENT_COMMAND => return Some(serve::serve_main(of.to_str()?)),
        mcp::MCP_COMMAND => return Some(mcp::mcp_main(of.as_ref(), args.next()?.to_str()?)),
        tool::TOOL_COMMAND => return Some(tool::tool_main(of.to_str()?)),
        _ => return None,
    };
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
