//! The attempts of a step, and the files in their folders.
//!
//! **Invariant:** only files that an engine writes for an attempt are sent. The client names a step and a number, never
//! a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_runtime::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Call, Reply};
use super::elsewhere;
use super::problem::Problem;
use super::runs::history;

/// The most bytes of an output to send at once.
const PRINTED_BYTES_MAX: u64 = 256 << 10;
/// The most bytes of a transcript to send at once.
const ENTRIES_BYTES_MAX: usize = 1 << 20;
/// The file with the words and actions of an agent.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
/// The longest prompt that is shown.
const PROMPT_BYTES_MAX: u64 = 1 << 20;

/// An attempt, and the data that exists about it.
#[derive(Debug, Serialize, JsonSchema)]
struct Attempt {
    #[serde(flatten)]
    attempt: view::Attempt,
    /// The prompt of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// The data that you can ask for: `transcript`, `stdout`, `stderr`.
    has: Vec<&'static str>,
}

/// The attempts of a step, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attempts {
    path: StepPath,
    attempts: Vec<Attempt>,
}

pub(super) async fn attempts(call: Call) -> Result<Reply, Problem> {
    let path = call.path()?;
    let (run, loaded) = call.load().await?;
    reached(&loaded.state, &path, &run)?;
    let engine = call.state().engine();
    let known = view::attempts(&history(engine, &run, loaded.state.seq).await?, &path);
    let attempts: Vec<Attempt> = known.into_iter().map(|attempt| with_files(engine, &run, &path, attempt)).collect();
    Reply::json(&Attempts { path, attempts })
}

fn reached(state: &longhaul_core::state::State, path: &StepPath, run: &RunId) -> Result<(), Problem> {
    let step = state.find(path);
    step.map(drop).ok_or_else(|| Problem::missing(format!("No step `{path}` was reached in {run}.")))
}

fn with_files(engine: &Engine, run: &RunId, path: &StepPath, attempt: view::Attempt) -> Attempt {
    let folder = engine.attempt_dir(run, path, attempt.attempt);
    let has = [("transcript", TRANSCRIPT), ("stdout", "stdout"), ("stderr", "stderr")];
    let has = has.into_iter().filter(|(_, file)| folder.join(file).is_file()).map(|(word, _)| word);
    let mut prompt = Vec::new();
    let read =
        File::open(folder.join("prompt.md")).and_then(|file| file.take(PROMPT_BYTES_MAX).read_to_end(&mut prompt));
    let prompt = read.ok().map(|_| String::from_utf8_lossy(&prompt).into_owned());
    Attempt { attempt, prompt, has: has.collect() }
}

/// The attempt that a query names, if its files can be here.
async fn named(call: &Call) -> Result<(RunId, StepPath, u32), Problem> {
    let path = call.path()?;
    let number = call.number("attempt", 0, 1..=u64::from(u32::MAX))?;
    let number = u32::try_from(number).ok().filter(|number| *number > 0);
    let number = number.ok_or_else(|| Problem::unreadable("`attempt` is missing in the query."))?;
    let (run, loaded) = call.load().await?;
    reached(&loaded.state, &path, &run)?;
    elsewhere::is_here(call.state().engine(), &run, &path, number).await?;
    Ok((run, path, number))
}

/// A part of a transcript.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Transcript {
    entries: Vec<TranscriptEntry>,
    next: u64,
    more: bool,
}

pub(super) async fn transcript(call: Call) -> Result<Reply, Problem> {
    let (run, path, attempt) = named(&call).await?;
    let after = call.number("after", 0, 0..=u64::MAX >> 1)?;
    let limit = call.number("limit", 1000, 1..=5000)?;
    let file = call.state().engine().attempt_dir(&run, &path, attempt).join(TRANSCRIPT);
    Reply::json(&entries(&file, after, limit)?)
}

fn entries(file: &Path, after: u64, limit: u64) -> Result<Transcript, Problem> {
    let mut page = Transcript { entries: Vec::new(), next: after, more: false };
    let Some(open) = opened(file)? else { return Ok(page) };
    let mut bytes = 0;
    for (number, line) in (0u64..).zip(BufReader::new(open).split(b'\n')) {
        let line = line.map_err(|error| Problem::failing(error.to_string()))?;
        if number < after {
            continue;
        }
        if page.next - after >= limit || bytes >= ENTRIES_BYTES_MAX {
            page.more = true;
            break;
        }
        // The line is incomplete, or a later version wrote it.
        let Ok(entry) = serde_json::from_slice(&line) else { break };
        bytes += line.len();
        page.entries.push(entry);
        page.next = number + 1;
    }
    Ok(page)
}

/// A part of the output of an attempt.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Printed {
    text: String,
    next: u64,
    more: bool,
}

pub(super) async fn printed(call: Call) -> Result<Reply, Problem> {
    let stream = match call.query("stream") {
        None | Some("stdout") => "stdout",
        Some("stderr") => "stderr",
        Some(_) => return Err(Problem::unreadable("`stream` must be stdout or stderr.")),
    };
    let (run, path, attempt) = named(&call).await?;
    let after = call.number("after", 0, 0..=u64::MAX >> 1)?;
    let file = call.state().engine().attempt_dir(&run, &path, attempt).join(stream);
    Reply::json(&piece(&file, after)?)
}

fn piece(file: &Path, after: u64) -> Result<Printed, Problem> {
    let Some(mut open) = opened(file)? else { return Ok(Printed { text: String::new(), next: after, more: false }) };
    let failed = |error: std::io::Error| Problem::failing(error.to_string());
    let size = open.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    open.seek(SeekFrom::Start(after)).map_err(failed)?;
    open.take(PRINTED_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    let more = after + (bytes.len() as u64) < size;
    if more {
        // Do not cut a character in two.
        while bytes.last().is_some_and(|byte| *byte & 0xC0 == 0x80) && bytes.len() > 4 {
            bytes.pop();
        }
        if bytes.last().is_some_and(|byte| *byte >= 0xC0) && bytes.len() > 1 {
            bytes.pop();
        }
    }
    let next = after + bytes.len() as u64;
    Ok(Printed { text: String::from_utf8_lossy(&bytes).into_owned(), next, more })
}

/// A file, if there is one.
fn opened(file: &Path) -> Result<Option<File>, Problem> {
    match File::open(file) {
        Ok(open) => Ok(Some(open)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::failing(error.to_string())),
    }
}
