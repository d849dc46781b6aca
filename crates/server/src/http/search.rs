//! Searches the transcripts and the output of a run.
//!
//! **Invariant:** a search reads all attempts whose files are here, newest step first, and says where it stopped if
//! there is too much. It reads a file line by line, so a huge one needs no memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use super::attempts::TRANSCRIPT;
use super::call::{Call, Reply};
use super::elsewhere;
use super::problem::Problem;
use super::runs::history;

/// The most places to return.
const FOUND_MAX: usize = 200;
/// The longest text to search for, in characters.
const TEXT_CHARS_MAX: usize = 200;
/// The longest line to search.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// How many characters to show on each side of the text.
const AROUND: usize = 80;
/// How long a search may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The places in a run where a text was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Found {
    found: Vec<Place>,
    /// Whether there is more that was not searched or not returned.
    more: bool,
    /// Machines with files of the run that are not here.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    elsewhere: BTreeSet<String>,
}

/// A place where a text was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FoundPlace")]
struct Place {
    path: StepPath,
    attempt: u32,
    /// The file: `transcript`, `stdout` or `stderr`.
    #[serde(rename = "in")]
    #[schemars(extend("enum" = ["transcript", "stdout", "stderr"]))]
    source: &'static str,
    /// The number of the transcript entry, or of the line; from 0.
    number: u64,
    /// The text before the place.
    before: String,
    /// The text itself, as it is written there.
    text: String,
    /// The text after the place.
    after: String,
}

pub(super) async fn search(call: Call) -> Result<Reply, Problem> {
    let text = call.query("text").unwrap_or_default().to_lowercase();
    if text.is_empty() || text.chars().count() > TEXT_CHARS_MAX {
        return Err(Problem::unreadable(format!("`text` must have 1 to {TEXT_CHARS_MAX} characters.")));
    }
    let (run, loaded) = call.load().await?;
    let engine = call.state().engine().clone();
    let only = call.query("path").map(super::call::path_of).transpose()?;
    let attempts = attempts(&history(&engine, &run, loaded.state.seq).await?, only.as_ref());
    let elsewhere = elsewhere::machines(&engine, &run).await?;
    let searched = tokio::task::spawn_blocking(move || Search::of(&engine, &run, attempts, &text)).await;
    let found = searched.map_err(|error| Problem::failing(error.to_string()))?;
    Reply::json(&Found { elsewhere, ..found })
}

/// All attempts, or those of one step; the newest first.
fn attempts(history: &[Envelope], only: Option<&StepPath>) -> Vec<(StepPath, u32)> {
    let started = history.iter().rev().filter_map(|envelope| match &envelope.event {
        Event::AttemptStarted { path, attempt, .. } => Some((path, *attempt)),
        _ => None,
    });
    started
        .filter(|(path, _)| only.is_none_or(|only| only == *path))
        .map(|(path, attempt)| (path.clone(), attempt))
        .collect()
}

/// A search, and what it has found.
struct Search<'a> {
    text: &'a str,
    began: Instant,
    found: Found,
}

impl<'a> Search<'a> {
    fn of(engine: &Engine, run: &RunId, attempts: Vec<(StepPath, u32)>, text: &'a str) -> Found {
        let mut search = Search { text, began: Instant::now(), found: Found::default() };
        for (path, attempt) in attempts {
            let folder = engine.attempt_dir(run, &path, attempt);
            for (source, file) in [("transcript", TRANSCRIPT), ("stdout", "stdout"), ("stderr", "stderr")] {
                search.file(&folder.join(file), &path, attempt, source);
                if search.is_full() {
                    search.found.more = true;
                    return search.found;
                }
            }
        }
        search.found
    }

    fn is_full(&self) -> bool {
        self.found.found.len() >= FOUND_MAX || self.began.elapsed() > PATIENCE
    }

    /// Searches a file, if there is one.
    fn file(&mut self, file: &Path, path: &StepPath, attempt: u32, source: &'static str) {
        let Ok(open) = File::open(file) else { return };
        let mut reader = BufReader::new(open);
        let mut lines = (0u64..).zip(std::iter::from_fn(|| next_line(&mut reader)));
        let mut spoken = Spoken::default();
        while !self.is_full() {
            let next = lines.next();
            let is_last = next.is_none();
            let whole = match next {
                Some((number, line)) if source == "transcript" => spoken.add(number, said(&line)),
                Some((number, line)) => Some((number, line)),
                None => spoken.end(),
            };
            if let Some((number, line)) = whole
                && let Some((before, text, after)) = excerpt(&line, self.text)
            {
                self.found.found.push(Place { path: path.clone(), attempt, source, number, before, text, after });
            }
            if is_last {
                return;
            }
        }
    }
}

/// A text of an agent that arrives in pieces.
#[derive(Default)]
struct Spoken {
    begun: Option<(u64, String)>,
}

impl Spoken {
    /// Adds an entry. Returns the text before it, if that is whole now.
    fn add(&mut self, number: u64, (text, continues): (String, bool)) -> Option<(u64, String)> {
        match &mut self.begun {
            Some((_, begun)) if continues && (begun.len() as u64) < LINE_BYTES_MAX => {
                begun.push_str(&text);
                None
            }
            begun => begun.replace((number, text)),
        }
    }

    fn end(&mut self) -> Option<(u64, String)> {
        self.begun.take()
    }
}

/// The next line. The rest of a very long one is a line of its own.
fn next_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    (read > 0).then(|| String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned())
}

/// The words of a transcript entry that people see, and whether they continue the text before.
fn said(line: &str) -> (String, bool) {
    use TranscriptEntry as Entry;
    match serde_json::from_str(line) {
        Ok(Entry::Text { text, delta }) => (text, delta),
        Ok(Entry::Thinking { text } | Entry::Notice { text } | Entry::ToolResult { text, .. }) => (text, false),
        Ok(Entry::ToolCall { name, summary, input, .. }) => (format!("{name} {summary} {input}"), false),
        Ok(_) | Err(_) => (String::new(), false),
    }
}

/// The first place of a text in a line, ignoring case, with the text around it.
fn excerpt(line: &str, text: &str) -> Option<(String, String, String)> {
    let at = place(line, text)?;
    let from = line[..at.start].char_indices().rev().nth(AROUND - 1).map_or(0, |(from, _)| from);
    let to = line[at.end..].char_indices().nth(AROUND).map_or(line.len(), |(to, _)| at.end + to);
    let plain = |part: &str| part.replace(['\n', '\r', '\t'], " ");
    Some((plain(&line[from..at.start]), plain(&line[at.clone()]), plain(&line[at.end..to])))
}

/// Where a text in small letters is in a line. Small letters can have another length than capital ones.
fn place(line: &str, text: &str) -> Option<std::ops::Range<usize>> {
    if line.is_ascii() {
        let start = line.to_ascii_lowercase().find(text)?;
        return Some(start..start + text.len());
    }
    let mut small = String::with_capacity(line.len());
    let mut starts = Vec::with_capacity(line.len());
    for (at, letter) in line.char_indices() {
        for lower in letter.to_lowercase() {
            starts.extend(std::iter::repeat_n(at, lower.len_utf8()));
            small.push(lower);
        }
    }
    let found = small.find(text)?;
    let last = starts[found + text.len() - 1];
    let end = last + line[last..].chars().next().map_or(0, char::len_utf8);
    Some(starts[found]..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, text: &str) -> Option<String> {
        excerpt(line, text).map(|(before, text, after)| format!("{before}[{text}]{after}"))
    }

    #[test]
    fn a_text_is_found_whatever_its_case_and_shown_with_its_neighbours() {
        assert_eq!(shown("an Error here", "error").as_deref(), Some("an [Error] here"));
        assert_eq!(shown("Größe: ÄRGER", "ärger").as_deref(), Some("Größe: [ÄRGER]"));
        // The small letter of this one has two characters.
        assert_eq!(shown("İstanbul is large", "is").as_deref(), Some("İstanbul [is] large"));
        assert_eq!(shown("nothing", "error"), None);
        let long = format!("{}needle{}", "é".repeat(500), "é".repeat(500));
        assert_eq!(shown(&long, "needle").unwrap().chars().count(), 2 * AROUND + "[needle]".len());
    }

    #[test]
    fn a_transcript_is_searched_by_what_people_see() {
        assert_eq!(said(r#"{"type":"text","text":"hello"}"#).0, "hello");
        let call = r#"{"type":"tool_call","id":"7","name":"Read","summary":"a.rs","input":{"file":"a.rs"}}"#;
        assert!(said(call).0.starts_with("Read a.rs"));
        assert_eq!(said(r#"{"type":"alive"}"#).0, "");
        assert_eq!(said("{half a line").0, "");
    }

    #[test]
    fn a_text_that_arrives_in_pieces_is_one_text() {
        let mut spoken = Spoken::default();
        let pieces = [("a nee", false), ("dle in", true), (" hay", true), ("next", false)];
        let whole: Vec<_> = (0..)
            .zip(pieces)
            .filter_map(|(at, (text, continues))| spoken.add(at, (text.to_owned(), continues)))
            .collect();
        assert_eq!(whole, [(0, "a needle in hay".to_owned())]);
        assert_eq!(spoken.end(), Some((3, "next".to_owned())));
    }

    #[test]
    fn a_line_without_an_end_is_read_in_pieces() {
        let size = usize::try_from(LINE_BYTES_MAX).unwrap();
        let text = "x".repeat(size + 3);
        let mut reader = std::io::Cursor::new(text);
        assert_eq!(next_line(&mut reader).unwrap().len(), size);
        assert_eq!(next_line(&mut reader).unwrap().len(), 3);
        assert_eq!(next_line(&mut reader), None);
    }
}
