//! Plays a test: a run in a folder of its own, with a clock that the test moves forward.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, Result, bail};
use longhaul_config::{Backends, SCRIPTED};
use longhaul_core::approval::Approvers;
use longhaul_core::event::{Driver, Envelope, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Caller, Origin};
use longhaul_core::plan::Plan;
use longhaul_core::state::{Phase, State};
use longhaul_core::view::{self, Asked};
use longhaul_runtime::{Clock, Engine, EngineOptions, Idle, Message, StartRequest, System};
use longhaul_store::Sqlite;
use tokio_util::sync::CancellationToken;

use super::expect::is_at;
use super::file::{Said, Test};
use crate::identity;

/// The id of the run in every test.
const RUN: &str = "test";
/// The most answers, signals and clock jumps before the test gives up on a run as endless.
const STEPS_MAX: usize = 2_000;

/// The workflow under test.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) plan: Plan,
    /// The folder of its scripts.
    pub(crate) dir: PathBuf,
    pub(crate) project: PathBuf,
}

/// The result of a test.
pub(crate) struct Played {
    pub(crate) plan: Plan,
    pub(crate) state: State,
    pub(crate) events: Vec<Envelope>,
    /// The folder that the run used.
    pub(crate) folder: Folder,
    /// Answers and signals in the test file that no step asked for.
    pub(crate) unasked: Vec<Said>,
    engine: Engine,
    run: RunId,
}

impl Played {
    /// The prompt of an agent's attempt.
    pub(crate) fn prompt(&self, path: &longhaul_core::path::StepPath, attempt: u32) -> String {
        let file = self.engine.attempt_dir(&self.run, path, attempt).join("prompt.md");
        std::fs::read_to_string(file).unwrap_or_default()
    }
}

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let beside = std::env::temp_dir();
        for number in 0..10_000 {
            let folder = beside.join(format!("longhaul-test-{}-{number}", std::process::id()));
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(Self(folder)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("{} cannot be made", folder.display())),
            }
        }
        bail!("{} has no room for another folder", beside.display())
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    fn keep(&self) -> PathBuf {
        self.0.join("keep")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A clock that stands still until the test moves it forward.
#[derive(Debug)]
struct Wound(AtomicI64);

impl Wound {
    fn to(&self, ms: i64) {
        self.0.fetch_max(ms, Ordering::SeqCst);
    }
}

impl Clock for Wound {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Plays a test to its end.
pub(crate) async fn play(subject: &Subject, test: &Test) -> Result<Played> {
    let folder = Folder::new()?;
    let (text, script) = test.script()?;
    prepare(&folder, subject, test, &text)?;
    let clock = Arc::new(Wound(AtomicI64::new(System.now_ms())));
    let store = Sqlite::open(folder.keep().join("longhaul.db"), longhaul_store::SqliteOptions::default())?;
    let program = std::env::current_exe()?;
    let options = EngineOptions {
        runs_dir: folder.keep().join("runs"),
        workspace: folder.workspace(),
        script: Arc::new(script),
        agent: SCRIPTED.to_owned(),
        // One attempt at a time, so that parallel steps run in the same order every time.
        attempts_max: 1,
        guard: Some(program.clone()),
        backends: Backends { program, home: folder.keep().join("agents"), ..Backends::default() },
        ..EngineOptions::default()
    };
    let engine = Engine::new(Arc::new(store), Arc::clone(&clock) as Arc<dyn Clock>, options);
    let request = StartRequest {
        task: test.task.clone(),
        inputs: test.inputs.clone(),
        run: RunId::new(RUN),
        trigger: Some(RunTrigger::manual()),
        owner: Some(identity::origin()),
        workflow_dir: subject.dir.clone(),
        driver: Driver::Engine,
        source: None,
    };
    let run = engine.start(&subject.plan, request).await?;
    if let Some(step) = &test.crash {
        crash(&folder, step)?;
        clock.to(System.now_ms());
    }
    let unasked = drive(&engine, &run, &clock, test).await?;
    let loaded = engine.load(&run).await?;
    let mut events = Vec::new();
    while let Some(page) = Some(engine.events(&run, events.last().map_or(0, |last: &Envelope| last.seq), 1000).await?)
        .filter(|page| !page.is_empty())
    {
        events.extend(page);
    }
    Ok(Played { plan: subject.plan.clone(), state: loaded.state, events, folder, unasked, engine, run })
}

/// Writes the files of the test and runs its setup commands.
fn prepare(folder: &Folder, subject: &Subject, test: &Test, script: &str) -> Result<()> {
    std::fs::create_dir_all(folder.keep())?;
    // This makes the folder a project, whatever is above it.
    std::fs::create_dir_all(folder.workspace().join(".longhaul"))?;
    std::fs::write(folder.keep().join("script.yaml"), script)?;
    for (name, text) in &test.files {
        let inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            bail!("`{name}` does not name a file inside the folder of the test");
        }
        let file = folder.workspace().join(name);
        file.parent().map(std::fs::create_dir_all).transpose()?;
        std::fs::write(file, text)?;
    }
    if test.setup.is_empty() {
        return Ok(());
    }
    let mut command = Command::new("bash");
    command.args(["-euc", &test.setup]).current_dir(folder.workspace()).env("PROJECT", &subject.project);
    let output = command.stdin(Stdio::null()).output().context("bash cannot be started")?;
    if !output.status.success() {
        bail!("its setup ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Runs the run until nothing more happens; returns the answers that no step asked for.
async fn drive(engine: &Engine, run: &RunId, clock: &Wound, test: &Test) -> Result<Vec<Said>> {
    let mut sayings = test.answers.clone();
    for _ in 0..STEPS_MAX {
        let idle = engine.drive(run, CancellationToken::new(), |_| false).await?;
        let Idle::Waiting { next_due } = idle else { return Ok(sayings) };
        if say(engine, run, &mut sayings).await? {
            continue;
        }
        match next_due {
            Some(due) => clock.to(due),
            None => return Ok(sayings),
        }
    }
    bail!("the run does not end: after {STEPS_MAX} answers and timers it still continues")
}

/// Sends the first answer or signal that a step waits for; returns whether there was one.
async fn say(engine: &Engine, run: &RunId, sayings: &mut Vec<Said>) -> Result<bool> {
    let loaded = engine.load(run).await?;
    for asked in view::questions(&loaded.plan.0, &loaded.state) {
        let fits = |said: &Said| said.step.as_deref().is_some_and(|step| is_at(&asked.path.to_string(), step));
        if let Some(at) = sayings.iter().position(fits) {
            let said = sayings.remove(at);
            let message = Message::answer(asked.path.clone(), said.answer(), person(&said, &asked));
            engine.tell(run, message, None).await.with_context(|| format!("the answer to `{}`", asked.path))?;
            return Ok(true);
        }
    }
    let awaited = |said: &Said| {
        let is_it = |phase: &Phase| matches!(phase, Phase::Waiting { signal: Some(name), .. } if said.signal.as_deref() == Some(name));
        loaded.state.waiting().any(|step| is_it(&step.phase))
    };
    let Some(at) = sayings.iter().position(awaited) else { return Ok(false) };
    let said = sayings.remove(at);
    let by = identity::caller().who.name().map(str::to_owned);
    let signal = Message::Signal { name: said.signal.unwrap_or_default(), data: said.data.unwrap_or_default(), by };
    engine.tell(run, signal, None).await?;
    Ok(true)
}

/// The caller of an answer. A test does not use the settings of the user who runs it: the caller has the role that the
/// question asks for.
fn person(said: &Said, asked: &Asked) -> Caller {
    let Some(user) = &said.by else { return identity::caller() };
    let roles = match asked.approvals.as_ref().map(|rule| &rule.from) {
        Some(Approvers::Role(role)) => vec![role.clone()],
        _ => Vec::new(),
    };
    Caller { roles, ..Caller::os_user(Origin::cli(user)) }
}

/// Starts a process that runs the run until a step has started, and then kills it.
fn crash(folder: &Folder, step: &str) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["resume", RUN, "--quiet", "--slots", "1", "--agent", "scripted", "--json"]);
    command.arg("--script").arg(folder.keep().join("script.yaml"));
    command.arg("--store").arg(folder.keep().join("longhaul.db")).current_dir(folder.workspace());
    let mut engine = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let printed = engine.stdout.take().context("the engine prints nothing")?;
    let mut begun = false;
    for line in BufReader::new(printed).lines() {
        let event: serde_json::Value = serde_json::from_str(&line?).unwrap_or_default();
        let path = event["path"].as_str().unwrap_or_default();
        if event["event"] == "attempt_started" && is_at(path, step) {
            begun = true;
            break;
        }
    }
    engine.kill()?;
    engine.wait()?;
    if !begun {
        bail!("the engine was to be killed at `{step}`, but that step never started");
    }
    Ok(())
}
