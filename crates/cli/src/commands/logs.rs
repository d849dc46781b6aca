//! `longhaul logs`: prints the output of a run's attempts and the transcripts of its agents, from its files.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::event::{Event, Usage};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::Engine;
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::live::{self, Live};
use crate::names::{self, Names};
use crate::times::{self, Times};
use crate::{format_event, ui};

/// How many bytes are read at once.
const CHUNK_BYTES: u64 = 64 << 10;
/// How long to wait for more.
const PAUSE: Duration = Duration::from_millis(100);

/// The transcript of an agent.
const TRANSCRIPT: &str = "transcript.jsonl";
/// The files of an attempt that are printed.
const STREAMS: [&str; 3] = [TRANSCRIPT, "stdout", "stderr"];

/// Print the output of a run's steps, and what its agents did
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the run, or its first characters
    run: String,
    /// Only this step and the steps inside it
    step: Option<String>,
    /// Keep printing new output until the run is over
    #[arg(long, short)]
    follow: bool,
    /// Print times in UTC [default: the local time zone]
    #[arg(long)]
    utc: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON, one piece per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let loaded = engine.load(&run).await?;
        let step = args.step.as_ref().map(|step| names::meant(&loaded, step)).transpose()?;
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
            names: Names::of(&loaded),
            times: Times::new(args.utc),
        };
        loop {
            // In this order: if the run is over now, all its output can be read below.
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

/// The state of reading: what was printed so far.
struct Reader<'a> {
    engine: &'a Engine,
    run: RunId,
    step: Option<StepPath>,
    json: bool,
    /// The last event that was read.
    after: u64,
    attempts: Vec<Attempt>,
    /// The attempt and the stream whose output was printed last.
    shown: Option<(usize, &'static str)>,
    /// Whether the last printed output did not end its line.
    open_line: bool,
    foreign: ui::Foreign,
    /// The number of printed bytes of each stream.
    read: HashMap<(usize, &'static str), u64>,
    /// Incomplete lines of agents.
    live: Live,
    names: Names,
    times: Times,
}

/// A started attempt.
struct Attempt {
    path: StepPath,
    number: u32,
    /// When it started.
    at: i64,
    /// What it used, once it is over; `None` again after it was printed.
    used: Option<Usage>,
}

impl Reader<'_> {
    /// Finds attempts that started since the last call.
    async fn look(&mut self) -> Result<()> {
        loop {
            let events = self.engine.events(&self.run, self.after, 1000).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.after = last.seq;
            for envelope in events {
                self.names.note(&envelope.event);
                self.note(&envelope.event, envelope.at);
            }
        }
    }

    fn note(&mut self, event: &Event, at: i64) {
        match event {
            Event::AttemptStarted { path, attempt, host, .. } if self.is_wanted(path) => {
                self.say_where(path, *attempt, host.as_deref());
                self.attempts.push(Attempt { path: path.clone(), number: *attempt, at, used: None });
            }
            Event::ResultKept { path, was: Some(was), .. } if self.step.is_some() && self.is_wanted(path) => {
                let run = &self.run;
                ui::say(format!("`{path}` keeps what `{was}` made; see: longhaul logs {run} {was}"));
            }
            Event::AttemptClaimed { path, attempt, host, .. } if self.is_wanted(path) => {
                self.say_where(path, *attempt, host.as_deref());
            }
            Event::AttemptSucceeded { path, attempt, .. }
            | Event::AttemptFailed { path, attempt, .. }
            | Event::AttemptStopped { path, attempt, .. } => {
                let known = self.attempts.iter_mut().find(|known| known.number == *attempt && known.path == *path);
                if let Some(known) = known {
                    known.used = Some(format_event::used(event).unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// Says on which machine the files of an attempt are.
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

    /// Prints new output; returns whether there was some.
    fn print(&mut self) -> Result<bool> {
        let mut printed = false;
        for at in 0..self.attempts.len() {
            for stream in STREAMS {
                printed |= self.print_new((at, stream))?;
            }
            // The output before the end was read above.
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

    /// Prints whole lines of an agent's transcript.
    fn print_entries(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        for line in String::from_utf8_lossy(bytes).lines() {
            // A later version may write entries that this one does not know.
            let Ok(entry) = serde_json::from_str::<TranscriptEntry>(line) else { continue };
            let Attempt { path, number, at: started, .. } = &self.attempts[at];
            if self.json {
                ui::print_json_line(
                    &json!({"path": path, "attempt": number, "started": times::rfc3339(*started), "entry": entry}),
                )?;
            } else {
                let lines = self.live.lines(path, &entry);
                self.print_lines(at, lines)?;
            }
        }
        Ok(())
    }

    /// Prints what an agent used, when its attempt is over.
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
        let Attempt { path, number, at, .. } = &self.attempts[key.0];
        if self.json {
            let text = String::from_utf8_lossy(bytes);
            let piece =
                json!({"path": path, "attempt": number, "started": times::rfc3339(*at), "stream": key.1, "text": text});
            return ui::print_json_line(&piece);
        }
        self.head(key)?;
        let mut out = std::io::stdout().lock();
        out.write_all(&self.foreign.push(bytes))?;
        self.open_line = !bytes.ends_with(b"\n");
        Ok(out.flush()?)
    }

    /// Ends a line that a command left open, so that the next output starts on its own line.
    fn end_line(&mut self) -> Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(&self.foreign.finish())?;
        if std::mem::take(&mut self.open_line) {
            writeln!(out)?;
        }
        Ok(())
    }

    /// Ends the last line on a terminal. A program gets exactly the printed bytes.
    fn end(&mut self) -> Result<()> {
        self.open_line &= self.foreign.is_terminal();
        self.end_line()
    }

    /// Prints a heading when the output of another step follows.
    fn head(&mut self, key: (usize, &'static str)) -> Result<()> {
        if self.shown.replace(key) != Some(key) {
            self.end_line()?;
            let Attempt { path, number, at, .. } = &self.attempts[key.0];
            let stream = if key.1 == "stderr" { " stderr" } else { "" };
            let about = self.names.about(path).map_or_else(String::new, |about| format!(" ({about})"));
            let (day, time) = self.times.stamp(*at);
            let day = day.map_or_else(String::new, |day| format!("{day} "));
            ui::say(ui::dim(format!("── {path}@{number}{stream}{about} · {day}{time}")));
        }
        Ok(())
    }
}

/// The next whole lines of a file, at least one, however long it is; empty if there is no whole line.
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

/// The next bytes of a file; empty if the file does not exist.
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
