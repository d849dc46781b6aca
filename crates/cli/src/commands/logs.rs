//! `longhaul logs`: what the attempts of a run printed, and what its agents said and did, from its files.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_agents::contract::Entry;
use longhaul_core::event::{Event, Usage};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::Engine;
use serde_json::json;

use crate::live::{self, Live};
use crate::office::{self, EngineArgs};
use crate::{story, ui};

/// How much is carried at once.
const CHUNK_BYTES: u64 = 64 << 10;
/// How long to wait for more.
const PAUSE: Duration = Duration::from_millis(100);

/// What an agent said and did.
const TRANSCRIPT: &str = "transcript.jsonl";
/// The files of an attempt that are printed.
const STREAMS: [&str; 3] = [TRANSCRIPT, "stdout", "stderr"];

/// Print what the attempts of a run printed, and what its agents said and did
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run, or the beginning of its id
    run: String,
    /// Only this step, and those inside it
    step: Option<String>,
    /// Continue as things happen, until the run is over
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON, a piece a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let step = args.step.as_ref().map(|step| step.parse()).transpose().map_err(anyhow::Error::msg)?;
        let mut reader = Reader {
            engine: &engine,
            run,
            step,
            json: args.json,
            after: 0,
            attempts: Vec::new(),
            shown: None,
            open_line: false,
            foreign: ui::Foreign::for_stdout(),
            read: HashMap::new(),
            live: Live::default(),
        };
        loop {
            // In this order: what was printed before the end is there once the end is.
            let over = engine.load(&reader.run).await?.state.is_finished();
            reader.look().await?;
            let printed = reader.print()?;
            if over || !args.follow {
                break;
            }
            if !printed {
                tokio::time::sleep(PAUSE).await;
            }
        }
        reader.end()?;
        match (&args.step, reader.attempts.is_empty()) {
            (Some(step), true) => bail!("no attempt of `{step}` was made in {}", reader.run),
            _ => Ok(ExitCode::SUCCESS),
        }
    })
}

/// What was read so far.
struct Reader<'a> {
    engine: &'a Engine,
    run: RunId,
    step: Option<StepPath>,
    json: bool,
    /// The last event that was looked at.
    after: u64,
    attempts: Vec<Attempt>,
    /// Whose output was printed last.
    shown: Option<(usize, &'static str)>,
    /// Whether what was printed last did not end its line.
    open_line: bool,
    foreign: ui::Foreign,
    /// Bytes of each output that were printed.
    read: HashMap<(usize, &'static str), u64>,
    /// Lines of agents that are not complete.
    live: Live,
}

/// An attempt that was begun.
struct Attempt {
    path: StepPath,
    number: u32,
    /// What it used, once it is over; taken when that was printed.
    used: Option<Usage>,
}

impl Reader<'_> {
    /// Finds attempts that were begun since the last look.
    async fn look(&mut self) -> Result<()> {
        loop {
            let events = self.engine.events(&self.run, self.after, 1000).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.after = last.seq;
            for envelope in events {
                self.note(&envelope.event);
            }
        }
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::AttemptStarted { path, attempt, host, .. } if self.is_wanted(path) => {
                self.say_where(path, *attempt, host.as_deref());
                self.attempts.push(Attempt { path: path.clone(), number: *attempt, used: None });
            }
            Event::AttemptClaimed { path, attempt, host, .. } if self.is_wanted(path) => {
                self.say_where(path, *attempt, host.as_deref());
            }
            Event::AttemptSucceeded { path, attempt, .. }
            | Event::AttemptFailed { path, attempt, .. }
            | Event::AttemptStopped { path, attempt, .. } => {
                let known = self.attempts.iter_mut().find(|known| known.number == *attempt && known.path == *path);
                if let Some(known) = known {
                    known.used = Some(story::used(event).unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// Files are where the attempt was made.
    fn say_where(&self, path: &StepPath, attempt: u32, host: Option<&str>) {
        let is_here = || self.engine.attempt_dir(&self.run, path, attempt).exists();
        match host.filter(|_| !is_here()) {
            Some(host) if self.engine.host() == Some(host) => {
                ui::say(format!("`{path}` left no files in attempt {attempt}"))
            }
            Some(host) => ui::say(format!("`{path}` left no files here; it was made on {host}")),
            None => {}
        }
    }

    fn is_wanted(&self, path: &StepPath) -> bool {
        let Some(step) = &self.step else { return true };
        ui::is_at(&path.to_string(), &step.to_string())
    }

    /// Prints what is new; whether there was something.
    fn print(&mut self) -> Result<bool> {
        let mut printed = false;
        for at in 0..self.attempts.len() {
            for stream in STREAMS {
                printed |= self.print_new((at, stream))?;
            }
            // What was said before the end was read above.
            self.print_end(at)?;
        }
        Ok(printed)
    }

    fn print_new(&mut self, key: (usize, &'static str)) -> Result<bool> {
        let Attempt { path, number, .. } = &self.attempts[key.0];
        let file = self.engine.attempt_dir(&self.run, path, *number).join(key.1);
        let mut printed = false;
        loop {
            let from = self.read.get(&key).copied().unwrap_or(0);
            let bytes =
                if key.1 == TRANSCRIPT { read_lines(&file, from)? } else { read_from(&file, from, CHUNK_BYTES)? };
            if bytes.is_empty() {
                return Ok(printed);
            }
            self.read.insert(key, from + bytes.len() as u64);
            if key.1 == TRANSCRIPT {
                self.print_entries(key.0, &bytes)?
            } else {
                self.print_bytes(key, &bytes)?
            }
            printed = true;
        }
    }

    /// Prints what an agent said and did: whole lines of its transcript.
    fn print_entries(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        for line in String::from_utf8_lossy(bytes).lines() {
            // A version to come may keep more than this one knows.
            let Ok(entry) = serde_json::from_str::<Entry>(line) else { continue };
            let Attempt { path, number, .. } = &self.attempts[at];
            if self.json {
                ui::print_json_line(&json!({"path": path, "attempt": number, "entry": entry}))?;
            } else {
                let lines = self.live.lines(path, &entry);
                self.print_lines(at, lines)?;
            }
        }
        Ok(())
    }

    /// Prints what an agent used whose attempt is over.
    fn print_end(&mut self, at: usize) -> Result<()> {
        let told = !self.json && self.read.contains_key(&(at, TRANSCRIPT));
        let Some(used) = self.attempts[at].used.take().filter(|_| told) else { return Ok(()) };
        let path = &self.attempts[at].path;
        let lines: Vec<String> = self.live.rest(path).into_iter().chain(live::cost(path, &used)).collect();
        self.print_lines(at, lines)
    }

    fn print_lines(&mut self, at: usize, lines: Vec<String>) -> Result<()> {
        for line in lines {
            self.head((at, TRANSCRIPT))?;
            ui::print_line(line)?;
        }
        Ok(())
    }

    fn print_bytes(&mut self, key: (usize, &'static str), bytes: &[u8]) -> Result<()> {
        let Attempt { path, number, .. } = &self.attempts[key.0];
        if self.json {
            let text = String::from_utf8_lossy(bytes);
            let piece = json!({"path": path, "attempt": number, "stream": key.1, "text": text});
            return ui::print_json_line(&piece);
        }
        self.head(key)?;
        let mut out = std::io::stdout().lock();
        out.write_all(&self.foreign.push(bytes))?;
        self.open_line = !bytes.ends_with(b"\n");
        Ok(out.flush()?)
    }

    /// Ends a line that a command left open: what comes next is none of it.
    fn end_line(&mut self) -> Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(&self.foreign.finish())?;
        if std::mem::take(&mut self.open_line) {
            writeln!(out)?;
        }
        Ok(())
    }

    /// Ends the last line, where a person sees it. A program gets what was printed and nothing else.
    fn end(&mut self) -> Result<()> {
        self.open_line &= self.foreign.is_terminal();
        self.end_line()
    }

    /// Says whose output comes, where that changes.
    fn head(&mut self, key: (usize, &'static str)) -> Result<()> {
        if self.shown.replace(key) != Some(key) {
            self.end_line()?;
            let Attempt { path, number, .. } = &self.attempts[key.0];
            let stream = if key.1 == "stderr" { " stderr" } else { "" };
            ui::say(ui::dim(format!("── {path}@{number}{stream}")));
        }
        Ok(())
    }
}

/// The next whole lines of a file, at least one however long it is; none while there is none.
fn read_lines(file: &Path, from: u64) -> Result<Vec<u8>> {
    let mut most = CHUNK_BYTES;
    loop {
        let mut bytes = read_from(file, from, most)?;
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            bytes.truncate(end + 1);
            return Ok(bytes);
        }
        if (bytes.len() as u64) < most {
            return Ok(Vec::new());
        }
        most *= 2;
    }
}

/// The next bytes of a file; none where there is no file.
fn read_from(file: &Path, from: u64, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut opened = match std::fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(bytes),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", file.display())),
    };
    opened.seek(SeekFrom::Start(from))?;
    opened.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
