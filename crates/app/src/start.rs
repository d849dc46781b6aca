//! Starts and forks runs.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::origin::Caller;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::Rejection;
use longhaul_runtime::{Error, ForkRequest, StartRequest, Startable};

use crate::App;

/// The values that a run starts with, in addition to its workflow.
#[derive(Debug, Clone, Default)]
pub struct StartOrder {
    /// The text of the task.
    pub task: String,
    /// Inputs by name.
    pub inputs: IndexMap<String, Json>,
    /// The id, if the caller chooses one.
    pub run: Option<RunId>,
    /// The trigger that starts it.
    pub trigger: Option<RunTrigger>,
    /// The driver of its agents' turns: the engine or a client.
    pub driver: Driver,
}

/// Where a run departs from the run that it is forked from.
#[derive(Debug, Clone, Default)]
pub struct Forking {
    /// The first step that runs again. `None` means the first step of the run.
    pub at: Option<StepPath>,
    /// Inputs that differ.
    pub inputs: IndexMap<String, Json>,
    /// The id, if the caller chooses one.
    pub run: Option<RunId>,
    /// The trigger that starts it. `None` means the trigger of the original run.
    pub trigger: Option<RunTrigger>,
}

impl App {
    /// Records the start of a run. The caller owns the run. An engine does the rest.
    pub async fn start(&self, what: &Startable, order: StartOrder, caller: &Caller) -> Result<RunId, Error> {
        let StartOrder { task, inputs, run, trigger, driver } = order;
        let (owner, workflow_dir) = (Some(caller.who.clone()), what.dir.clone());
        let source = what.source.clone();
        let request = StartRequest { task, inputs, run, trigger, owner, workflow_dir, driver, source };
        self.engine().start(&what.plan, request).await
    }

    /// Records a run that shares the past of another one. The caller owns the new run.
    pub async fn fork(&self, from: &RunId, forking: Forking, caller: &Caller) -> Result<RunId, Error> {
        let at = match forking.at {
            Some(at) => at,
            None => self.first_step(from).await?,
        };
        let Forking { inputs, run, trigger, .. } = forking;
        let request = ForkRequest { at: Some(at), inputs, run, trigger, owner: Some(caller.who.clone()) };
        self.engine().fork(from, request).await
    }

    async fn first_step(&self, run: &RunId) -> Result<StepPath, Error> {
        let state = self.engine().load(run).await?.state;
        let first = state.steps().first().map(|step| step.path.clone());
        first.ok_or_else(|| Rejection::untimely("no step of this run was reached yet").into())
    }
}
