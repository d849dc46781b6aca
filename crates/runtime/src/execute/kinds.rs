//! The kinds of work, one file each.

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

use longhaul_agents::contract::TranscriptEntry;
use longhaul_agents::machine::Shortage;
use longhaul_agents::private;
use longhaul_agents::process::Mark;
use longhaul_core::Json;
use longhaul_core::decide::Start;
use longhaul_core::event::{self, Event, Failure};
use longhaul_core::id::RunId;
use longhaul_core::plan::{Cache, Compat, ErrorClass, Output, Timeout, WorkKind};
use longhaul_core::task::TaskKey;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::engine::{EngineEvent, Shared, TranscriptLine};
use crate::execute::agent_defaults::AgentDefaults;
use crate::execute::secrets::{Readable, Secrets};
use crate::execute::workspace::sync::WorkspaceSync;
use longhaul_config::Choice;

/// An attempt to run.
pub(crate) struct Attempt {
    pub(crate) shared: Arc<Shared>,
    pub(crate) run: RunId,
    pub(crate) start: Start,
    pub(crate) output: Output,
    pub(crate) workflow_dir: PathBuf,
    /// The folder with the files of the run.
    pub(crate) workspace: PathBuf,
    /// How its files move between machines.
    pub(crate) baggage: WorkspaceSync,
    /// When it may reuse an earlier result.
    pub(crate) cache: Option<Cache>,
    pub(crate) secrets: Secrets,
    /// The variables that it may read through `env.X`.
    pub(crate) readable: Readable,
    pub(crate) cancel: CancellationToken,
    /// Whether another process started it, and its agent may be running.
    pub(crate) adopted: bool,
    /// The conversation of its agent, as the journal has it.
    pub(crate) session: Option<String>,
    /// Whether the journal says that its files were recorded.
    pub(crate) is_kept: bool,
    /// Denied tools of an adopted attempt that the journal has.
    pub(crate) denied: Vec<String>,
    pub(crate) news: AttemptSender,
    /// Behaviour of another system that its workflow relies on.
    pub(crate) compat: Vec<Compat>,
    /// The session of the client that started the run, if one did.
    pub(crate) owner_session: Option<String>,
    /// The defaults for its agents.
    pub(crate) told: AgentDefaults,
    /// The agent and the model of a prompt.
    pub(crate) choice: Option<Choice>,
    /// The last reported shortage of its machine.
    pub(crate) delay: Mutex<Option<Shortage>>,
}

/// Sends events of an attempt to its run before it ends.
#[derive(Debug, Clone)]
pub(crate) struct AttemptSender(pub(crate) mpsc::UnboundedSender<Event>);

impl AttemptSender {
    pub(crate) fn tell(&self, event: Event) {
        // This fails only if the run's loop has ended.
        let _ = self.0.send(event);
    }
}

/// The result of an attempt.
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

    /// The step or the machine is set up wrongly. Nothing was sent to an agent or a server.
    pub(crate) fn unusable(class: ErrorClass, message: impl Into<String>) -> Self {
        let mut done = Self::unspent(class, message);
        done.failure.iter_mut().for_each(|failure| failure.needs_person = true);
        done
    }

    /// It failed before anything was sent to an agent or a server.
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
    /// The path of its folder. It need not exist.
    pub(crate) fn place(&self) -> PathBuf {
        self.shared.artifacts.attempt_dir(&self.run, &self.start.path, self.start.attempt)
    }

    /// The folder for its files. Creates it.
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

    /// Its name among the attempts of all runs: `run/path@attempt`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.run, TaskKey::new(&self.start.path, self.start.attempt))
    }

    /// The mark of its processes, in their environment.
    pub(crate) fn mark(&self) -> Mark {
        Mark { engine: self.shared.worker.as_str().to_owned(), attempt: self.name() }
    }

    /// Its time limit; `usual` if the step has none.
    fn timeout(&self, usual: Option<Duration>) -> Option<Duration> {
        match self.start.timeout {
            Timeout::Kind => usual,
            Timeout::None => None,
            Timeout::After(ms) => Some(Duration::from_millis(ms)),
        }
    }

    /// Writes a text about the attempt for people. The journal does not depend on it.
    fn keep(&self, name: &str, text: &str) {
        if let Ok(folder) = self.folder() {
            let _ = private::replace(&folder.join(name), self.secrets.redact(text.to_owned()).as_bytes());
        }
    }

    /// An entry of its transcript without secrets.
    fn cleaned(&self, entry: TranscriptEntry) -> TranscriptEntry {
        if self.secrets.known().is_empty() {
            return entry;
        }
        let cleaned = serde_json::to_value(entry).map(|entry| self.secrets.redact_value(entry));
        // If an entry cannot be cleaned, do not show it.
        cleaned.and_then(serde_json::from_value).unwrap_or(TranscriptEntry::Alive)
    }

    /// Shows an entry of its transcript to all watchers.
    fn show(&self, number: u64, entry: TranscriptEntry) {
        if self.shared.pulse.receiver_count() == 0 {
            return;
        }
        let said = TranscriptLine { path: self.start.path.clone(), attempt: self.start.attempt, number, entry };
        let pulse = EngineEvent::Entry(self.run.clone(), Arc::new(said));
        // No watcher is fine.
        let _ = self.shared.pulse.send(pulse);
    }

    fn say(&self, text: &str) {
        let text = self.secrets.redact(text.to_owned());
        let pulse = EngineEvent::Output(self.run.clone(), self.start.path.clone(), text.into());
        // No watcher is fine.
        let _ = self.shared.pulse.send(pulse);
    }
}

/// Whether people may want to see the files of an attempt.
pub(crate) fn leaves_files(attempt: &Attempt) -> bool {
    attempt.start.kind != WorkKind::Noop
}

/// Runs an attempt.
pub(crate) async fn make(attempt: &Attempt) -> Done {
    match &attempt.start.kind {
        WorkKind::Run => run::make(attempt).await,
        WorkKind::Prompt => prompt::make(attempt).await,
        WorkKind::Http => http::make(attempt).await,
        WorkKind::Notify => notify::make(attempt).await,
        WorkKind::Glob => files::make(attempt).await,
        WorkKind::Noop => noop(attempt),
        WorkKind::Tool => Box::pin(tool::make(attempt)).await,
        WorkKind::Other(other) => {
            Done::unusable(ErrorClass::Failed, format!("`{other}` steps cannot be run by this version"))
        }
    }
}

/// Does nothing, and returns the given output. No workflow file has this kind; plans that measure the engine do.
fn noop(attempt: &Attempt) -> Done {
    Done::with(attempt.param("output").cloned().unwrap_or_default())
}

/// A value as text: texts as they are, everything else as JSON.
fn as_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The message for a value that is too large.
fn too_large(what: &str, most: usize) -> String {
    let most = if most.is_multiple_of(1 << 20) { format!("{} MiB", most >> 20) } else { format!("{most} bytes") };
    format!(
        "{what} larger than {most}, and nothing is cut; write it to a file and pass its name on, or raise `[values] max_mib` in \
         ~/.longhaul/config.toml"
    )
}
