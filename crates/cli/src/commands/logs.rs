//! `longhaul logs`: what the attempts of a run printed, from its files.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::Engine;
use serde_json::json;

use crate::office::{self, AgentArgs, EngineArgs};
use crate::ui;

/// How much is carried at once.
const CHUNK_BYTES: u64 = 64 << 10;
/// How long to wait for more.
const PAUSE: Duration = Duration::from_millis(100);

/// Print what the attempts of a run printed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run, or the beginning of its id
    run: String,
    /// Only this step, and those inside it
    step: Option<String>,
    /// Go on as things happen, until the run is over
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
        let engine = office::open(&args.engine, &AgentArgs::default())?;
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
            read: HashMap::new(),
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
    attempts: Vec<(StepPath, u32)>,
    /// Whose output was printed last.
    shown: Option<(usize, &'static str)>,
    /// Bytes of each output that were printed.
    read: HashMap<(usize, &'static str), u64>,
}

impl Reader<'_> {
    /// Finds attempts that were begun since the last look.
    async fn look(&mut self) -> Result<()> {
        loop {
            let events = self.engine.events(&self.run, self.after, 1000).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.after = last.seq;
            for envelope in events {
                match envelope.event {
                    Event::AttemptStarted { path, attempt, .. } if self.is_wanted(&path) => {
                        self.attempts.push((path, attempt))
                    }
                    _ => {}
                }
            }
        }
    }

    fn is_wanted(&self, path: &StepPath) -> bool {
        let Some(step) = &self.step else { return true };
        let (path, step) = (path.to_string(), step.to_string());
        path.strip_prefix(&step).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[', '#']))
    }

    /// Prints what is new; whether there was something.
    fn print(&mut self) -> Result<bool> {
        let mut printed = false;
        for at in 0..self.attempts.len() {
            for stream in ["stdout", "stderr"] {
                printed |= self.print_new((at, stream))?;
            }
        }
        Ok(printed)
    }

    fn print_new(&mut self, key: (usize, &'static str)) -> Result<bool> {
        let (path, attempt) = &self.attempts[key.0];
        let file = self.engine.attempt_dir(&self.run, path, *attempt).join(key.1);
        let mut printed = false;
        loop {
            let from = self.read.get(&key).copied().unwrap_or(0);
            let bytes = read_from(&file, from)?;
            if bytes.is_empty() {
                return Ok(printed);
            }
            self.read.insert(key, from + bytes.len() as u64);
            self.print_bytes(key, &bytes)?;
            printed = true;
        }
    }

    fn print_bytes(&mut self, key: (usize, &'static str), bytes: &[u8]) -> Result<()> {
        let (path, attempt) = &self.attempts[key.0];
        if self.json {
            let text = String::from_utf8_lossy(bytes);
            let piece = json!({"path": path, "attempt": attempt, "stream": key.1, "text": text});
            return ui::print_line(piece);
        }
        if self.shown.replace(key) != Some(key) {
            let stream = if key.1 == "stderr" { " stderr" } else { "" };
            ui::say(ui::dim(format!("── {path}@{attempt}{stream}")));
        }
        let mut out = ui::out();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }
}

/// The next bytes of a file; none where there is no file.
fn read_from(file: &Path, from: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut opened = match std::fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(bytes),
        Err(error) => return Err(error).with_context(|| format!("{} can not be read", file.display())),
    };
    opened.seek(SeekFrom::Start(from))?;
    opened.take(CHUNK_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
