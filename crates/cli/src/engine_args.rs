//! Opens the engine of a project, with its store, its files and its settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_app::bootstrap::{self, AgentChoice, Opening, WorkerChoice};
use longhaul_app::{open_store, workflow};
use longhaul_config::SCRIPTED;
use longhaul_core::notification::Zone;
use longhaul_project::{Disk, Project, Settings, identity, place};
use longhaul_runtime::{Collector, Engine, Fired, Startable, Wanted};
use longhaul_store::StoreAddress;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ui;

pub(crate) use longhaul_app::bootstrap::spot;

/// The exit code of a command that a signal stopped.
pub(crate) const PARKED: u8 = 130;

/// The options that say how to open an engine.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct EngineArgs {
    /// The store of the runs: a file, or postgres://… [default: as configured, else a file of the project in ~/.local/state/longhaul]
    // A text, not an address: an address may hold a password, so errors do not repeat it.
    #[arg(long, env = "LONGHAUL_STORE", value_name = "PLACE", hide_env_values = true, global = true)]
    store: Option<String>,
}

impl EngineArgs {
    /// The arguments for the store in a file.
    pub(crate) fn of(file: &Path) -> Self {
        Self { store: Some(file.display().to_string()) }
    }

    /// The store that the user named.
    pub(crate) fn store_arg(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Whether the command line names the store, where typing errors are likely. The variable in the environment
    /// applies to every command.
    fn is_named_here(&self) -> bool {
        self.store.is_some() && self.store != std::env::var("LONGHAUL_STORE").ok()
    }
}

/// Settings of agents, for commands that may start work.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AgentArgs {
    /// The agent for prompts that name no backend; `scripted` does all prompts
    /// [default: as configured, else the first agent that is installed; with --script, `scripted`]
    #[arg(long, env = "LONGHAUL_AGENT", value_name = "NAME")]
    agent: Option<String>,
    /// A file with replies by step for the scripted agent
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// How many attempts may run at once, over all runs
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = slots)]
    slots: usize,
    /// Ignore cached results, run the steps again, and cache the new results
    #[arg(long)]
    no_cache: bool,
}

impl AgentArgs {
    /// The scripted agent with these replies, whatever the environment says.
    pub(crate) fn scripted(replies: PathBuf) -> Self {
        Self { agent: Some(SCRIPTED.to_owned()), script: Some(replies), slots: 16, no_cache: false }
    }
}

impl AgentArgs {
    /// The same as options of a command. A path keeps its meaning in another folder.
    pub(crate) fn options(&self) -> Vec<String> {
        let Self { agent, script, slots, no_cache } = self;
        let absolute =
            |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
        let agent = agent.iter().flat_map(|agent| ["--agent".to_owned(), agent.clone()]);
        let script = script.iter().flat_map(|script| ["--script".to_owned(), absolute(script)]);
        let slots = (*slots > 0).then(|| format!("--slots={slots}"));
        agent.chain(script).chain(slots).chain(no_cache.then(|| "--no-cache".to_owned())).collect()
    }
}

/// The name and the labels of one worker among several.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WorkerArgs {
    /// Labels of this worker, beside its system, architecture and machine; it takes steps whose `runs_on` asks for them
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', value_parser = label)]
    labels: Vec<String>,
    /// The name of this worker in lists [default: the machine and the process]
    #[arg(long, value_name = "NAME", value_parser = called)]
    name: Option<String>,
}

impl WorkerArgs {
    /// The labels that the user gave.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.labels.iter().filter(|label| !label.is_empty()).cloned()
    }
}

fn slots(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "it must be a number, and at least 1".to_owned())?;
    if number == 0 {
        Err("a worker without slots does nothing; `longhaul serve --no-drive` only serves".to_owned())
    } else {
        Ok(number)
    }
}

/// A label of a worker. A text between two commas may be empty.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.contains(char::is_whitespace) {
        true => Err("a label has no spaces; put commas between several".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn called(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the name is empty; without a name, the worker is called by its machine and process".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Opens the engine of the project around the current folder. Must run inside a Tokio runtime.
pub(crate) fn open(args: &EngineArgs, agents: &AgentArgs) -> Result<Engine> {
    open_in(Project::current()?, args, agents)
}

/// Everything that the options say about how to open the engine.
fn how(args: &EngineArgs, agents: &AgentArgs, worker: &WorkerArgs) -> Opening {
    let AgentArgs { agent, script, slots, no_cache } = agents.clone();
    Opening {
        store: args.store.clone(),
        agents: AgentChoice { agent, script, slots, no_cache },
        worker: WorkerChoice { labels: worker.labels().collect(), name: worker.name.clone() },
    }
}

/// The same for a command that creates nothing: a store that the command line names must exist. Must run inside a Tokio
/// runtime.
pub(crate) fn open_what_is_there(args: &EngineArgs) -> Result<Engine> {
    if args.is_named_here() {
        open_store::require(&store_place(args)?)?;
    }
    open(args, &AgentArgs::default())
}

/// Opens the engine of a project. Must run inside a Tokio runtime.
pub(crate) fn open_in(project: Project, args: &EngineArgs, agents: &AgentArgs) -> Result<Engine> {
    bootstrap::open(project, &how(args, agents, &WorkerArgs::default()), &|text| ui::say(text))
}

/// Opens the engine of the project around the current folder for a worker, which may use a login, and waits for its
/// store. Returns `None` if `stop` was cancelled first. Must run inside a Tokio runtime.
pub(crate) async fn open_for_worker(
    args: &EngineArgs,
    agents: &AgentArgs,
    worker: &WorkerArgs,
    stop: &CancellationToken,
) -> Result<Option<Engine>> {
    bootstrap::open_patiently(Project::current()?, &how(args, agents, worker), stop, &|text| ui::say(text)).await
}

/// Warns about settings that have no effect.
pub(crate) fn warn(settings: &Settings) {
    settings.warnings.iter().for_each(|warning| ui::say(format!("warning: {warning}")));
}

/// Warns that only this folder can continue work that starts here, because the folder belongs to no project.
pub(crate) fn warn_of_no_project(engine: &Engine) -> Result<()> {
    let root = Project::current()?.root;
    if let (Some(_), None, Err(why)) = (engine.host(), engine.project(), identity(&root)) {
        ui::say(format!(
            "warning: this folder has no project name ({why}), so only this machine can do the work that starts here; \
             set `project = \"NAME\"` below `[fleet]` in .longhaul/config.toml"
        ));
    }
    Ok(())
}

fn place(args: &EngineArgs, project: &Project) -> Result<StoreAddress> {
    place::of(project, args.store.as_deref())
}

/// The address of the store that the options choose.
pub(crate) fn store_place(args: &EngineArgs) -> Result<StoreAddress> {
    place(args, &Project::current()?)
}

/// The name of the store in messages.
pub(crate) fn store_name(args: &EngineArgs) -> Result<String> {
    Ok(store_place(args)?.to_string())
}

/// The folder that holds the runs of the project around the current folder.
pub(crate) fn data_dir(args: &EngineArgs) -> Result<PathBuf> {
    bootstrap::made_ready(&Project::current()?, args.store_arg())?;
    files_dir(args)
}

/// The same folder, also if it does not exist yet.
pub(crate) fn files_dir(args: &EngineArgs) -> Result<PathBuf> {
    bootstrap::files_dir(&Project::current()?, args.store_arg())
}

/// The workflows around the current folder, with the registry of the chosen store.
pub(crate) fn disk(args: &EngineArgs) -> Result<Disk> {
    bootstrap::disk(Project::current()?, args.store_arg())
}

/// The plan of a workflow that has no errors, and the folder of its scripts.
pub(crate) fn plan(disk: &Disk, workflow: &str) -> Result<Startable> {
    let entry = disk.find(workflow)?;
    let report = disk.check(&entry, None)?;
    workflow::planned(&entry, report)
        .map_err(|_| anyhow::anyhow!("`{workflow}` has errors; longhaul check {workflow} says which"))
}

/// The workflow that a trigger starts.
pub(crate) fn startable(args: &EngineArgs, wanted: Wanted<'_>) -> Result<Option<Startable>, String> {
    let disk = disk(args).map_err(|error| format!("{error:#}"))?;
    workflow::wanted(&disk, wanted)
}

/// The message after a trigger fired, or after Longhaul failed to read the triggers.
pub(crate) fn kept(kept: Result<&Fired, &longhaul_runtime::Error>) -> String {
    match kept {
        Ok(Fired { run: Ok(run), .. }) => {
            format!("a schedule fired: run {run}; longhaul events --follow {run} shows it")
        }
        Ok(Fired { trigger, run: Err(why) }) => {
            format!("the schedule `{trigger}` started no run: {why}; longhaul triggers list shows it")
        }
        Err(error) => format!("Longhaul could not read the triggers: {error}; it tries again in a minute"),
    }
}

/// Sends traces of finished runs, if the environment names a receiver.
pub(crate) async fn traced(engine: &Engine, stop: &CancellationToken) {
    if let Some(collector) = Collector::of(|name| std::env::var(name).ok()) {
        engine.send_traces(collector, stop.clone(), &|why| ui::say(why)).await;
    }
}

/// Notifies people of runs that wait for them or end. Prints a line about the runs of this process, unless it is
/// quiet.
pub(crate) async fn notified(engine: &Engine, stop: &CancellationToken, quiet: bool) {
    let say = |line: &str| {
        if !quiet {
            ui::say(ui::clean(line));
        }
    };
    engine.keep_notified(stop.clone(), &say).await;
}

/// The time zone of the settings around the current folder.
pub(crate) fn zone() -> Zone {
    let settings = Project::current().and_then(|project| Settings::of(&project));
    settings.map_or_else(|_| Zone::utc(), |settings| settings.notify.zone)
}

/// Deletes runs that ended long ago, if the settings say so.
pub(crate) async fn kept_small(engine: &Engine, stop: &CancellationToken) -> Result<()> {
    let retention = Settings::of(&Project::current()?)?.retention;
    let told = |went: Result<usize, &longhaul_runtime::Error>| {
        ui::say(match went {
            Ok(count) => format!("removed {} that ended long ago", ui::count(count, "run")),
            Err(error) => format!("old runs could not be removed: {error}; Longhaul tries again in an hour"),
        });
    };
    engine.keep_small(&retention, stop.clone(), &told).await;
    Ok(())
}

/// Cancels `stop` at the first request to end (Ctrl-C, a closed terminal, a system shutdown). The second request ends
/// this process at once; its guard cleans up. A process under `nohup` ignores a closed terminal.
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

/// The next signal; never returns if this process does not listen for it.
async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process ignored a signal when it was started.
pub(crate) fn ignores(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    u32::try_from(kind.as_raw_value() - 1).is_ok_and(|bit| mask.checked_shr(bit).unwrap_or_default() & 1 == 1)
}

/// Runs a future on a Tokio runtime.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    block_on_then(future, Duration::from_secs(10))
}

/// The same for a future that leaves only blocking reads behind, which may never end.
pub(crate) fn block_on_and_leave<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    block_on_then(future, Duration::ZERO)
}

fn block_on_then<T>(future: impl Future<Output = Result<T>>, rest: Duration) -> Result<T> {
    let runtime = runtime()?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(rest);
    result
}

/// The number of worker threads.
const WORKERS: usize = 2;
/// The number of files that a runtime opens.
const FILES: usize = 12;
const IDLE: Duration = Duration::from_secs(600);

/// Makes a runtime. It first checks that the system gives enough threads and files, because Tokio panics without them.
/// A store with leases is read every 15 seconds, so one blocking thread always stays alive.
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
