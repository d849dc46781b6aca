//! What each kind of work does, one a file.

pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod notify;
pub(crate) mod prompt;
mod run;
mod tool;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_agents::contract::Entry;
use longhaul_agents::machine::Shortage;
use longhaul_agents::private;
use longhaul_agents::process::Mark;
use longhaul_core::Json;
use longhaul_core::decide::Start;
use longhaul_core::event::{self, Event, Failure};
use longhaul_core::id::RunId;
use longhaul_core::plan::{Cache, Compat, ErrorClass, Output, Timeout};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::backends::Choice;
use crate::engine::{Pulse, Said, Shared};
use crate::execute::agent_defaults::Told;
use crate::execute::secrets::{Readable, Secrets};
use crate::execute::workspace::sync::Baggage;

/// An attempt to be made.
pub(crate) struct Attempt {
    pub(crate) shared: Arc<Shared>,
    pub(crate) run: RunId,
    pub(crate) start: Start,
    pub(crate) output: Output,
    pub(crate) workflow_dir: PathBuf,
    /// Where the files are that its run works on.
    pub(crate) workspace: PathBuf,
    /// What it has to do with files of other machines.
    pub(crate) baggage: Baggage,
    /// When an earlier result may be used.
    pub(crate) cache: Option<Cache>,
    pub(crate) secrets: Secrets,
    /// Which variables it may read through `env.X`.
    pub(crate) readable: Readable,
    pub(crate) cancel: CancellationToken,
    /// Whether another process began it, and its agent may be running.
    pub(crate) adopted: bool,
    /// The conversation of its agent that the journal knows.
    pub(crate) session: Option<String>,
    /// Whether the journal knows that its files were recorded.
    pub(crate) is_kept: bool,
    pub(crate) news: News,
    /// Behaviour of another system that its workflow relies on.
    pub(crate) compat: Vec<Compat>,
    /// The session of the client that started the run, where one did.
    pub(crate) owner_session: Option<String>,
    /// What was said about its agents beside the workflow.
    pub(crate) told: Told,
    /// Of a prompt: who makes it.
    pub(crate) choice: Option<Choice>,
    /// What its machine is short of, as it was last told.
    pub(crate) delay: Mutex<Option<Shortage>>,
}

/// How an attempt tells its run something before it is over.
#[derive(Debug, Clone)]
pub(crate) struct News(pub(crate) mpsc::UnboundedSender<Event>);

impl News {
    pub(crate) fn tell(&self, event: Event) {
        // Nobody listens any more only if the run's loop has ended.
        let _ = self.0.send(event);
    }
}

/// What came of an attempt.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) result: event::Result,
    pub(crate) failure: Option<Failure>,
}

impl Done {
    pub(crate) fn with(output: impl Into<Json>) -> Self {
        Self { result: event::Result { output: output.into(), ..event::Result::default() }, failure: None }
    }

    pub(crate) fn failed(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { result: event::Result::default(), failure: Some(Failure::new(class, message)) }
    }

    /// It cannot be done as it is written, or as this machine is set up. Nothing was asked of anybody.
    pub(crate) fn unusable(class: ErrorClass, message: impl Into<String>) -> Self {
        let mut done = Self::unspent(class, message);
        done.failure.iter_mut().for_each(|failure| failure.needs_person = true);
        done
    }

    /// It failed before anything was asked of anybody.
    pub(crate) fn unspent(class: ErrorClass, message: impl Into<String>) -> Self {
        let mut done = Self::failed(class, message);
        done.result.usage = Some(event::Usage::default());
        done
    }

    pub(crate) fn redact(&mut self, secrets: &Secrets) {
        let clean = |text: &mut String| *text = secrets.redact(std::mem::take(text));
        self.result.output = secrets.redact_value(self.result.output.take());
        self.result.stdout.as_mut().map(clean);
        self.result.stderr.as_mut().map(clean);
        if let Some(failure) = &mut self.failure {
            clean(&mut failure.message);
        }
    }
}

impl Attempt {
    /// Where its files go, whether there are any or not.
    pub(crate) fn place(&self) -> PathBuf {
        self.shared.artifacts.attempt_dir(&self.run, &self.start.path, self.start.attempt)
    }

    /// The folder for its files, made.
    pub(crate) fn folder(&self) -> io::Result<PathBuf> {
        self.shared.artifacts.attempt(&self.run, &self.start.path, self.start.attempt)
    }

    fn param(&self, name: &str) -> Option<&Json> {
        self.start.params.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.param(name)?.as_str()
    }

    /// The folder that the work runs in.
    pub(crate) fn cwd(&self) -> PathBuf {
        let workspace = &self.workspace;
        self.start.cwd.as_ref().map_or_else(|| workspace.clone(), |cwd| workspace.join(cwd))
    }

    /// What its processes carry in their environment.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            engine: self.shared.worker.as_str().to_owned(),
            attempt: format!("{}/{}@{}", self.run, self.start.path, self.start.attempt),
        }
    }

    /// How long it may take; `usual` where the step does not say.
    fn timeout(&self, usual: Option<Duration>) -> Option<Duration> {
        match self.start.timeout {
            Timeout::Kind => usual,
            Timeout::None => None,
            Timeout::After(ms) => Some(Duration::from_millis(ms)),
        }
    }

    /// Keeps a text about the attempt for people; the journal does not depend on it.
    fn keep(&self, name: &str, text: &str) {
        if let Ok(folder) = self.folder() {
            let _ = private::replace(&folder.join(name), self.secrets.redact(text.to_owned()).as_bytes());
        }
    }

    /// An entry of its transcript as it may be kept and shown: without secrets.
    fn cleaned(&self, entry: Entry) -> Entry {
        if self.secrets.known().is_empty() {
            return entry;
        }
        let cleaned = serde_json::to_value(entry).map(|entry| self.secrets.redact_value(entry));
        // What cannot be cleaned is not shown.
        cleaned.and_then(serde_json::from_value).unwrap_or(Entry::Alive)
    }

    /// Shows an entry of its transcript to whoever watches.
    fn show(&self, number: u64, entry: Entry) {
        if self.shared.pulse.receiver_count() == 0 {
            return;
        }
        let said = Said { path: self.start.path.clone(), attempt: self.start.attempt, number, entry };
        let pulse = Pulse::Entry(self.run.clone(), Arc::new(said));
        // Nobody watching is fine.
        let _ = self.shared.pulse.send(pulse);
    }

    fn say(&self, text: &str) {
        let text = self.secrets.redact(text.to_owned());
        let pulse = Pulse::Output(self.run.clone(), self.start.path.clone(), text.into());
        // Nobody watching is fine.
        let _ = self.shared.pulse.send(pulse);
    }
}

/// Whether people may want to look at what an attempt left.
pub(crate) fn leaves_files(attempt: &Attempt) -> bool {
    attempt.start.kind != "noop"
}

/// Makes an attempt.
pub(crate) async fn make(attempt: &Attempt) -> Done {
    match attempt.start.kind.as_str() {
        "run" => run::make(attempt).await,
        "prompt" => prompt::make(attempt).await,
        "http" => http::make(attempt).await,
        "notify" => notify::make(attempt).await,
        "glob" => files::make(attempt).await,
        "noop" => noop(attempt),
        "tool" => Box::pin(tool::make(attempt)).await,
        other => Done::unusable(ErrorClass::Failed, format!("`{other}` steps cannot be run by this version")),
    }
}

/// Nothing at all, with the output that it was given. No workflow file can say it: plans that measure the engine do.
fn noop(attempt: &Attempt) -> Done {
    Done::with(attempt.param("output").cloned().unwrap_or_default())
}

/// A value as text: texts as they are, everything else as JSON.
fn as_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is said about something that is larger than a value may be.
fn too_large(what: &str, most: usize) -> String {
    let most = if most.is_multiple_of(1 << 20) { format!("{} MiB", most >> 20) } else { format!("{most} bytes") };
    format!(
        "{what} larger than {most}, and nothing is cut; write it to a file and pass its name on, or raise `[values] max_mib` in \
         ~/.longhaul/config.toml"
    )
}
