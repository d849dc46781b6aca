//! Plays a test: a run in a folder of its own, with a clock that is put forward.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, Result, bail};
use longhaul_core::event::{Driver, Envelope};
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_core::state::{Phase, State};
use longhaul_core::view;
use longhaul_runtime::{Backends, Clock, Engine, Idle, Message, Options, SCRIPTED, StartRequest, System};
use longhaul_store::Sqlite;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::expect::is_at;
use super::file::{Said, Test};
use crate::identity;

/// The run of every test.
const RUN: &str = "test";
/// Answers, signals and jumps of the clock before a run is given up as endless.
const STEPS_MAX: usize = 2_000;

/// A workflow that is tested.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) plan: Plan,
    /// Where its scripts are.
    pub(crate) dir: PathBuf,
    pub(crate) project: PathBuf,
}

/// What came of a test.
pub(crate) struct Played {
    pub(crate) plan: Plan,
    pub(crate) state: State,
    pub(crate) events: Vec<Envelope>,
    /// The folder in which it ran.
    pub(crate) folder: Folder,
    /// What somebody was to say that nobody asked.
    pub(crate) unasked: Vec<Said>,
    engine: Engine,
    run: RunId,
}

impl Played {
    /// What an agent was asked.
    pub(crate) fn prompt(&self, path: &longhaul_core::path::StepPath, attempt: u32) -> String {
        let file = self.engine.attempt_dir(&self.run, path, attempt).join("prompt.md");
        std::fs::read_to_string(file).unwrap_or_default()
    }
}

/// A folder that is gone afterwards.
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
        // A folder too many harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A clock that stands still until it is put forward.
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
    let store = Sqlite::open(folder.keep().join("longhaul.db"), longhaul_store::Options::default())?;
    let program = std::env::current_exe()?;
    let options = Options {
        runs_dir: folder.keep().join("runs"),
        workspace: folder.workspace(),
        script: Arc::new(script),
        agent: SCRIPTED.to_owned(),
        // One at a time: what is done at once is done in the same order each time.
        attempts_max: 1,
        guard: Some(program.clone()),
        backends: Backends { program, home: folder.keep().join("agents"), ..Backends::default() },
        ..Options::default()
    };
    let engine = Engine::new(Arc::new(store), Arc::clone(&clock) as Arc<dyn Clock>, options);
    let request = StartRequest {
        task: test.task.clone(),
        inputs: test.inputs.clone(),
        run: RunId::new(RUN),
        trigger: json!({"type": "manual"}),
        owner: Some(identity::origin()),
        workflow_dir: subject.dir.clone(),
        driver: Driver::Engine,
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

/// The files of the test, and what it does before the run.
fn prepare(folder: &Folder, subject: &Subject, test: &Test, script: &str) -> Result<()> {
    std::fs::create_dir_all(folder.keep())?;
    // With it the folder is a project, whatever lies above.
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

/// Drives the run until nothing more happens; what nobody asked for is left.
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

/// Says the first thing that somebody waits for; whether there was one.
async fn say(engine: &Engine, run: &RunId, sayings: &mut Vec<Said>) -> Result<bool> {
    let loaded = engine.load(run).await?;
    for asked in view::questions(&loaded.plan.0, &loaded.state) {
        let fits = |said: &Said| said.step.as_deref().is_some_and(|step| is_at(&asked.path.to_string(), step));
        if let Some(at) = sayings.iter().position(fits) {
            let message = Message::answer(asked.path.clone(), sayings.remove(at).answer(), identity::caller());
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

/// Has another process drive the run until a step has begun, and kills it then.
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
        bail!("the engine was to be killed at `{step}`, but that was never begun");
    }
    Ok(())
}
