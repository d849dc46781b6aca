//! Workloads that measure the engine, each beside what the machine can do at all.
//!
//! **Invariant:** a figure is measured in the same run as the limit that it is held against, on the same disk and at the
//! same setting. What a workload was to do is counted afterwards in the store, not assumed.

mod agents;
mod chains;
mod cold;
mod command;
mod crowd;
mod fleet;
mod killed;
mod machine;
mod mcp;
mod others;
mod parked;
mod plans;
mod program;
mod report;
mod stream;
mod ui;
mod watched;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_agents::scripted::Script;
use longhaul_runtime::{Engine, Options, System};
use longhaul_store::{Sqlite, Store, Synchronous};

use clap::Parser as _;
use fleet::Around;
use report::Figure;

fn main() -> ExitCode {
    command::run(&command::Args::parse()).unwrap_or_else(|error| {
        ui::say(format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Chain,
    FanOut,
    Crowd,
    Commands,
    Growth,
    Parked,
    Killed,
    Cold,
    Agent,
    Agents,
    Mcp,
    Watched,
    FleetSteps,
    FleetClaims,
    FleetWaiting,
    FleetFanOut,
    FleetIdle,
}

impl Part {
    /// What is measured around a database.
    const FLEET: [Self; 5] =
        [Self::FleetSteps, Self::FleetClaims, Self::FleetWaiting, Self::FleetFanOut, Self::FleetIdle];
    /// What is measured in files.
    const ALL: [Self; 12] = [
        Self::Chain,
        Self::FanOut,
        Self::Crowd,
        Self::Commands,
        Self::Growth,
        Self::Parked,
        Self::Killed,
        Self::Cold,
        Self::Agent,
        Self::Agents,
        Self::Mcp,
        Self::Watched,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::FanOut => "fan-out",
            Self::Crowd => "crowd",
            Self::Commands => "commands",
            Self::Growth => "growth",
            Self::Parked => "parked",
            Self::Killed => "killed",
            Self::Cold => "cold",
            Self::Agent => "agent",
            Self::Agents => "agents",
            Self::Mcp => "mcp",
            Self::Watched => "watched",
            Self::FleetSteps => "fleet-steps",
            Self::FleetClaims => "fleet-claims",
            Self::FleetWaiting => "fleet-waiting",
            Self::FleetFanOut => "fleet-fan-out",
            Self::FleetIdle => "fleet-idle",
        }
    }
}

/// How much of everything.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Steps of the chain, and of the fan-out.
    steps: usize,
    /// Runs at once, and steps of each.
    crowd: (usize, usize),
    commands: usize,
    /// Steps of chains whose steps leave 1 KiB each, from short to long.
    growth: [usize; 3],
    parked: usize,
    /// How long parked runs are watched.
    idle: Duration,
    /// Commits and processes that the limits are found with.
    probes: usize,
    cold: usize,
    /// Agents at once, and how long they are watched.
    agents: usize,
    talk: Duration,
    /// Runs that are over, and calls of each tool.
    mcp: (usize, usize),
    /// Those who watch a run, its steps, and how often.
    watched: (usize, usize, usize),
    fleet: FleetSizes,
}

/// How much of what a fleet does.
#[derive(Debug, Clone, Copy)]
struct FleetSizes {
    /// How long the database is busy with the rows of all steps at least.
    busy: Duration,
    /// How long `pgbench` runs each time.
    probe: Duration,
    /// Tasks that came and went, and claims that are measured.
    past: usize,
    claims: usize,
    /// Workers without work; how long they are left alone, and then watched.
    idlers: usize,
    settle: Duration,
    idle: Duration,
}

impl Sizes {
    const FULL: Self = Self {
        steps: 1000,
        crowd: (1000, 10),
        commands: 200,
        growth: [100, 1000, 5000],
        parked: 10_000,
        idle: Duration::from_secs(5),
        probes: 500,
        cold: 20,
        agents: 50,
        talk: Duration::from_secs(5),
        mcp: (10_000, 200),
        watched: (50, 1500, 3),
        fleet: FleetSizes {
            busy: Duration::from_secs(2),
            probe: Duration::from_secs(4),
            past: 1_000_000,
            claims: 500,
            idlers: 50,
            settle: Duration::from_secs(40),
            idle: Duration::from_secs(30),
        },
    };
    const SMOKE: Self = Self {
        steps: 20,
        crowd: (10, 3),
        commands: 3,
        growth: [5, 10, 20],
        parked: 20,
        idle: Duration::from_millis(50),
        probes: 10,
        cold: 1,
        agents: 2,
        talk: Duration::from_millis(50),
        mcp: (5, 2),
        watched: (3, 20, 1),
        fleet: FleetSizes {
            busy: Duration::ZERO,
            probe: Duration::from_secs(1),
            past: 100,
            claims: 10,
            idlers: 2,
            settle: Duration::from_millis(50),
            idle: Duration::from_millis(50),
        },
    };
}

/// Where and how it is measured.
struct Setting {
    parent: Option<PathBuf>,
    synchronous: Synchronous,
    program: PathBuf,
}

/// A folder to measure in, and how.
struct Bench {
    folder: PathBuf,
    synchronous: Synchronous,
    sizes: Sizes,
    around: Around,
    /// The program that is measured.
    program: PathBuf,
}

impl Bench {
    fn new(setting: Setting, sizes: Sizes, around: Around) -> Result<Self> {
        let Setting { parent, synchronous, program } = setting;
        let parent = parent.unwrap_or_else(std::env::temp_dir);
        let folder = parent.join(format!("longhaul-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Self { folder, synchronous, sizes, around, program })
    }

    /// A new store for a workload.
    fn store(&self, name: &str) -> Result<Arc<dyn Store>> {
        self.open(&self.file(name))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.db"))
    }

    fn open(&self, file: &Path) -> Result<Arc<dyn Store>> {
        let options = longhaul_store::Options { synchronous: self.synchronous, ..Default::default() };
        Ok(Arc::new(Sqlite::open(file, options)?))
    }

    fn engine(&self, store: &Arc<dyn Store>) -> Engine {
        Engine::new(Arc::clone(store), Arc::new(System), self.options())
    }

    fn options(&self) -> Options {
        Options {
            runs_dir: self.folder.join("runs"),
            workspace: self.folder.clone(),
            script: Arc::new(Script::builtin()),
            agent: "scripted".to_owned(),
            attempts_max: 16,
            lease: Duration::from_secs(60),
            guard: Some(self.program.clone()),
            ..Options::default()
        }
    }

    /// This program once more, as the part of a workload that is a process of its own.
    fn child(&self, part: Part, store: &Path) -> Result<tokio::process::Command> {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.args(["--only", part.name(), "--dir"]).arg(&self.folder).arg("--child").arg(store);
        command.arg("--program").arg(&self.program);
        if self.synchronous == Synchronous::Normal {
            command.args(["--synchronous", "normal"]);
        }
        Ok(command)
    }
}

/// Files that cannot be removed lie in a folder for such files.
impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Measures one workload.
async fn measure(bench: &Bench, part: Part) -> Result<Vec<Figure>> {
    match part {
        Part::Chain => chains::chain(bench).await,
        Part::FanOut => chains::fan_out(bench).await,
        Part::Crowd => crowd::measure(bench).await,
        Part::Commands => chains::commands(bench).await,
        Part::Growth => chains::growth(bench).await,
        Part::Parked => parked::measure(bench).await,
        Part::Killed => killed::measure(bench).await,
        Part::Cold => cold::measure(bench).await,
        Part::Agent => agents::one(bench).await,
        Part::Agents => agents::many(bench).await,
        Part::Mcp => mcp::measure(bench).await,
        Part::Watched => watched::measure(bench).await,
        Part::FleetSteps | Part::FleetClaims | Part::FleetWaiting | Part::FleetFanOut | Part::FleetIdle => {
            fleet::measure(bench, part).await
        }
    }
}

/// What a workload does in a process of its own.
async fn child(bench: &Bench, store: &Path, parts: &[Part]) -> Result<()> {
    let store = bench.open(store)?;
    match parts {
        [Part::Parked] => parked::child(bench, &store).await,
        [Part::Killed] => killed::child(bench, &store).await,
        _ => bail!("this workload has no process of its own"),
    }
}
