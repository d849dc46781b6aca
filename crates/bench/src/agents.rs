//! Agents that talk without a pause, each a process below its shim: what that costs, and whether other work continues beside it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indexmap::IndexMap;
use longhaul_agents::contract::{Auth, Setup};
use longhaul_agents::shim::SHIM_COMMAND;
use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_runtime::{Backends, Engine, Error, Idle, Options, Profile, StartRequest, System};
use tokio_util::sync::CancellationToken;

use super::machine::{Spent, cpu, spend};
use super::others::{self, Other};
use super::report::Figure;
use super::{Bench, plans, stream};

/// What one running agent may take of the machine.
const MB_MAX: f64 = 10.0;
const PERCENT_MAX: f64 = 1.0;
/// How much of its speed other work keeps.
const KEPT_MIN: f64 = 0.8;
/// How often it is looked whether all agents talk.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// One agent, and what engine and shim take beside it.
pub(super) async fn one(bench: &Bench) -> Result<Vec<Figure>> {
    let talk = Talk::begin(bench, "agent", 1).await?;
    let used = talk.used(bench.sizes.talk).await;
    let mut figures = talk.end("agent").await?;
    figures.extend(used.figures("agent", bare_percent(bench)?, 1));
    Ok(figures)
}

/// Many agents, and a chain of steps that do nothing beside them.
pub(super) async fn many(bench: &Bench) -> Result<Vec<Figure>> {
    let agents = bench.sizes.agents;
    let alone = chain(bench, &bench.engine(&bench.store("agents-alone")?)).await?;
    let talk = Talk::begin(bench, "agents", agents).await?;
    let used = talk.used(bench.sizes.talk).await;
    let beside = chain(bench, &talk.engine).await?;
    let mut figures = talk.end("agents").await?;
    figures.extend(used.figures("agents", bare_percent(bench)?, agents));
    figures.push(kept(bench, &alone, &beside));
    Ok(figures)
}

/// The speed of the chain beside its speed alone. Where the machine itself commits less often meanwhile, so may the chain.
fn kept(bench: &Bench, alone: &Spent, beside: &Spent) -> Figure {
    let steps = bench.sizes.steps as f64;
    let machine = (beside.commits_per_second / alone.commits_per_second).min(1.0);
    let speed = Figure::new("agents", "steps beside them", steps / beside.seconds, "/s");
    speed.beside(steps / alone.seconds).at_least(KEPT_MIN * machine * steps / alone.seconds)
}

async fn chain(bench: &Bench, engine: &Engine) -> Result<Spent> {
    let run = engine.start(&plans::chain(bench.sizes.steps, 0)?, StartRequest::default()).await?;
    let work = async { Ok(engine.drive(&run, CancellationToken::new(), |_| true).await?) };
    Ok(spend(bench, work).await?.1)
}

/// What the processor spends on reading what one agent says, and nothing else, in % of a core.
fn bare_percent(bench: &Bench) -> Result<f64> {
    let folder = bench.folder.join("bare");
    std::fs::create_dir_all(&folder)?;
    let mut child = Command::new(stream::program(&folder)?).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
    // Until it has begun to talk there is nothing to measure.
    let first = lines.next();
    let (since, used) = (Instant::now(), cpu());
    lines.take_while(|_| since.elapsed() < bench.sizes.talk).for_each(drop);
    let percent = 100.0 * (cpu() - used).as_secs_f64() / since.elapsed().as_secs_f64();
    stream::end(&folder)?;
    child.wait()?;
    anyhow::ensure!(first.is_some(), "the agent that talks said nothing");
    Ok(percent)
}

/// Agents that talk.
struct Talk {
    engine: Engine,
    run: RunId,
    agents: usize,
    folder: PathBuf,
    since: Instant,
    driving: tokio::task::JoinHandle<Result<Idle, Error>>,
}

impl Talk {
    /// Starts them, and waits until each has a shim.
    async fn begin(bench: &Bench, name: &str, agents: usize) -> Result<Self> {
        let folder = bench.folder.join(name);
        std::fs::create_dir_all(&folder)?;
        let engine = engine(bench, &folder, name, agents)?;
        let run = engine.start(&plans::prompts(agents)?, StartRequest::default()).await?;
        let driving = tokio::spawn({
            let (engine, run) = (engine.clone(), run.clone());
            async move { engine.drive(&run, CancellationToken::new(), |_| true).await }
        });
        let talk = Self { engine, run, agents, folder, since: Instant::now(), driving };
        while !talk.driving.is_finished() && talk.talking().await? < agents {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(talk)
    }

    /// How many have begun to talk.
    async fn talking(&self) -> Result<usize> {
        let events = self.engine.events(&self.run, 0, usize::MAX >> 1).await?;
        Ok(events.iter().filter(|envelope| matches!(envelope.event, Event::SessionSeen { .. })).count())
    }

    /// What engine and shims use while they talk for a time.
    async fn used(&self, during: Duration) -> Used {
        let shims = others::of(SHIM_COMMAND, &self.folder);
        let ticks = |shims: &[Other]| shims.iter().filter_map(Other::cpu).sum::<Duration>();
        let (since, engine, below) = (Instant::now(), cpu(), ticks(&shims));
        tokio::time::sleep(during).await;
        let share = |used: Duration| 100.0 * used.as_secs_f64() / since.elapsed().as_secs_f64();
        let (engine, below) = (share(cpu() - engine), share(ticks(&shims).saturating_sub(below)));
        let resident_mb = shims.iter().filter_map(Other::resident_mb).max_by(f64::total_cmp);
        Used { engine, shims: below, resident_mb }
    }

    /// Ends them, and counts what was kept of what they said.
    async fn end(self, workload: &'static str) -> Result<Vec<Figure>> {
        stream::end(&self.folder)?;
        self.driving.await??;
        let seconds = self.since.elapsed().as_secs_f64();
        let state = self.engine.load(&self.run).await?.state;
        let (mut said, mut kept) = (0, 0);
        for step in state.steps() {
            said += step.result.output.as_str().and_then(|count| count.parse::<usize>().ok()).unwrap_or_default();
            kept += texts(&self.engine.attempt_dir(&self.run, &step.path, 1))?;
        }
        let wanted = f64::from(stream::PACE) * self.agents as f64;
        Ok(vec![
            Figure::new(workload, "done", state.succeeded as f64, "agents").exactly(self.agents),
            Figure::new(workload, "lines kept", kept as f64, "lines").exactly(said),
            Figure::new(workload, "lines", said as f64 / seconds, "/s").beside(wanted),
        ])
    }
}

/// How much a transcript says.
fn texts(attempt: &Path) -> Result<usize> {
    let transcript = std::fs::read_to_string(attempt.join("transcript.jsonl"))?;
    Ok(transcript.lines().filter(|line| line.starts_with(r#"{"type":"text""#)).count())
}

/// In % of a core.
struct Used {
    engine: f64,
    shims: f64,
    /// Of the largest shim.
    resident_mb: Option<f64>,
}

impl Used {
    fn figures(&self, workload: &'static str, bare: f64, agents: usize) -> Vec<Figure> {
        let each = (self.engine + self.shims) / agents as f64;
        let mut figures = vec![
            Figure::new(workload, "engine", self.engine, "% of a core").beside(bare * agents as f64),
            Figure::new(workload, "engine and shim, an agent", each, "% of a core").beside(bare).at_most(PERCENT_MAX),
        ];
        let resident = self.resident_mb.map(|mb| Figure::new(workload, "a shim", mb, "MB").at_most(MB_MAX));
        figures.extend(resident);
        figures
    }
}

fn engine(bench: &Bench, folder: &Path, name: &str, agents: usize) -> Result<Engine> {
    let setup = Setup { program: Some(stream::program(folder)?), auth: Auth::Key, ..Setup::default() };
    let profile = Profile { setup, ..Profile::default() };
    let backends = Backends {
        profiles: IndexMap::from([("claude".to_owned(), profile)]),
        program: bench.program.clone(),
        home: folder.join("home"),
        ..Backends::default()
    };
    let options = Options {
        runs_dir: folder.join("runs"),
        agent: "claude".to_owned(),
        attempts_max: agents + 1,
        backends,
        ..bench.options()
    };
    Ok(Engine::new(bench.store(name)?, Arc::new(System), options))
}
