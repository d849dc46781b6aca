//! The state that all calls share: the engine, the project, and the runs that this process drives.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_app::workflow::{self, Unplanned};
use longhaul_app::{App, Replanning, RunCommand};
use longhaul_core::Json;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::origin;
use longhaul_core::plan::Plan;
use longhaul_core::registry::Registry;
use longhaul_lang::CheckReport;
use longhaul_project::registry::RegistryReader;
use longhaul_project::{Disk, Project, WorkflowEntry, WorkflowOrigin};
use longhaul_runtime::{Applied, Engine, Follow, Loaded, Message, Startable};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::mcp::compat::ToolSet;
use crate::mcp::tool::{Caller, Problem};
use crate::mcp::tools::workflow_check::in_words;
use crate::mcp::watch;

/// The values that a server starts with.
pub struct ServerSetup {
    /// The engine that drives runs.
    pub engine: Engine,
    /// The user who started the server.
    pub origin: origin::Origin,
    /// The project whose workflows the server offers.
    pub project: Project,
    /// The folder for the server's own files.
    pub data_dir: PathBuf,
    /// Whether each workflow is also a tool.
    pub tool_per_workflow: bool,
    /// Tool sets of other systems that the server also offers.
    pub compat: Vec<ToolSet>,
    /// Cancel it to stop the server.
    pub stop: CancellationToken,
}

/// The state that all calls share.
#[derive(Clone)]
pub struct AppState {
    inner: Arc<Inner>,
}

struct Inner {
    setup: ServerSetup,
    drives: TaskTracker,
    driven: Mutex<HashSet<RunId>>,
    /// The registry, as it was at the beginning of the call.
    shelf: Mutex<Arc<Registry>>,
    /// The workflows inside the binary, as lists show them. They do not change while it runs.
    shipped: Mutex<HashMap<String, Listed>>,
}

/// A workflow as lists show it.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) entry: WorkflowEntry,
    pub(crate) description: String,
    /// Later workflows with the same name, which this one hides.
    pub(crate) hides: Vec<WorkflowEntry>,
    /// `None` if it has errors.
    pub(crate) plan: Option<Arc<Plan>>,
}

/// The task and the inputs of a new run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    pub(crate) task: String,
    pub(crate) inputs: IndexMap<String, Json>,
    /// The id, if the client chooses one.
    pub(crate) run: Option<RunId>,
}

impl AppState {
    /// A state without running runs.
    pub fn new(setup: ServerSetup) -> Self {
        Self {
            inner: Arc::new(Inner {
                setup,
                drives: TaskTracker::new(),
                driven: Mutex::default(),
                shelf: Mutex::default(),
                shipped: Mutex::default(),
            }),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.setup.engine
    }

    pub(crate) fn app(&self) -> App {
        App::new(self.inner.setup.engine.clone())
    }

    pub(crate) fn origin(&self) -> &origin::Origin {
        &self.inner.setup.origin
    }

    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.inner.setup.stop
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> &Path {
        &self.inner.setup.project.root
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.inner.setup.data_dir
    }

    pub(crate) fn tool_per_workflow(&self) -> bool {
        self.inner.setup.tool_per_workflow
    }

    pub(crate) fn compat(&self) -> &[ToolSet] {
        &self.inner.setup.compat
    }

    /// The project as it is now. Files change while a server runs.
    pub(crate) fn disk(&self) -> Disk {
        let shelf = Arc::clone(&self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner));
        Disk::new(self.inner.setup.project.clone()).with_registry(RegistryReader::known(&shelf))
    }

    /// Reads the registry now, because many places that look up workflows cannot wait for it.
    pub(crate) async fn refresh_shelf(&self) -> Result<(), Problem> {
        let shelf = Arc::new(self.engine().registry().await?);
        *self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner) = shelf;
        Ok(())
    }

    /// Finds a run by its id or by the beginning of its id.
    pub(crate) async fn run(&self, id: &str) -> Result<RunId, Problem> {
        Ok(self.engine().find(id).await?)
    }

    /// Loads a run with its plan and state.
    pub(crate) async fn load(&self, id: &str) -> Result<(RunId, Loaded), Problem> {
        Ok(self.app().load(id).await?)
    }

    /// Finds and checks a workflow of the library by its name. A client cannot choose files.
    pub(crate) fn workflow(&self, name: &str) -> Result<(WorkflowEntry, CheckReport), Problem> {
        workflow::named(&self.disk(), name).map_err(|why| unplanned(name, &why))
    }

    /// All workflows, one for each name. The first place in which a name is found wins.
    pub(crate) fn listed(&self) -> Vec<Listed> {
        let disk = self.disk();
        let mut names: IndexMap<String, Vec<WorkflowEntry>> = IndexMap::new();
        for entry in disk.library.all() {
            names.entry(entry.name.clone()).or_default().push(entry);
        }
        names.retain(|_, entries| !entries.iter().all(WorkflowEntry::is_part));
        names.sort_keys();
        names.into_values().filter_map(|entries| self.listed_one(&disk, entries)).collect()
    }

    /// A workflow by its name, with everything that lists show.
    pub(crate) fn listed_named(&self, name: &str) -> Option<Listed> {
        let disk = self.disk();
        let entries = disk.library.all().into_iter().filter(|entry| entry.name == name).collect();
        self.listed_one(&disk, entries)
    }

    /// The first entry of a name wins and hides the others.
    fn listed_one(&self, disk: &Disk, mut entries: Vec<WorkflowEntry>) -> Option<Listed> {
        let hides = entries.split_off(1.min(entries.len()));
        let entry = entries.pop()?;
        let known = if entry.origin == WorkflowOrigin::Builtin {
            let mut shipped = self.inner.shipped.lock().unwrap_or_else(PoisonError::into_inner);
            shipped.entry(entry.name.clone()).or_insert_with(|| listed(disk, entry)).clone()
        } else {
            listed(disk, entry)
        };
        Some(Listed { hides, ..known })
    }

    /// The plan of a workflow that has no errors.
    pub(crate) fn plan(&self, name: &str) -> Result<(WorkflowEntry, Plan), Problem> {
        let (entry, startable) = self.startable(name)?;
        Ok((entry, startable.plan))
    }

    pub(crate) fn startable(&self, name: &str) -> Result<(WorkflowEntry, Startable), Problem> {
        let (entry, report) = self.workflow(name)?;
        let startable = workflow::planned(&entry, report).map_err(|why| unplanned(name, &why))?;
        Ok((entry, startable))
    }

    /// The plan of a workflow text that is not in a file.
    pub(crate) fn plan_of(&self, name: &str, text: &str) -> Result<Plan, Problem> {
        workflow::of_text(&self.disk(), name, text).map_err(|why| match why {
            Unplanned::Mistakes(report) => Problem::new(in_words(&report)),
            other => unplanned(name, &other),
        })
    }

    /// Records the start of a run of a workflow.
    pub(crate) async fn start(
        &self,
        workflow: &str,
        order: Order,
        driver: Driver,
        caller: &Caller,
    ) -> Result<RunId, Problem> {
        let (_, startable) = self.startable(workflow)?;
        self.start_plan(&startable, order, driver, caller).await
    }

    /// Records the start of a run of a plan.
    pub(crate) async fn start_plan(
        &self,
        startable: &Startable,
        order: Order,
        driver: Driver,
        caller: &Caller,
    ) -> Result<RunId, Problem> {
        let Order { task, inputs, run } = order;
        let trigger = Some(RunTrigger::mcp(&caller.client));
        let order = longhaul_app::StartOrder { task, inputs, run, trigger, driver };
        Ok(self.app().start(startable, order, &caller.known()).await?)
    }

    /// Drives a run until the server stops, unless this server already drives it.
    pub(crate) fn drive(&self, run: &RunId) {
        if !self.driven().insert(run.clone()) {
            return;
        }
        let (desk, run) = (self.clone(), run.clone());
        self.inner.drives.spawn(async move {
            // An error needs no handling here: the history has everything for the next reader of the run.
            let _ = desk.engine().drive(&run, desk.stop().clone(), |_| true).await;
            desk.driven().remove(&run);
        });
    }

    /// Carries out a command. If this engine drives the run, waits until the run has reacted, within a time limit.
    pub(crate) async fn command(&self, run: &RunId, command: RunCommand, caller: &Caller) -> Result<Applied, Problem> {
        let applied = self.app().command_within(run, command, &caller.known(), Duration::ZERO).await?;
        self.go_on(&applied).await?;
        Ok(applied)
    }

    /// Continues a run with a changed workflow.
    pub(crate) async fn replan(&self, run: &RunId, how: &Replanning, caller: &Caller) -> Result<Applied, Problem> {
        let (_, applied) = self.app().replan(run, how, &caller.known()).await?;
        self.go_on(&applied).await?;
        Ok(applied)
    }

    /// Like `command`, for a message that is already built.
    pub(crate) async fn send(&self, run: &RunId, message: Message, caller: &Caller) -> Result<Applied, Problem> {
        let applied = self.engine().command(run, message, &caller.who, Duration::ZERO).await?;
        self.go_on(&applied).await?;
        Ok(applied)
    }

    /// Drives a run that has something to do, and waits until it has started.
    async fn go_on(&self, applied: &Applied) -> Result<(), Problem> {
        match applied.then {
            Follow::Finished { .. } | Follow::Client | Follow::Stopped => return Ok(()),
            Follow::Waits | Follow::Paused => {
                self.drive(&applied.run);
                return Ok(());
            }
            Follow::Continues | Follow::NeedsEngine | Follow::Stored => self.drive(&applied.run),
        }
        watch::moved_on(self, &applied.run, applied.seq).await
    }

    /// Waits until the running attempts have stopped and their end is recorded.
    pub(crate) async fn close(&self) {
        self.stop().cancel();
        self.inner.drives.close();
        self.inner.drives.wait().await;
    }

    fn driven(&self) -> std::sync::MutexGuard<'_, HashSet<RunId>> {
        self.inner.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a workflow cannot start, in words for a model.
fn unplanned(name: &str, why: &Unplanned) -> Problem {
    match why {
        Unplanned::Unknown { name, known } => Problem::unknown("workflow", name, known),
        Unplanned::Unreadable(_) => why.rejection(name).into(),
        Unplanned::Mistakes(report) => {
            let found = in_words(report);
            Problem::new(format!("the workflow `{name}` has errors; nothing was started\n\n{found}"))
        }
    }
}

fn listed(disk: &Disk, entry: WorkflowEntry) -> Listed {
    let report = disk.check(&entry, None).ok();
    let first = report.as_ref().and_then(|report| report.workflows.first());
    let description = first.and_then(|workflow| workflow.native.get("description")?.scalar()).unwrap_or_default();
    let plan = first.and_then(|workflow| workflow.plan.clone()).map(Arc::new);
    Listed { description: description.to_owned(), hides: Vec::new(), plan, entry }
}
