//! Writing to the terminal.

use std::io::{self, IsTerminal, Write};
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
    if out.is_terminal() {
        writeln!(out, "{}", harmless_json(&serde_json::to_string_pretty(value)?))?;
        return Ok(());
    }
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// A line of data as JSON.
pub(crate) fn print_json_line(value: &serde_json::Value) -> Result<()> {
    let mut out = io::stdout().lock();
    let text = value.to_string();
    let text = if out.is_terminal() { harmless_json(&text) } else { text };
    writeln!(out, "{text}")?;
    Ok(())
}

/// JSON that means the same, and has nothing in it that a terminal would obey.
fn harmless_json(text: &str) -> String {
    let one = |c: char| match c {
        '\n' => c.to_string(),
        c if longhaul_lang::diagnostic::plain(c.encode_utf8(&mut [0; 4])).starts_with(c) => c.to_string(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(one).collect()
}

/// Prints a text of others and ends its line: as it is through a pipe, without anything that a terminal would obey on one.
pub(crate) fn print_foreign(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut shown = Foreign::new(out.is_terminal());
    out.write_all(&shown.push(text.as_bytes()))?;
    out.write_all(&shown.finish())?;
    Ok(out.write_all(b"\n")?)
}

/// A stream of bytes of others on its way to standard output.
///
/// **Invariant:** through a pipe every byte passes as it is; on a terminal no control character does but the ends of lines and tabs.
#[derive(Debug)]
pub(crate) struct Foreign {
    is_terminal: bool,
    /// The beginning of a character, or of the end of a line.
    held: Vec<u8>,
}

impl Foreign {
    /// For standard output as it is.
    pub(crate) fn for_stdout() -> Self {
        Self::new(io::stdout().is_terminal())
    }

    fn new(is_terminal: bool) -> Self {
        Self { is_terminal, held: Vec::new() }
    }

    /// Whether a person sees it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// What can be printed now.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if !self.is_terminal {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        let rest = self.held.split_off(self.held.len() - open_end(&self.held));
        let whole = std::mem::replace(&mut self.held, rest);
        shown(&whole)
    }

    /// What is left, now that nothing follows.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        shown(&std::mem::take(&mut self.held))
    }
}

/// How many bytes at the end may mean something else with what follows them.
fn open_end(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\r") {
        return 1;
    }
    let broken = bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    // What breaks off is shorter than the longest character, four bytes.
    if broken < 4 { broken } else { 0 }
}

fn shown(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let lines = text.split('\n').map(|line| line.split('\t').map(longhaul_lang::diagnostic::plain).collect::<Vec<_>>());
    lines.map(|parts| parts.join("\t")).collect::<Vec<_>>().join("\n").into_bytes()
}

/// A line of data.
pub(crate) fn print_line(text: impl std::fmt::Display) -> Result<()> {
    Ok(writeln!(out(), "{text}")?)
}

/// Writes data to a file, or to standard output.
pub(crate) fn deliver(text: &str, file: Option<&Path>) -> Result<()> {
    match file {
        Some(file) => std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display())),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn through(is_terminal: bool, pieces: &[&[u8]]) -> Vec<u8> {
        let mut foreign = Foreign::new(is_terminal);
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| foreign.push(piece)).collect();
        out.extend(foreign.finish());
        out
    }

    #[test]
    fn a_terminal_obeys_nothing_however_it_is_cut() {
        let text = "a\t\u{1b}]52;c;eA==\u{7}b\r\nc\rd\u{9b}2Jé\u{202e}\n".as_bytes();
        let expected = "a\t␛]52;c;eA==␇b\nc␍d\u{fffd}2Jé\u{fffd}\n".as_bytes();
        for cut in 0..text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(through(true, &[first, second]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_pipe_gets_every_byte() {
        let bytes = b"\x1b]0;x\x07\r\xff\x00\xc3";
        assert_eq!(through(false, &[bytes]), bytes);
    }

    #[test]
    fn json_means_the_same_on_a_terminal() {
        let text = serde_json::to_string("a\u{9b}b\u{7f}\u{202e}é").unwrap();
        let shown = harmless_json(&text);
        assert_eq!(shown, "\"a\\u009bb\\u007f\\u202eé\"");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "a\u{9b}b\u{7f}\u{202e}é");
    }
}
