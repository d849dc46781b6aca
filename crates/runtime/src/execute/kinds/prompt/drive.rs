//! A turn of an agent that is a program: starts it under a shim, or finds one that is still running.
//!
//! **Invariant:** the conversation is recorded as soon as it has an id. An agent is stopped only because the run wants
//! it, its time is up, or it shows no sign of life; never because this process ends.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_agents::contract::{
    Agent, Errand, Exit, InstalledAgent, Invocation, Meter, Reader, Stopped, TranscriptEntry, Turn, TurnSession,
};
use longhaul_agents::machine::{Short, ShortageBackoff, patiently};
use longhaul_agents::redact::names_a_secret;
use longhaul_agents::shim::{self, Attached, AttemptOutcome, Lines, Shim, Spec};
use longhaul_agents::watch::{Advice, SilenceLimits, Watcher};
use longhaul_agents::{mcp, private};
use longhaul_core::event::{self, Failure};
use longhaul_core::plan::{ErrorClass, Timeout};
use tokio::time::Instant;
use uuid::Uuid;

use super::servers;
use super::tell::Teller;
use crate::engine::Shared;
use crate::execute::artifacts::Artifacts;
use crate::execute::kinds::{Attempt, Done};
use longhaul_config::Choice;
use longhaul_config::trust;

/// How often to check an agent that prints nothing.
const LOOK: Duration = Duration::from_secs(5);
/// The number of SIGKILL.
const KILLED: i32 = 9;

pub(super) async fn drive(attempt: &Attempt, agent: &'static dyn Agent, choice: &Choice, prompt: &str) -> Done {
    let folder = match attempt.patiently(|| attempt.folder()).await {
        Some(Ok(folder)) => folder,
        Some(Err(error)) => return unplaced(&error),
        None => return Done::unspent(ErrorClass::Failed, "stopped"),
    };
    let servers = match servers::of(attempt, choice) {
        Ok(servers) => servers,
        // The agent of an earlier engine has its servers already.
        Err(_) if attempt.adopted => Vec::new(),
        Err(message) => return Done::unusable(ErrorClass::Invalid, message),
    };
    let turn = Turn { mcp: servers, ..turn(attempt, choice, prompt, folder.join("scratch")) };
    let mut teller = match attempt.patiently(|| Teller::new(attempt, agent, choice, &turn, &folder)).await {
        Some(Ok(teller)) => teller,
        Some(Err(error)) => return unplaced(&error),
        None => return Done::unspent(ErrorClass::Failed, "stopped"),
    };
    let shim = match Shim::new(&attempt.shared.options.backends.program, &folder.join(Artifacts::AGENT)) {
        Ok(shim) => shim,
        Err(error) => return Done::failed(ErrorClass::Failed, error.to_string()),
    };
    let mut reader = agent.reader(&turn);
    let exit = if attempt.adopted {
        come_back(attempt, &shim, reader.as_mut(), &mut teller).await
    } else {
        match begin(attempt, agent, choice, &turn, &shim).await {
            Ok(attached) => see_through(attempt, &attached, reader.as_mut(), &mut teller).await,
            Err(done) => {
                mcp::forget(&turn.scratch);
                return *done;
            }
        }
    };
    mcp::forget(&turn.scratch);
    match exit {
        Ok(Some(exit)) => teller.conclude(reader.finish(&exit), &exit),
        Ok(None) => {
            let exit = Exit { code: None, signal: Some(KILLED), ended: None, stderr: String::new() };
            let mut done = teller.conclude(reader.finish(&exit), &exit);
            done.failure = Some(Failure::new(ErrorClass::Lost, "the agent was killed together with its shim"));
            done
        }
        Err(error) => Done::failed(ErrorClass::Transient, error.to_string()),
    }
}

fn unplaced(error: &io::Error) -> Done {
    Done::unspent(ErrorClass::Failed, format!("the folder of the turn cannot be created: {error}"))
}

/// The turn for the agent.
fn turn(attempt: &Attempt, choice: &Choice, prompt: &str, scratch: PathBuf) -> Turn {
    let told = &attempt.start.turn;
    let agent = attempt.param("agent");
    let texts = |key: &str| {
        let list = agent.and_then(|agent| agent.get(key)?.as_array());
        list.map(|list| list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<String>>())
    };
    let session = match &told.session {
        Some(session) => TurnSession::Resume { id: session.id.clone(), before: meter(session.total) },
        None => TurnSession::New(Uuid::new_v4().to_string()),
    };
    let cwd = attempt.cwd();
    let backends = &attempt.shared.options.backends;
    Turn {
        errand: if told.compact { Errand::Compact } else { Errand::Work },
        prompt: prompt.to_owned(),
        system: agent.and_then(|agent| agent.get("system")?.as_str()).map(str::to_owned),
        model: choice.model.clone(),
        effort: choice.effort.clone(),
        session,
        schema: attempt.output.schema.clone(),
        repairs: told.repairs,
        permission: choice.permission,
        tools: texts("tools"),
        mcp: Vec::new(),
        mcp_only: choice.mcp_only,
        dirs: texts("dirs").unwrap_or_default().into_iter().map(|dir| cwd.join(dir)).collect(),
        budget_usd: told.usd_left.filter(|usd| *usd > 0.0),
        trusted: is_trusted(attempt, &cwd),
        sandboxed: backends.sandboxed,
        cwd,
        scratch,
    }
}

/// Whether an agent may read the instructions in a folder. A folder without instructions is safe. Files that were
/// rebuilt from another machine count as the workspace.
fn is_trusted(attempt: &Attempt, cwd: &Path) -> bool {
    let options = &attempt.shared.options;
    let is_carried = cwd.starts_with(attempt.shared.artifacts.run(&attempt.run));
    let folder = if is_carried { &options.workspace } else { cwd };
    match trust::sensitive_files_as(cwd, folder) {
        Ok(told) => told.is_none_or(|told| options.backends.trusted.contains(&told.hash)),
        Err(_) => false,
    }
}

fn meter(total: Option<event::Usage>) -> Meter {
    let total = total.unwrap_or_default();
    Meter {
        input_tokens: total.input_tokens,
        cached_tokens: total.cached_tokens,
        output_tokens: total.output_tokens,
        usd: (total.usd > 0.0).then_some(total.usd),
    }
}

/// Starts the agent. An agent that cannot start has cost nothing.
async fn begin(
    attempt: &Attempt,
    agent: &'static dyn Agent,
    choice: &Choice,
    turn: &Turn,
    shim: &Shim,
) -> Result<Attached, Box<Done>> {
    let refused = |class, message: String| Box::new(Done::unspent(class, message));
    let found = find(&attempt.shared, agent, choice).await?;
    let make = || private::create_dir_all(&turn.scratch).and_then(|()| private::create_dir_all(&choice.setup.home));
    let made = attempt.patiently(make).await.unwrap_or(Ok(()));
    made.map_err(|error| Box::new(unplaced(&error)))?;
    let invocation =
        agent.invoke(&found, &choice.setup, turn).map_err(|refusal| refused(ErrorClass::Failed, refusal.0))?;
    let mark = attempt.name();
    let spec = Spec {
        timeout: attempt.timeout(attempt.told.turn),
        secret_env: secret_names(&invocation),
        ..Spec::new(&invocation, turn.cwd.clone(), mark)
    };
    let mut env = shim::environment(&invocation, std::env::vars_os());
    env.extend(attempt.start.env.iter().map(|(name, value)| (name.into(), super::super::as_text(value).into())));
    let mut backoff = ShortageBackoff::default();
    loop {
        let started = shim.start(&spec, &env, &invocation.stdin).await;
        match started.as_ref().err().and_then(Short::shortage) {
            Some(shortage) if attempt.wait_for(shortage, &mut backoff).await => continue,
            Some(_) => return Err(refused(ErrorClass::Failed, "stopped".to_owned())),
            None => attempt.delayed(None),
        }
        let message = |error| format!("{} cannot be started: {error}", agent.name());
        return started.map_err(|error| refused(ErrorClass::Transient, message(error)));
    }
}

/// The variables whose values must not appear in the agent's output.
fn secret_names(invocation: &Invocation) -> Vec<String> {
    let names = invocation.keep_env.iter().map(|rule| rule.split_once('=').map_or(rule.as_str(), |(new, _)| new));
    names.filter(|name| !name.ends_with('*') && names_a_secret(name)).map(str::to_owned).collect()
}

/// Finds the agent's program. This runs the program, and blocks no other task.
async fn find(shared: &Shared, agent: &'static dyn Agent, choice: &Choice) -> Result<InstalledAgent, Box<Done>> {
    let setup = choice.setup.clone();
    match tokio::task::spawn_blocking(move || agent.find(&setup)).await {
        Ok(found) => found.map_err(|missing| Box::new(super::missing(shared, &missing))),
        Err(error) => Err(Box::new(Done::unspent(ErrorClass::Transient, error.to_string()))),
    }
}

/// Finds an agent that outlived its engine: it is still running, or it has finished.
async fn come_back(
    attempt: &Attempt,
    shim: &Shim,
    reader: &mut dyn Reader,
    teller: &mut Teller<'_>,
) -> Result<Option<Exit>, shim::Error> {
    let found = match shim.attach().await {
        // Another engine lost this attempt but still lives. Its agent must end before the run continues.
        Err(shim::Error::Held { .. }) => shim.end(Stopped::Cancelled).await?,
        found => found?,
    };
    match found {
        shim::ShimFound::Attached(attached) => see_through(attempt, &attached, reader, teller).await,
        shim::ShimFound::Gone => Ok(None),
        shim::ShimFound::Ended(exit) => {
            let mut lines = shim.lines(0);
            while let Some(line) = lines.next().await? {
                teller.entries(reader.line(&line.text));
                teller.written().await;
            }
            Ok(Some(exit))
        }
    }
}

/// Reads the agent's output until it ends or is stopped.
async fn see_through(
    attempt: &Attempt,
    attached: &Attached,
    reader: &mut dyn Reader,
    teller: &mut Teller<'_>,
) -> Result<Option<Exit>, shim::Error> {
    let mut life = Life::new(attempt);
    let mut lines: Lines = patiently(|| attached.lines(0)).await?;
    loop {
        tokio::select! {
            line = lines.next() => match line? {
                Some(line) => {
                    // Report all lines that are ready together.
                    for line in std::iter::once(line).chain(std::iter::from_fn(|| lines.ready())) {
                        let entries = reader.line(&line.text);
                        life.saw(&entries);
                        teller.entries(entries);
                    }
                    teller.written().await;
                    if reader.is_hopeless() && !life.is_stopping {
                        life.stop(attached, Stopped::Hopeless).await?;
                    }
                }
                None => break,
            },
            () = attempt.cancel.cancelled(), if !life.is_stopping => {
                life.is_stopping = true;
                attached.stop(Stopped::Cancelled).await?;
            }
            () = tokio::time::sleep_until(life.look_at), if !life.is_stopping => life.look(attached, teller).await?,
        }
    }
    Ok(match attached.wait().await? {
        AttemptOutcome::Ended(exit) => Some(exit),
        AttemptOutcome::Gone => None,
    })
}

/// How long an agent may be silent. Debug builds can change it, for tests.
fn limits() -> SilenceLimits {
    let told = std::env::var("LONGHAUL_SILENCE_MS").ok().filter(|_| cfg!(debug_assertions));
    let usual = SilenceLimits::default();
    SilenceLimits { silent_ms: told.and_then(|ms| ms.parse().ok()).or(usual.silent_ms), ..usual }
}

/// Watches whether an agent works or hangs.
struct Life<'a> {
    attempt: &'a Attempt,
    watcher: Watcher,
    look_at: Instant,
    is_stopping: bool,
    /// Whether it printed something since the last check.
    was_heard: bool,
}

impl<'a> Life<'a> {
    fn new(attempt: &'a Attempt) -> Self {
        let limits = match attempt.start.timeout {
            // A step without a time limit has no limit for silence either.
            Timeout::None => SilenceLimits { silent_ms: None, tool_ms: None, ..SilenceLimits::default() },
            Timeout::Kind | Timeout::After(_) => limits(),
        };
        let watcher = Watcher::new(limits, attempt.shared.clock.now_ms());
        Self { attempt, watcher, look_at: Instant::now() + LOOK, is_stopping: false, was_heard: false }
    }

    fn saw(&mut self, entries: &[TranscriptEntry]) {
        let now = self.attempt.shared.clock.now_ms();
        self.was_heard = true;
        entries.iter().for_each(|entry| self.watcher.saw(entry, now));
    }

    async fn look(&mut self, attached: &Attached, teller: &mut Teller<'_>) -> Result<(), shim::Error> {
        let now = self.attempt.shared.clock.now_ms();
        self.look_at = Instant::now() + LOOK;
        // An agent that prints is alive, so there is no need to read the process table.
        if !std::mem::take(&mut self.was_heard) {
            self.watcher.activity(attached.cpu_ticks(), now);
        }
        let seen = self.watcher.what(now);
        teller.alive(&seen.words);
        teller.waits(self.watcher.waits_for());
        match seen.advice {
            Advice::Wait => Ok(()),
            Advice::Interrupt => {
                self.watcher.interrupted(now);
                teller.interrupted(self.watcher.silence(now));
                attached.interrupt().await
            }
            Advice::Kill => self.stop(attached, Stopped::Hung).await,
            Advice::Collect => {
                teller.gives_up();
                self.stop(attached, Stopped::AfterResult).await
            }
        }
    }

    async fn stop(&mut self, attached: &Attached, why: Stopped) -> Result<(), shim::Error> {
        self.is_stopping = true;
        attached.stop(why).await
    }
}
