//! Prints figures to standard output, and everything else to standard error.

use std::io::Write as _;

use anyhow::Result;

/// Prints data.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print_line(serde_json::to_string_pretty(value)?)
}

/// Prints a line of data.
pub(crate) fn print_line(text: impl std::fmt::Display) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Prints a message to standard error.
pub(crate) fn say(text: impl std::fmt::Display) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}
