//! What every call works on: the engine, the project, and the runs that this process drives.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use longhaul_core::origin;
use longhaul_core::plan::Plan;
use longhaul_core::shelf::Shelf;
use longhaul_lang::{Report, Request};
use longhaul_project::kept::Shelves;
use longhaul_project::{Disk, Entry, Origin, Project};
use longhaul_runtime::{Engine, Loaded, Message, StartRequest};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::mcp::compat::ToolSet;
use crate::mcp::tool::{Caller, Problem};
use crate::mcp::watch;

/// What a server is opened with.
pub struct Setup {
    /// Drives runs.
    pub engine: Engine,
    /// Who started the server.
    pub origin: origin::Origin,
    /// Whose workflows are offered.
    pub project: Project,
    /// Where the server keeps what is its own.
    pub data_dir: PathBuf,
    /// Whether each workflow is a tool, too.
    pub tool_per_workflow: bool,
    /// Tool sets of other systems that are there, too.
    pub compat: Vec<ToolSet>,
    /// Ends everything.
    pub stop: CancellationToken,
}

/// What every call works on.
#[derive(Clone)]
pub struct Desk {
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
    drives: TaskTracker,
    driven: Mutex<HashSet<RunId>>,
    /// As it was when the call came.
    shelf: Mutex<Arc<Shelf>>,
    /// What ships inside the binary, as lists show it: that does not change while it runs.
    shipped: Mutex<HashMap<String, Listed>>,
}

/// A workflow as lists show it.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) entry: Entry,
    pub(crate) description: String,
    /// Those of the same name that are found later.
    pub(crate) hides: Vec<Entry>,
    /// `None` if it has errors.
    pub(crate) plan: Option<Arc<Plan>>,
}

/// What a run is to be about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    pub(crate) task: String,
    pub(crate) inputs: IndexMap<String, Json>,
    /// The id, where the client chooses it.
    pub(crate) run: Option<RunId>,
}

impl Desk {
    /// A desk with nothing on it.
    pub fn new(setup: Setup) -> Self {
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

    /// The project as it is now: files change while a server runs.
    pub(crate) fn disk(&self) -> Disk {
        let shelf = Arc::clone(&self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner));
        Disk::new(self.inner.setup.project.clone()).with_shelves(Shelves::known(&shelf))
    }

    /// Reads the shelf: workflows are looked up in many places that cannot wait for it.
    pub(crate) async fn refresh_shelf(&self) -> Result<(), Problem> {
        let shelf = Arc::new(self.engine().shelf().await?);
        *self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner) = shelf;
        Ok(())
    }

    /// The run that an id or the beginning of one stands for.
    pub(crate) async fn run(&self, id: &str) -> Result<RunId, Problem> {
        Ok(self.engine().find(id).await?)
    }

    /// A run with its plan and state.
    pub(crate) async fn load(&self, id: &str) -> Result<(RunId, Loaded), Problem> {
        let run = self.run(id).await?;
        let loaded = self.engine().load(&run).await?;
        Ok((run, loaded))
    }

    /// A workflow of the library, by name alone: a client does not choose files.
    pub(crate) fn workflow(&self, name: &str) -> Result<(Entry, Report), Problem> {
        let disk = self.disk();
        let Some(entry) = disk.library.find(name) else {
            let known: Vec<String> = disk.library.all().into_iter().map(|entry| entry.name).collect();
            return Err(Problem::unknown("workflow", name, &known));
        };
        let report = disk.check(&entry, None).map_err(|error| Problem::new(format!("{error:#}")))?;
        Ok((entry, report))
    }

    /// Every workflow that can be found, one a name: the first place in which it is found wins.
    pub(crate) fn listed(&self) -> Vec<Listed> {
        let disk = self.disk();
        let mut names: IndexMap<String, Vec<Entry>> = IndexMap::new();
        for entry in disk.library.all() {
            names.entry(entry.name.clone()).or_default().push(entry);
        }
        names.retain(|_, entries| !entries.iter().all(Entry::is_part));
        names.sort_keys();
        names.into_values().filter_map(|entries| self.listed_one(&disk, entries)).collect()
    }

    /// A workflow by its name, with all that lists show.
    pub(crate) fn listed_named(&self, name: &str) -> Option<Listed> {
        let disk = self.disk();
        let entries = disk.library.all().into_iter().filter(|entry| entry.name == name).collect();
        self.listed_one(&disk, entries)
    }

    /// The first entry of a name wins and hides the others.
    fn listed_one(&self, disk: &Disk, mut entries: Vec<Entry>) -> Option<Listed> {
        let hides = entries.split_off(1.min(entries.len()));
        let entry = entries.pop()?;
        let known = if entry.origin == Origin::Builtin {
            let mut shipped = self.inner.shipped.lock().unwrap_or_else(PoisonError::into_inner);
            shipped.entry(entry.name.clone()).or_insert_with(|| listed(disk, entry)).clone()
        } else {
            listed(disk, entry)
        };
        Some(Listed { hides, ..known })
    }

    /// The plan of a workflow that has no errors.
    pub(crate) fn plan(&self, name: &str) -> Result<(Entry, Plan), Problem> {
        let (entry, report) = self.workflow(name)?;
        let refused = || {
            let found = crate::mcp::tools::workflow_check::in_words(&report);
            Problem::new(format!("the workflow `{name}` has errors; nothing was started\n\n{found}"))
        };
        if report.has_errors() {
            return Err(refused());
        }
        let plan = report.workflows.iter().find_map(|workflow| workflow.plan.clone()).ok_or_else(refused)?;
        Ok((entry, plan))
    }

    /// The plan of a text that is no file.
    pub(crate) fn plan_of(&self, name: &str, text: &str) -> Result<Plan, Problem> {
        let request = Request {
            file: format!("{name}.yaml"),
            name: name.to_owned(),
            text: text.to_owned(),
            ..Request::default()
        };
        let report = longhaul_lang::check(request, &self.disk());
        report
            .workflows
            .iter()
            .find_map(|workflow| workflow.plan.clone())
            .ok_or_else(|| Problem::new(crate::mcp::tools::workflow_check::in_words(&report)))
    }

    /// Records the beginning of a run of a workflow.
    pub(crate) async fn start(
        &self,
        workflow: &str,
        order: Order,
        driver: Driver,
        caller: &Caller,
    ) -> Result<RunId, Problem> {
        let (entry, plan) = self.plan(workflow)?;
        let here = if entry.dir.as_os_str().is_empty() { Path::new(".") } else { &entry.dir };
        let workflow_dir = std::path::absolute(here).unwrap_or_default();
        self.start_plan(&plan, workflow_dir, order, driver, caller).await
    }

    /// Records the beginning of a run of a plan.
    pub(crate) async fn start_plan(
        &self,
        plan: &Plan,
        workflow_dir: PathBuf,
        order: Order,
        driver: Driver,
        caller: &Caller,
    ) -> Result<RunId, Problem> {
        let request = StartRequest {
            task: order.task,
            inputs: order.inputs,
            run: order.run,
            trigger: json!({"type": "mcp", "client": caller.client}),
            owner: Some(caller.who.clone()),
            workflow_dir,
            driver,
        };
        Ok(self.engine().start(plan, request).await?)
    }

    /// Drives a run for as long as this server lives, unless it does already.
    pub(crate) fn drive(&self, run: &RunId) {
        if !self.driven().insert(run.clone()) {
            return;
        }
        let (desk, run) = (self.clone(), run.clone());
        self.inner.drives.spawn(async move {
            // A failed machine is told to whoever looks at the run next: everything that is known is in its history.
            let _ = desk.engine().drive(&run, desk.stop().clone(), |_| true).await;
            desk.driven().remove(&run);
        });
    }

    /// Tells a run something. One that the engine drives has taken it in by then, unless that takes too long.
    pub(crate) async fn tell(&self, run: &RunId, message: Message, who: &origin::Origin) -> Result<(), Problem> {
        let before = self.engine().load(run).await?.state;
        self.engine().tell_as(run, message, who).await?;
        if !before.is_hosted() {
            self.drive(run);
            watch::moved_on(self, run, before.seq).await?;
        }
        Ok(())
    }

    /// Lets what is under way come to an end that is recorded.
    pub(crate) async fn close(&self) {
        self.stop().cancel();
        self.inner.drives.close();
        self.inner.drives.wait().await;
    }

    fn driven(&self) -> std::sync::MutexGuard<'_, HashSet<RunId>> {
        self.inner.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listed(disk: &Disk, entry: Entry) -> Listed {
    let report = disk.check(&entry, None).ok();
    let first = report.as_ref().and_then(|report| report.workflows.first());
    let description = first.and_then(|workflow| workflow.native.get("description")?.scalar()).unwrap_or_default();
    let plan = first.and_then(|workflow| workflow.plan.clone()).map(Arc::new);
    Listed { description: description.to_owned(), hides: Vec::new(), plan, entry }
}
