//! Writing to the terminal.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use serde::Serialize;

/// Where data goes. Colours are dropped when nobody sees them.
pub(crate) fn out() -> anstream::AutoStream<io::StdoutLock<'static>> {
    anstream::AutoStream::auto(io::stdout().lock())
}

/// Prints data as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// A line of data.
pub(crate) fn print_line(text: impl std::fmt::Display) -> Result<()> {
    Ok(writeln!(out(), "{text}")?)
}

/// Writes data to a file, or to standard output.
pub(crate) fn deliver(text: &str, file: Option<&Path>) -> Result<()> {
    match file {
        Some(file) => std::fs::write(file, text).with_context(|| format!("{} can not be written", file.display())),
        None => Ok(out().write_all(text.as_bytes())?),
    }
}

/// Says something to the person, beside the data.
pub(crate) fn say(text: impl std::fmt::Display) {
    // Nobody to talk to is no reason to stop.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Says what went wrong, with its causes.
pub(crate) fn complain(error: &anyhow::Error) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let causes: Vec<String> = error.chain().map(|cause| longhaul_lang::diagnostic::plain(&cause.to_string())).collect();
    say(format!("{red}error{red:#}: {}", causes.join(": ")));
}

/// Whether the reader of our output has gone away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let direct = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let through_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        direct.or(through_json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// `text` in bold.
pub(crate) fn bold(text: impl std::fmt::Display) -> String {
    let bold = Style::new().bold();
    format!("{bold}{text}{bold:#}")
}

/// `text` so that it steps back.
pub(crate) fn dim(text: impl std::fmt::Display) -> String {
    let dim = Style::new().dimmed();
    format!("{dim}{text}{dim:#}")
}

/// `text` as good news.
pub(crate) fn good(text: impl std::fmt::Display) -> String {
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    format!("{green}{text}{green:#}")
}

/// The same for counts of runs, which are larger.
pub(crate) fn count_of(n: u64, word: &str) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), word)
}

/// "1 step", "2 steps".
pub(crate) fn count(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// `text` as bad news.
pub(crate) fn bad(text: impl std::fmt::Display) -> String {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    format!("{red}{text}{red:#}")
}

/// Whether colours are seen on standard output.
pub(crate) fn has_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// What to type to call this program: its name where a shell finds it by that, else where it is.
pub(crate) fn program() -> String {
    const NAME: &str = "longhaul";
    let Ok(this) = std::env::current_exe() else { return NAME.to_owned() };
    let real = std::fs::canonicalize(&this).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    let is_found = first.is_some_and(|file| real.is_some() && std::fs::canonicalize(file).ok() == real);
    if is_found { NAME.to_owned() } else { this.display().to_string() }
}

/// Text of others, of several lines perhaps, without anything that a terminal would obey.
pub(crate) fn clean(text: &str) -> String {
    let lines = text.lines().map(|line| longhaul_lang::diagnostic::plain(&line.replace('\t', "    ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// A value as people read it: text as it is, everything else as JSON.
pub(crate) fn readable(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Whether a path is that of a step, or of something inside it.
pub(crate) fn is_at(path: &str, step: &str) -> bool {
    path.strip_prefix(step).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[', '#']))
}
