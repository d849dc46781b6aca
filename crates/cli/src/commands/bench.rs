//! `longhaul bench`: where the benchmarks went.

use std::process::ExitCode;

use anyhow::Result;

use crate::ui;

/// Say where the benchmarks are
#[derive(Debug, clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub(crate) struct Args {
    /// What the benchmarks were told before
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// The command that does today what this one did.
fn instead(rest: &[String]) -> String {
    let rest: String = rest.iter().map(|word| format!(" {word}")).collect();
    let rest = if rest.is_empty() { rest } else { format!(" --{rest}") };
    format!("cargo build --release && cargo run --release -p longhaul-bench{rest}")
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    ui::say(format!(
        "The benchmarks are a program of their own. In a checkout of Longhaul:\n  {}",
        instead(&args.rest)
    ));
    Ok(ExitCode::from(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_passed_on() {
        let bare = "cargo build --release && cargo run --release -p longhaul-bench";
        assert_eq!(instead(&[]), bare);
        assert_eq!(instead(&["--fleet".to_owned(), "--json".to_owned()]), format!("{bare} -- --fleet --json"));
    }
}
