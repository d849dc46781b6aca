//! Opens a project: its store, its files, its settings, and an engine on top of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use indexmap::IndexMap;
use longhaul_agents::process;
use longhaul_agents::scripted::Script;
use longhaul_config::{AUTO, Backends, Channel, SCRIPTED};
use longhaul_core::decide::{agent_of_label, host_label, no_project_label, project_label};
use longhaul_core::event::OnHostLost;
use longhaul_core::notification::NotifyRules;
use longhaul_project::registry::RegistryReader;
use longhaul_project::{Disk, Fleet, Project, Settings, identity, not_an_agent, place, state};
use longhaul_runtime::{Engine, EngineOptions, Membership, has_desktop, is_dead};
use longhaul_store::{Store, StoreAddress};
use tokio_util::sync::CancellationToken;

use crate::open_store;

/// The length of a lease. A busy machine can renew in time, and people do not wait long for a takeover.
const LEASE: Duration = Duration::from_secs(60);

/// How long a machine may be silent before a run that needs it asks a person. The settings can change it.
const HOST_GRACE_MS: i64 = 10 * 60 * 1000;

/// Shows the user a warning or a hint that is not part of the result.
pub type Say = dyn Fn(String) + Sync;

/// Options for interfaces that start work.
#[derive(Debug, Clone, Default)]
pub struct AgentChoice {
    /// The agent for prompts that name none.
    pub agent: Option<String>,
    /// The file with the replies of the scripted agent.
    pub script: Option<PathBuf>,
    /// The most attempts that run at once, over all runs.
    pub slots: usize,
    /// Whether cached results are ignored.
    pub no_cache: bool,
}

impl AgentChoice {
    fn agent(&self) -> String {
        let usual = if self.script.is_some() { SCRIPTED } else { AUTO };
        self.agent.clone().unwrap_or_else(|| usual.to_owned())
    }
}

/// Options of this worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerChoice {
    /// Labels in addition to those of its machine.
    pub labels: Vec<String>,
    /// The worker's name in lists.
    pub name: Option<String>,
}

/// Options for opening a project.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The store that the user named: a file or an address.
    pub store: Option<String>,
    /// Options for agents.
    pub agents: AgentChoice,
    /// Options for this process as a worker.
    pub worker: WorkerChoice,
}

/// Opens the engine of a project. Must run inside a Tokio runtime.
pub fn open(project: Project, how: &Opening, say: &Say) -> Result<Engine> {
    let place = made_ready(&project, how.store.as_deref())?;
    let opened = open_store::store(&place)?;
    assemble(project, &place, opened, how, say)
}

/// Opens the engine of a project for a worker, which may have a login. Waits for the store; `None` if `stop` came
/// first. Must run inside a Tokio runtime.
pub async fn open_patiently(
    project: Project,
    how: &Opening,
    stop: &CancellationToken,
    say: &Say,
) -> Result<Option<Engine>> {
    let place = made_ready(&project, how.store.as_deref())?;
    let Some(opened) = open_store::patiently(&place, stop, say).await? else { return Ok(None) };
    assemble(project, &place, opened, how, say).map(Some)
}

/// The address of the project's store. Creates the folder of the state if it is missing.
pub fn made_ready(project: &Project, store: Option<&str>) -> Result<StoreAddress> {
    let place = place::of(project, store)?;
    if store.is_none() || place.file().is_none() {
        state::made(project)?;
    }
    Ok(place)
}

/// The folder with the files of runs. It need not exist yet.
pub fn files_dir(project: &Project, store: Option<&str>) -> Result<PathBuf> {
    let place = place::of(project, store)?;
    Ok(beside(&place, &home(project, &place)?))
}

/// The workflows of a project, with the registry of the given store.
pub fn disk(project: Project, store: Option<&str>) -> Result<Disk> {
    let store = place::of(&project, store)?;
    Ok(Disk::new(project).with_registry(RegistryReader::of(Some(store), longhaul_runtime::registry_of)))
}

/// Warns about a store inside the project, where earlier versions kept it. A checkout could bring one along, so
/// Longhaul opens it only if the user names it.
fn hint_at_earlier(project: &Project, place: &StoreAddress, say: &Say) {
    let earlier = project.root.join(".longhaul").join(place::FILE);
    let is_own = state::of(project).is_ok_and(|state| place.file().is_some_and(|file| file.starts_with(state)));
    if is_own && earlier.is_file() {
        say(format!(
            "{} is not used: runs are outside of the project, in {place}; `longhaul store adopt` takes it over",
            earlier.display()
        ));
    }
}

fn assemble(
    project: Project,
    place: &StoreAddress,
    (store, clock): open_store::Opened,
    how: &Opening,
    say: &Say,
) -> Result<Engine> {
    let agents = &how.agents;
    hint_at_earlier(&project, place, say);
    let home = home(&project, place)?;
    // Stop leftover processes of killed engines before anything new starts.
    process::sweep(is_dead);
    let runs_dir = runs_dir(&beside(place, &home))?;
    let settings = Settings::of(&project)?;
    settings.warnings.iter().for_each(|warning| say(format!("warning: {warning}")));
    known_agents(agents, &settings)?;
    let mut member = member(place, &project.root, &how.worker, settings.fleet);
    if place.file().is_some() {
        member.labels.extend(open_store::routes(store.as_ref())?);
    }
    let options = EngineOptions {
        notify: notify(settings.notify, &settings.channels),
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

/// Refuses to start work with an agent that does not exist. Commands that only read have no slots.
fn known_agents(agents: &AgentChoice, settings: &Settings) -> Result<()> {
    let starts_work = agents.slots > 0;
    if let Some(why) = agents.agent.as_deref().and_then(|name| not_an_agent(name, &settings.backends)) {
        anyhow::bail!("--agent: {why}");
    }
    match settings.unknown_agents.first().filter(|_| starts_work) {
        Some(why) => anyhow::bail!("the settings are wrong: {why}"),
        None => Ok(()),
    }
}

/// The rules of notifications on this machine. Without a screen, the built-in channel `desktop` is left out.
fn notify(mut rules: NotifyRules, channels: &IndexMap<String, Channel>) -> NotifyRules {
    if !channels.contains_key("desktop") && !has_desktop() {
        rules.channels.retain(|channel| channel != "desktop");
        rules.digest_channels.retain(|channel| channel != "desktop");
    }
    rules
}

/// This process as a member of the fleet. Machines never share a store that is a file.
fn member(place: &StoreAddress, root: &Path, worker: &WorkerChoice, fleet: Fleet) -> Membership {
    let (machine, host) = (process::host_name(), spot(root));
    let project = place.file().is_none().then(|| fleet.project.clone().or_else(|| identity(root).ok())).flatten();
    // Runs of earlier versions ask for the machine's label only.
    let hosts = [host_label(&machine), host_label(&host)];
    let usual = [std::env::consts::OS.to_owned(), std::env::consts::ARCH.to_owned(), machine.clone()];
    let mut labels: Vec<String> = worker.labels.clone();
    let of_project = project.as_deref().map_or_else(no_project_label, project_label);
    labels.extend(usual.into_iter().chain(hosts).chain([of_project]));
    // A worker that may count the turns of an agent may also take them.
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
        when_gone: fleet.when_host_gone.unwrap_or(OnHostLost::Ask),
        carry: fleet.carry,
    }
}

/// The name of a checkout on a machine. Another checkout has other files.
pub fn spot(root: &Path) -> String {
    match process::told_host_name() {
        Some(told) => told,
        None => {
            let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            format!("{}:{}", process::host_name(), root.display())
        }
    }
}

/// The folder of the project's state. A store that is a named file needs no home folder.
fn home(project: &Project, place: &StoreAddress) -> Result<PathBuf> {
    match (state::of(project), place.file().and_then(|file| file.parent())) {
        (Err(_), Some(folder)) => Ok(folder.to_owned()),
        (found, _) => found,
    }
}

/// The folder for files of runs, as a path without links. So no link below it passes for one of our files.
fn runs_dir(beside: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(beside).and_then(|beside| beside.canonicalize());
    let folder = folder.unwrap_or_else(|_| beside.to_owned()).join("runs");
    if folder.is_symlink() {
        anyhow::bail!(
            "{} is a link, and Longhaul writes no files of runs through a link; remove it, or name another --store",
            folder.display()
        );
    }
    Ok(folder)
}

/// The folder next to the store's file. With a database, it is the state folder on this machine.
fn beside(place: &StoreAddress, home: &Path) -> PathBuf {
    place.file().and_then(|file| file.parent()).unwrap_or(home).to_owned()
}

/// The length of a lease. In debug builds `LONGHAUL_LEASE_MS` changes it, for tests.
fn lease() -> Duration {
    let told = std::env::var("LONGHAUL_LEASE_MS").ok().filter(|_| cfg!(debug_assertions));
    told.and_then(|ms| ms.parse().ok()).map_or(LEASE, Duration::from_millis)
}

/// In debug builds `LONGHAUL_FAILPOINT` names a write at which this process exits, to test recovery.
#[cfg(debug_assertions)]
fn failing(store: Arc<dyn Store>) -> Result<Arc<dyn Store>> {
    let Ok(point) = std::env::var("LONGHAUL_FAILPOINT") else { return Ok(store) };
    Ok(Arc::new(longhaul_store::Failpoints::new(store, point.parse()?)))
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "debug builds can return an error")]
fn failing(store: Arc<dyn Store>) -> Result<Arc<dyn Store>> {
    Ok(store)
}

fn script(agents: &AgentChoice) -> Result<Script> {
    let Some(file) = &agents.script else { return Ok(Script::builtin()) };
    let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Script::parse(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
}
