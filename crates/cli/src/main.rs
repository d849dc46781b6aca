//! The `longhaul` command.
//!
//! Data goes to stdout, talk to stderr. Exit codes: 0 all is well, 1 the answer is no (errors were found, a
//! run failed), 2 the question was wrong (unknown command, no such file).

mod builtin;
mod commands;
mod disk;
mod library;
mod project;
mod ui;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
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
