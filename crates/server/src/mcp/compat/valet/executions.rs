//! Runs: start, list, show.

use indexmap::IndexMap;
use longhaul_app::StartOrder;
use longhaul_core::Json;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::registry::Registry;
use longhaul_core::view;
use longhaul_runtime::{Loaded, Startable};
use longhaul_store::Query;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::workflows::find;
use super::{Action, debug, gates, limit, mapping, rows};
use crate::mcp::tool::{Call, Nature, Problem};

/// How many runs to search for those of a workflow.
const LOOKED_THROUGH: usize = 1000;

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<Run>(
        "run_workflow",
        "Starts a workflow of the shelf and answers at once; `get_execution` says how it stands.",
        Nature::Adds,
        |call| Box::pin(run(call)),
    ),
    Action::new::<List>("list_workflow_executions", "Runs, the newest first.", Nature::Looks, |call| {
        Box::pin(list(call))
    }),
    Action::new::<Which>(
        "get_execution",
        "One run: status, variables, outputs; and the resume token, while it waits for an approval.",
        Nature::Looks,
        |call| Box::pin(get(call)),
    ),
    Action::new::<Steps>("get_execution_steps", "The steps of a run that were reached.", Nature::Looks, |call| {
        Box::pin(steps(call))
    }),
    Action::new::<Debug>(
        "debug_execution",
        "Why a run stands where it stands: summaries of the run and its steps, a diagnosis, and what to do next.",
        Nature::Looks,
        |call| Box::pin(look_into(call)),
    ),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// Variables of the run: a JSON object.
    #[serde(default)]
    variables_json: Option<Json>,
    #[serde(flatten)]
    repository: Repository,
}

/// Where a run would work. Runs of this engine work in the folder of their project, so none of it can be chosen.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Repository {
    /// Cannot be chosen here: runs work in the folder of the project.
    #[serde(default)]
    repo_url: Option<String>,
    /// Cannot be chosen here: runs work in the folder of the project.
    #[serde(default)]
    repo_branch: Option<String>,
    /// Cannot be chosen here: runs work in the folder of the project.
    #[serde(default)]
    repo_ref: Option<String>,
    /// Cannot be chosen here: runs work in the folder of the project.
    #[serde(default)]
    source_repo_full_name: Option<String>,
}

impl Repository {
    pub(super) fn refuse(&self) -> Result<(), Problem> {
        let given = [&self.repo_url, &self.repo_branch, &self.repo_ref, &self.source_repo_full_name];
        if given.into_iter().flatten().any(|text| !text.trim().is_empty()) {
            return Err(Problem::new(
                "a run works in the folder of its project, so no repository can be chosen; start the server in that repository",
            ));
        }
        Ok(())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only of this workflow.
    #[serde(default)]
    workflow_id: Option<String>,
    /// At most so many: 20 unless you say, 200 at most.
    #[serde(default)]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The id of the run.
    execution_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Steps {
    /// The id of the run.
    execution_id: String,
    /// At most so many: 200 unless you say, 500 at most.
    #[serde(default)]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Debug {
    /// The id of the run.
    execution_id: String,
    /// Steps that are looked at: 200 unless you say, 500 at most.
    #[serde(default)]
    step_limit: Option<u32>,
}

async fn run(mut call: Call) -> Result<Json, Problem> {
    let args: Run = call.arguments()?;
    args.repository.refuse()?;
    let variables = mapping("variables_json", args.variables_json.as_ref())?;
    let shelf = call.state.engine().registry().await?;
    let workflow = find(&shelf, &args.workflow_id)?.0.to_owned();
    let run = start(&call, &shelf, &workflow, variables, RunTrigger::manual()).await?;
    shown(&call, &run).await
}

/// Starts a workflow of the registry, within the limits on running runs.
pub(super) async fn start(
    call: &Call,
    shelf: &Registry,
    workflow: &str,
    inputs: IndexMap<String, Json>,
    mut trigger: RunTrigger,
) -> Result<RunId, Problem> {
    let (_, kept) = find(shelf, workflow)?;
    if !kept.about.enabled {
        return Err(Problem::new(format!("the workflow `{workflow}` is disabled; `update_workflow` enables it")));
    }
    let engine = call.state.engine();
    let who = &call.caller.who;
    if let Some(reason) = engine.crowded(who.user.as_deref()).await? {
        return Err(Problem::new(format!("{reason}: runs at work have to end first; `cancel_execution` ends one")));
    }
    let text = &kept.current().text;
    trigger.workflow_id = Some(workflow.to_owned());
    trigger.workflow_hash = Some(text.hash.clone());
    let trigger = Some(trigger);
    call.state.refresh_shelf().await?;
    let plan = call.state.plan_of(workflow, &text.text)?;
    let startable = Startable { plan, dir: call.state.disk().project.root, source: None };
    let order = StartOrder { inputs, trigger, driver: Driver::Engine, ..StartOrder::default() };
    let run = call.state.app().start(&startable, order, &call.caller.known()).await?;
    call.state.drive(&run);
    Ok(run)
}

async fn list(mut call: Call) -> Result<Json, Problem> {
    let args: List = call.arguments()?;
    let most = limit(args.limit, 20, 200);
    let engine = call.state.engine();
    let query = Query { limit: if args.workflow_id.is_some() { LOOKED_THROUGH } else { most }, ..Query::default() };
    let mut found = Vec::new();
    for row in engine.list(query).await? {
        let loaded = engine.load(&row.run).await?;
        let execution = row_of(&call, &row.run, &loaded);
        let own = |id: &String| execution["workflowId"] == json!(id) || execution["workflowName"] == json!(id);
        if args.workflow_id.as_ref().is_none_or(own) {
            found.push(execution);
        }
        if found.len() == most {
            break;
        }
    }
    Ok(json!({"executions": found}))
}

async fn get(mut call: Call) -> Result<Json, Problem> {
    let args: Which = call.arguments()?;
    let run = call.state.run(&args.execution_id).await?;
    shown(&call, &run).await
}

async fn steps(mut call: Call) -> Result<Json, Problem> {
    let args: Steps = call.arguments()?;
    let (run, loaded) = call.state.load(&args.execution_id).await?;
    let steps = view::steps(&loaded.plan.0, &loaded.state, call.state.engine().now_ms());
    let mut rows = rows::steps(&steps);
    rows.truncate(limit(args.limit, 200, 500));
    Ok(json!({"executionId": run, "steps": rows}))
}

async fn look_into(mut call: Call) -> Result<Json, Problem> {
    let args: Debug = call.arguments()?;
    let (run, loaded) = call.state.load(&args.execution_id).await?;
    let now = call.state.engine().now_ms();
    let most = limit(args.step_limit, 200, 500);
    Ok(debug::told(row_of(&call, &run, &loaded), &loaded.plan.0, &loaded.state, most, now))
}

/// A run, with its token while it waits for an approval.
pub(super) async fn shown(call: &Call, run: &RunId) -> Result<Json, Problem> {
    let loaded = call.state.engine().load(run).await?;
    let mut row = row_of(call, run, &loaded);
    let mut waiting = Vec::new();
    for asked in view::questions(&loaded.plan.0, &loaded.state) {
        let token = gates::token(&call.state, run, &loaded, &asked).await?;
        waiting.push(json!({"stepId": asked.path, "prompt": asked.text, "resumeToken": token}));
    }
    if let Some(first) = waiting.first() {
        row["resumeToken"] = first["resumeToken"].clone();
        row["requiresApproval"] = json!(waiting);
    }
    Ok(json!({"execution": row}))
}

fn row_of(call: &Call, run: &RunId, loaded: &Loaded) -> Json {
    rows::execution(run.as_str(), &loaded.plan.0, &loaded.state, call.state.engine().now_ms())
}
