//! The `longhaul` command.
//!
//! Data goes to stdout, talk to stderr. Exit codes: 0 all is well, 1 the answer is no (errors were found, a
//! run failed), 2 the question was wrong (unknown command, no such file).

mod bench;
mod builtin;
mod commands;
mod disk;
mod library;
mod office;
mod project;
mod settings;
mod story;
mod trusted;
mod ui;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if let Some(code) = guard().or_else(agent) {
        return code;
    }
    let cli = commands::Cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) if ui::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// The process that clears up after an engine that was killed is this program under another name.
fn guard() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    (args.next().as_deref() == Some(longhaul_agents::process::GUARD_COMMAND)).then_some(())?;
    let engine = args.next()?;
    Some(match longhaul_agents::process::guard_main(&engine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// An agent that is no program of its own is this one under another name.
fn agent() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    (args.next().as_deref() == Some(longhaul_agents::serve::AGENT_COMMAND))
        .then(|| longhaul_agents::serve::serve_main(args))
}
