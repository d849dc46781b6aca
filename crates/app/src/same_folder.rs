//! Finds runs that edit files of the same folder at the same time. Their changes mix.

use std::path::Path;

use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_runtime::{Error, Loaded};
use longhaul_store::Query;

use crate::App;

/// How many of the newest open runs to look at.
const LOOKED_AT_MAX: usize = 100;

impl App {
    /// The open runs whose agents may edit files of the folder in which this plan would run; none if its own agents
    /// only read.
    pub async fn editing_beside(&self, plan: &Plan, folder: &Path) -> Result<Vec<(RunId, String)>, Error> {
        if !edits(plan) {
            return Ok(Vec::new());
        }
        let statuses = RunStatus::words_of(RunStatus::OPEN);
        let rows = self.list(Query { statuses, limit: LOOKED_AT_MAX, ..Query::default() }).await?;
        let mut found = Vec::new();
        for row in rows {
            // A run that cannot be read does nothing.
            let Ok(loaded) = self.engine().load(&row.run).await else { continue };
            if is_in(&loaded.state, folder) && may_edit(&loaded) {
                found.push((row.run, row.head.workflow));
            }
        }
        Ok(found)
    }
}

fn edits(plan: &Plan) -> bool {
    plan.steps.iter().any(longhaul_core::plan::Step::edits)
}

/// Whether agents of the run will edit something without a person first: a paused run starts nothing.
fn may_edit(loaded: &Loaded) -> bool {
    let state = &loaded.state;
    let is_open = matches!(state.status(), RunStatus::Running | RunStatus::Waiting);
    let only_people = state.waiting().next().is_some() && state.waiting().all(|step| step.asks().is_some());
    is_open && !(only_people && state.running() == 0) && edits(&loaded.plan.0)
}

fn is_in(state: &State, folder: &Path) -> bool {
    let workspace = state.started.as_ref().and_then(|started| started.context.workspace.as_deref());
    // A store that machines do not share belongs to one folder.
    workspace.is_none_or(|workspace| Path::new(workspace) == folder)
}
