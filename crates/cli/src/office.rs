//! The engine of a project: its store, its files, its settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_agents::process;
use longhaul_agents::scripted::Script;
use longhaul_core::decide::{agent_of_label, host_label, no_project_label, project_label};
use longhaul_core::event::Gone;
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_lang::Request;
use longhaul_project::kept::Shelves;
use longhaul_project::{Disk, Fleet, Project, Settings, identity, place, state};
use longhaul_runtime::{AUTO, Backends, Collector, Engine, Membership, Options, SCRIPTED, Startable, Wanted, is_dead};
use longhaul_store::{Place, Store};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{opening, ui};

/// The exit code of what was stopped by a signal.
pub(crate) const PARKED: u8 = 130;

/// Long enough for a machine that is busy, short enough for people who wait for a takeover.
const LEASE: Duration = Duration::from_secs(60);

/// How long a machine may be silent before a run that needs it asks what to do, where the settings do not say.
const HOST_GRACE_MS: i64 = 10 * 60 * 1000;

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

    fn agent(&self) -> String {
        let usual = if self.script.is_some() { SCRIPTED } else { AUTO };
        self.agent.clone().unwrap_or_else(|| usual.to_owned())
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

/// The same for a command that makes nothing new: a store that was named for it alone has to be there. Must run inside a Tokio runtime.
pub(crate) fn open_what_is_there(args: &EngineArgs) -> Result<Engine> {
    if args.is_named_here() {
        opening::require(&store_place(args)?)?;
    }
    open(args, &AgentArgs::default())
}

/// Opens the engine of a project. Must run inside a Tokio runtime.
pub(crate) fn open_in(project: Project, args: &EngineArgs, agents: &AgentArgs) -> Result<Engine> {
    let place = made_ready(&project, args)?;
    let opened = opening::store(&place)?;
    assemble(project, &place, opened, agents, &WorkerArgs::default())
}

pub(crate) fn refuse(login: &str) -> Result<()> {
    anyhow::bail!(
        "`{login}` is a login for `longhaul worker`, which takes steps and reports them; everything else is for the address with which the \
         store was made"
    )
}

/// Opens the engine of the project around the current folder for a worker, who may have a login, and waits for its store; `None` if `stop` came
/// first. Must run inside a Tokio runtime.
pub(crate) async fn open_for_worker(
    args: &EngineArgs,
    agents: &AgentArgs,
    worker: &WorkerArgs,
    stop: &CancellationToken,
) -> Result<Option<Engine>> {
    let project = Project::current()?;
    let place = made_ready(&project, args)?;
    let Some(opened) = opening::patiently(&place, stop).await? else { return Ok(None) };
    assemble(project, &place, opened, agents, worker).map(Some)
}

/// Where the store is, in or beside a folder that is there.
fn made_ready(project: &Project, args: &EngineArgs) -> Result<Place> {
    let place = place(args, project)?;
    if args.store.is_none() || place.file().is_none() {
        state::made(project)?;
    }
    Ok(place)
}

/// Earlier versions kept the store in the project, where a checkout could bring one along. It is not opened unless a person says so.
fn hint_at_earlier(project: &Project, place: &Place) {
    let earlier = project.root.join(".longhaul").join(place::FILE);
    let is_own = state::of(project).is_ok_and(|state| place.file().is_some_and(|file| file.starts_with(state)));
    if is_own && earlier.is_file() {
        ui::say(format!(
            "{} is not used: runs are kept outside of the project, in {place}; `longhaul store adopt` takes it over",
            earlier.display()
        ));
    }
}

fn assemble(
    project: Project,
    place: &Place,
    (store, clock): opening::Opened,
    agents: &AgentArgs,
    worker: &WorkerArgs,
) -> Result<Engine> {
    hint_at_earlier(&project, place);
    let home = home(&project, place)?;
    // Strays of engines that were killed go before anything new begins.
    process::sweep(is_dead);
    let runs_dir = runs_dir(&beside(place, &home))?;
    let settings = Settings::of(&project)?;
    warn(&settings);
    let mut member = member(place, &project.root, worker, settings.fleet);
    if place.file().is_some() {
        member.labels.extend(opening::routes(store.as_ref())?);
    }
    let options = Options {
        channels: settings.channels,
        tools: settings.tools,
        approvals: settings.gates.approvals,
        roles: settings.gates.roles,
        policy: settings.gates.policy,
        run_ceiling_ms: settings.gates.run_ceiling_ms,
        backends_max: settings.backends_max,
        values: settings.values,
        refresh_cache: agents.no_cache,
        runs_dir,
        workspace: project.root,
        script: Arc::new(script(agents)?),
        agent: agents.agent(),
        backends: Backends { program: std::env::current_exe()?, home: home.join("agents"), ..settings.backends },
        attempts_max: agents.slots.max(1),
        lease: lease(),
        member,
        guard: std::env::current_exe().ok(),
    };
    Ok(Engine::new(failing(store)?, clock, options))
}

/// Says what the settings hold without effect.
pub(crate) fn warn(settings: &Settings) {
    settings.warnings.iter().for_each(|warning| ui::say(format!("warning: {warning}")));
}

/// What this process is among several. A file is never shared by machines.
fn member(place: &Place, root: &Path, worker: &WorkerArgs, fleet: Fleet) -> Membership {
    let (machine, host) = (process::host_name(), spot(root));
    let project = place.file().is_none().then(|| fleet.project.clone().or_else(|| identity(root).ok())).flatten();
    // The machine alone is what runs of earlier versions ask for.
    let hosts = [host_label(&machine), host_label(&host)];
    let usual = [std::env::consts::OS.to_owned(), std::env::consts::ARCH.to_owned(), machine.clone()];
    let mut labels: Vec<String> = worker.labels().collect();
    let of_project = project.as_deref().map_or_else(no_project_label, project_label);
    labels.extend(usual.into_iter().chain(hosts).chain([of_project]));
    // Who may count the turns of an agent may take them.
    labels.extend(fleet.caps.labels.keys().filter(|label| agent_of_label(label).is_some()).cloned());
    labels.sort();
    labels.dedup();
    Membership {
        name: worker.name.clone().unwrap_or_else(|| format!("{machine}-{}", std::process::id())),
        host: place.file().is_none().then_some(host),
        project,
        labels,
        caps: fleet.caps,
        host_grace_ms: fleet.host_grace_ms.unwrap_or(HOST_GRACE_MS),
        when_gone: fleet.when_host_gone.unwrap_or(Gone::Ask),
        carry: fleet.carry,
    }
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

/// A checkout on a machine: files of one are not in another.
pub(crate) fn spot(root: &Path) -> String {
    match process::told_host_name() {
        Some(told) => told,
        None => {
            let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            format!("{}:{}", process::host_name(), root.display())
        }
    }
}

/// The folder of the project's state. Who names a file for the store needs no home folder.
fn home(project: &Project, place: &Place) -> Result<PathBuf> {
    match (state::of(project), place.file().and_then(|file| file.parent())) {
        (Err(_), Some(folder)) => Ok(folder.to_owned()),
        (found, _) => found,
    }
}

/// The folder for files about runs. It is known by a path without links, so that none below it is taken for one of ours.
fn runs_dir(beside: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(beside).and_then(|beside| beside.canonicalize());
    let folder = folder.unwrap_or_else(|_| beside.to_owned()).join("runs");
    if folder.is_symlink() {
        anyhow::bail!(
            "{} is a link, and files about runs are not written through one; remove it, or name another --store",
            folder.display()
        );
    }
    Ok(folder)
}

fn place(args: &EngineArgs, project: &Project) -> Result<Place> {
    place::of(project, args.store.as_deref())
}

/// Files about runs are beside the file of the store; those of a database are in the project, each machine's its own.
fn beside(place: &Place, home: &Path) -> PathBuf {
    place.file().and_then(|file| file.parent()).unwrap_or(home).to_owned()
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
    made_ready(&Project::current()?, args)?;
    files_dir(args)
}

/// The same, where it is or would be.
pub(crate) fn files_dir(args: &EngineArgs) -> Result<PathBuf> {
    let project = Project::current()?;
    let place = place(args, &project)?;
    Ok(beside(&place, &home(&project, &place)?))
}

/// How long an attempt is held without being renewed. Debug builds can be told, to test what happens after.
fn lease() -> Duration {
    let told = std::env::var("LONGHAUL_LEASE_MS").ok().filter(|_| cfg!(debug_assertions));
    told.and_then(|ms| ms.parse().ok()).map_or(LEASE, Duration::from_millis)
}

/// In debug builds `LONGHAUL_FAILPOINT` names a write at which this process dies, to test coming back.
#[cfg(debug_assertions)]
fn failing(store: Arc<dyn Store>) -> Result<Arc<dyn Store>> {
    let Ok(point) = std::env::var("LONGHAUL_FAILPOINT") else { return Ok(store) };
    Ok(Arc::new(longhaul_store::Failpoints::new(store, point.parse()?)))
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "debug builds can refuse")]
fn failing(store: Arc<dyn Store>) -> Result<Arc<dyn Store>> {
    Ok(store)
}

fn script(agents: &AgentArgs) -> Result<Script> {
    let Some(file) = &agents.script else { return Ok(Script::builtin()) };
    let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Script::parse(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
}

/// The world around the current folder, with the shelf of the store that is meant.
pub(crate) fn disk(args: &EngineArgs) -> Result<Disk> {
    let project = Project::current()?;
    let store = place(args, &project)?;
    Ok(Disk::new(project).with_shelves(Shelves::of(Some(store))))
}

/// The plan of a workflow that has no errors, and where its scripts are.
pub(crate) fn plan(disk: &Disk, workflow: &str) -> Result<(Plan, PathBuf)> {
    let entry = disk.find(workflow)?;
    let report = disk.check(&entry, None)?;
    let plan = report.workflows.into_iter().find_map(|workflow| workflow.plan);
    let plan = plan.with_context(|| format!("`{workflow}` has errors; longhaul check {workflow} says which"))?;
    let here = if entry.dir.as_os_str().is_empty() { Path::new(".") } else { &entry.dir };
    Ok((plan, std::path::absolute(here).unwrap_or_default()))
}

/// What a trigger starts.
pub(crate) fn startable(args: &EngineArgs, wanted: Wanted<'_>) -> Result<Option<Startable>, String> {
    let disk = disk(args).map_err(|error| format!("{error:#}"))?;
    let name = match wanted {
        Wanted::Workflow(name) if disk.find(name).is_err() => return Ok(None),
        Wanted::Workflow(name) => name,
        Wanted::Prompt => return prompt(&disk).map(Some),
    };
    let (plan, dir) = plan(&disk, name).map_err(|error| format!("{error:#}"))?;
    Ok(Some(Startable { plan, dir }))
}

/// A plan of one prompt, which is the task.
fn prompt(disk: &Disk) -> Result<Startable, String> {
    let text = "name: scheduled-prompt\ndo:\n  - id: answer\n    prompt: '{{ task }}'\n".to_owned();
    let request = Request {
        file: "scheduled-prompt.yaml".to_owned(),
        name: "scheduled-prompt".to_owned(),
        text,
        ..Request::default()
    };
    let plan = longhaul_lang::check(request, disk).workflows.into_iter().find_map(|workflow| workflow.plan);
    let plan = plan.ok_or_else(|| "a prompt cannot be planned in this project".to_owned())?;
    Ok(Startable { plan, dir: disk.project.root.clone() })
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
