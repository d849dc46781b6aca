//! The engine of a project: its store, its files, its settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_app::bootstrap::{self, AgentChoice, Opening, WorkerChoice};
use longhaul_app::{opening, workflow};
use longhaul_core::id::RunId;
use longhaul_project::{Disk, Project, Settings, identity, place};
use longhaul_runtime::{Collector, Engine, SCRIPTED, Startable, Wanted};
use longhaul_store::Place;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ui;

pub(crate) use longhaul_app::bootstrap::spot;

/// The exit code of what was stopped by a signal.
pub(crate) const PARKED: u8 = 130;

/// How an engine is opened.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct EngineArgs {
    /// What keeps the runs: a file, or postgres://… [default: as configured, else a file of the project in ~/.local/state/longhaul]
    // A text: what is wrong with an address is told without it, because of the password.
    #[arg(long, env = "LONGHAUL_STORE", value_name = "PLACE", hide_env_values = true, global = true)]
    store: Option<String>,
}

impl EngineArgs {
    /// A file.
    pub(crate) fn of(file: &Path) -> Self {
        Self { store: Some(file.display().to_string()) }
    }

    /// The store that somebody named.
    pub(crate) fn store_arg(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Whether the store was named on the command line, where a slip is likely; the environment holds for everything that is done.
    fn is_named_here(&self) -> bool {
        self.store.is_some() && self.store != std::env::var("LONGHAUL_STORE").ok()
    }
}

/// Settings of agents, for commands that may start work.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AgentArgs {
    /// Who does prompts that name no backend, or all of them with `scripted`
    /// [default: as configured, else the first agent that is installed; with --script, `scripted`]
    #[arg(long, env = "LONGHAUL_AGENT", value_name = "NAME")]
    agent: Option<String>,
    /// What the scripted agent says: a file with replies by step
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Attempts at once, over all runs
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = slots)]
    slots: usize,
    /// Do steps again whose earlier results could be used, and keep the new ones
    #[arg(long)]
    no_cache: bool,
}

impl AgentArgs {
    /// The scripted agent with these replies, whatever the environment says.
    pub(crate) fn scripted(replies: PathBuf) -> Self {
        Self { agent: Some(SCRIPTED.to_owned()), script: Some(replies), slots: 16, no_cache: false }
    }
}

/// What a worker is among several.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WorkerArgs {
    /// What this worker can do, beside its system, architecture and machine: takes steps whose `runs_on` asks for it
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', value_parser = label)]
    labels: Vec<String>,
    /// What lists call this worker [default: the machine and the process]
    #[arg(long, value_name = "NAME", value_parser = called)]
    name: Option<String>,
}

impl WorkerArgs {
    /// The labels that somebody gave it.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.labels.iter().filter(|label| !label.is_empty()).cloned()
    }
}

fn slots(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "it is not a number from 1 on".to_owned())?;
    if number == 0 {
        Err("a worker without slots does nothing; `longhaul serve --no-drive` only serves".to_owned())
    } else {
        Ok(number)
    }
}

/// A label of a worker. What is between two commas may be empty.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.contains(char::is_whitespace) {
        true => Err("a label has no spaces; put commas between several".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn called(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty; leave it out, and the worker is called by its machine and process".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Opens the engine of the project around the current folder. Must run inside a Tokio runtime.
pub(crate) fn open(args: &EngineArgs, agents: &AgentArgs) -> Result<Engine> {
    open_in(Project::current()?, args, agents)
}

/// Everything that was said about how to open it.
fn how(args: &EngineArgs, agents: &AgentArgs, worker: &WorkerArgs) -> Opening {
    let AgentArgs { agent, script, slots, no_cache } = agents.clone();
    Opening {
        store: args.store.clone(),
        agents: AgentChoice { agent, script, slots, no_cache },
        worker: WorkerChoice { labels: worker.labels().collect(), name: worker.name.clone() },
    }
}

/// The same for a command that makes nothing new: a store that was named for it alone has to be there. Must run inside a Tokio runtime.
pub(crate) fn open_what_is_there(args: &EngineArgs) -> Result<Engine> {
    if args.is_named_here() {
        opening::require(&store_place(args)?)?;
    }
    open(args, &AgentArgs::default())
}

/// Opens the engine of a project. Must run inside a Tokio runtime.
pub(crate) fn open_in(project: Project, args: &EngineArgs, agents: &AgentArgs) -> Result<Engine> {
    bootstrap::open(project, &how(args, agents, &WorkerArgs::default()), &|text| ui::say(text))
}

/// Opens the engine of the project around the current folder for a worker, who may have a login, and waits for its store; `None` if `stop` came
/// first. Must run inside a Tokio runtime.
pub(crate) async fn open_for_worker(
    args: &EngineArgs,
    agents: &AgentArgs,
    worker: &WorkerArgs,
    stop: &CancellationToken,
) -> Result<Option<Engine>> {
    bootstrap::open_patiently(Project::current()?, &how(args, agents, worker), stop, &|text| ui::say(text)).await
}

/// Says what the settings hold without effect.
pub(crate) fn warn(settings: &Settings) {
    settings.warnings.iter().for_each(|warning| ui::say(format!("warning: {warning}")));
}

/// Says that work which is started here can be done here alone, where nobody knows of which project this is.
pub(crate) fn warn_of_no_project(engine: &Engine) -> Result<()> {
    let root = Project::current()?.root;
    if let (Some(_), None, Err(why)) = (engine.host(), engine.project(), identity(&root)) {
        ui::say(format!(
            "warning: the project of this folder is not known ({why}): what is started here is done here, by no other machine; \
             `project = \"NAME\"` below `[fleet]` in .longhaul/config.toml says which one it is"
        ));
    }
    Ok(())
}

fn place(args: &EngineArgs, project: &Project) -> Result<Place> {
    place::of(project, args.store.as_deref())
}

/// Where the store is that is meant.
pub(crate) fn store_place(args: &EngineArgs) -> Result<Place> {
    place(args, &Project::current()?)
}

/// What people call the store.
pub(crate) fn store_name(args: &EngineArgs) -> Result<String> {
    Ok(store_place(args)?.to_string())
}

/// The folder that holds the runs of the project around the current folder.
pub(crate) fn data_dir(args: &EngineArgs) -> Result<PathBuf> {
    bootstrap::made_ready(&Project::current()?, args.store_arg())?;
    files_dir(args)
}

/// The same, where it is or would be.
pub(crate) fn files_dir(args: &EngineArgs) -> Result<PathBuf> {
    bootstrap::files_dir(&Project::current()?, args.store_arg())
}

/// The world around the current folder, with the shelf of the store that is meant.
pub(crate) fn disk(args: &EngineArgs) -> Result<Disk> {
    bootstrap::disk(Project::current()?, args.store_arg())
}

/// The plan of a workflow that has no errors, and where its scripts are.
pub(crate) fn plan(disk: &Disk, workflow: &str) -> Result<Startable> {
    let entry = disk.find(workflow)?;
    let report = disk.check(&entry, None)?;
    workflow::planned(&entry, report)
        .map_err(|_| anyhow::anyhow!("`{workflow}` has errors; longhaul check {workflow} says which"))
}

/// What a trigger starts.
pub(crate) fn startable(args: &EngineArgs, wanted: Wanted<'_>) -> Result<Option<Startable>, String> {
    let disk = disk(args).map_err(|error| format!("{error:#}"))?;
    workflow::wanted(&disk, wanted)
}

/// What there is to say when a trigger fired, or none could be looked at.
pub(crate) fn kept(kept: Result<&RunId, &longhaul_runtime::Error>) -> String {
    match kept {
        Ok(run) => format!("a schedule fired: run {run}; longhaul events --follow {run} shows it"),
        Err(error) => format!("triggers were not looked at: {error}; that is tried again in a minute"),
    }
}

/// Sends traces of runs that end, if the environment says where to.
pub(crate) async fn traced(engine: &Engine, stop: &CancellationToken) {
    if let Some(collector) = Collector::of(|name| std::env::var(name).ok()) {
        engine.send_traces(collector, stop.clone(), &|why| ui::say(why)).await;
    }
}

/// Forgets runs that have long been over, if the settings say so.
pub(crate) async fn kept_small(engine: &Engine, stop: &CancellationToken) -> Result<()> {
    let retention = Settings::of(&Project::current()?)?.retention;
    let told = |went: Result<usize, &longhaul_runtime::Error>| {
        ui::say(match went {
            Ok(count) => format!("{} that were over for long are put away", ui::count(count, "run")),
            Err(error) => format!("old runs were not put away: {error}; that is tried again in an hour"),
        });
    };
    engine.keep_small(&retention, stop.clone(), &told).await;
    Ok(())
}

/// Cancels `stop` at the first request to end (Ctrl-C, a closed terminal, the system going down). The second one ends this process
/// at once; its guard clears up. A closed terminal means nothing to whoever was started under `nohup`.
pub(crate) fn stop_on_signals(stop: CancellationToken) -> Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = (!ignores(SignalKind::hangup())).then(|| signal(SignalKind::hangup())).transpose()?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = next(&mut hangup) => {}
            }
            if stop.is_cancelled() {
                crate::screen::terminal::restore();
                std::process::exit(PARKED.into());
            }
            stop.cancel();
        }
    });
    Ok(())
}

/// The next signal, if it is waited for at all.
async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was told to ignore a signal before anybody asked for it.
fn ignores(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    u32::try_from(kind.as_raw_value() - 1).is_ok_and(|bit| mask.checked_shr(bit).unwrap_or_default() & 1 == 1)
}

/// Runs a future on a Tokio runtime.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    block_on_then(future, Duration::from_secs(10))
}

/// The same for a future that leaves nothing behind but reads that may never end.
pub(crate) fn block_on_and_leave<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    block_on_then(future, Duration::ZERO)
}

fn block_on_then<T>(future: impl Future<Output = Result<T>>, rest: Duration) -> Result<T> {
    let runtime = runtime()?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(rest);
    result
}

/// Threads that work, and how long others are kept that may block.
const WORKERS: usize = 2;
/// Files that it opens.
const FILES: usize = 12;
const IDLE: Duration = Duration::from_secs(600);

/// A runtime that has all the threads and files it cannot do without: it would panic when the system gives it none.
/// Where leases are kept something is read every quarter of a minute, so one of those is always there.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let probes: Vec<_> = (0..=WORKERS).map(|_| std::thread::Builder::new().spawn(|| {})).collect();
    for probe in probes {
        let _ended = probe.context("no threads can be started; end some processes, or raise `ulimit -u`")?.join();
    }
    let probes = (0..FILES).map(|_| std::fs::File::open("/dev/null")).collect::<std::io::Result<Vec<_>>>();
    drop(probes.context("too few files can be opened; raise `ulimit -n`")?);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(WORKERS).thread_keep_alive(IDLE).enable_all().build()?;
    drop(runtime.spawn_blocking(|| {}));
    Ok(runtime)
}
