//! Workflows: lists them, shows one, and checks a text.

use std::path::Path;

use indexmap::IndexMap;
use longhaul_app::workflow::{self, Unplanned};
use longhaul_core::plan::{Input, Limits, Plan};
use longhaul_core::status::RunStatus;
use longhaul_core::{Json, plan};
use longhaul_draw::Picture;
use longhaul_lang::diagnostic::DiagnosticReport as Found;
use longhaul_lang::dialect::Dialect;
use longhaul_lang::{CheckReport, CheckRequest};
use longhaul_project::library::WorkflowEntry;
use longhaul_project::{WorkflowOrigin, disk};
use longhaul_runtime::Startable;
use longhaul_store::Query;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Call, Reply};
use super::problem::Problem;
use super::rows::{Row, row};
use crate::app_state::{AppState, Listed};

/// How many runs a tally counts.
const TALLIED: usize = 100;
/// How many runs a workflow is shown with.
const LAST_RUNS: usize = 10;

/// A workflow in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkflowRow {
    name: String,
    /// The name inside the file, if it is another one. Runs have this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    /// How many steps it has; null if it has errors.
    steps: Option<usize>,
    ok: bool,
    origin: String,
    file: String,
    hides: Vec<Place>,
    runs: Tally,
}

/// All workflows, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Workflows {
    workflows: Vec<WorkflowRow>,
}

/// The place of a workflow.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Place {
    origin: String,
    file: String,
}

/// How the last 100 runs with a name ended.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Tally {
    succeeded: u64,
    failed: u64,
    cancelled: u64,
    open: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Row>,
}

/// A workflow with all data for its page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Workflow {
    #[serde(flatten)]
    row: WorkflowRow,
    dialect: &'static str,
    source: String,
    inputs: IndexMap<String, Input>,
    outputs: Vec<String>,
    #[schemars(with = "serde_json::Map<String, Json>")]
    limits: Limits,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<Picture>,
    #[schemars(with = "Vec<Found<'static>>")]
    diagnostics: Vec<Json>,
    last_runs: Vec<Row>,
}

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    let desk = call.state();
    refreshed(desk).await?;
    let listed = aside(desk, |desk| Ok(desk.listed())).await?;
    let mut rows = Vec::with_capacity(listed.len());
    for listed in listed {
        let runs = last_runs(desk, &listed).await?;
        rows.push(workflow_row(&listed, &runs));
    }
    Reply::json(&Workflows { workflows: rows })
}

pub(super) async fn one(call: Call) -> Result<Reply, Problem> {
    let desk = call.state();
    refreshed(desk).await?;
    let name = call.param("name").to_owned();
    let (listed, source, report) = aside(desk, move |desk| {
        let listed = desk.listed_named(&name).or_else(|| titled(desk, &name)).ok_or_else(|| unknown(&name))?;
        let (source, report) = read(desk, &listed.entry)?;
        Ok((listed, source, report))
    })
    .await?;
    let runs = last_runs(desk, &listed).await?;
    let main = listed.plan.as_deref().map(Plan::main);
    Reply::json(&Workflow {
        dialect: report.dialect.name(),
        source,
        inputs: main.map(inputs).unwrap_or_default(),
        outputs: main.map(|unit| unit.outputs.keys().map(ToString::to_string).collect()).unwrap_or_default(),
        limits: main.map(|unit| unit.limits.clone()).unwrap_or_default(),
        picture: listed.plan.as_deref().map(longhaul_draw::picture),
        diagnostics: findings(&report),
        row: workflow_row(&listed, &runs),
        last_runs: runs.into_iter().take(LAST_RUNS).collect(),
    })
}

/// The workflow with this name inside its file: runs have this name.
fn titled(desk: &AppState, name: &str) -> Option<Listed> {
    desk.listed().into_iter().find(|listed| listed.plan.as_ref().is_some_and(|plan| plan.main().name == name))
}

fn inputs(unit: &plan::Unit) -> IndexMap<String, Input> {
    unit.inputs.iter().map(|(name, input)| (name.to_string(), input.clone())).collect()
}

/// The thing to check: a text, or a workflow of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    workflow: Option<String>,
}

/// The findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    ok: bool,
    #[schemars(with = "Vec<Found<'static>>")]
    diagnostics: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<Picture>,
}

/// Checks a workflow. Executes nothing and writes nothing.
pub(super) async fn check(call: Call) -> Result<Reply, Problem> {
    let body: Check = call.body()?;
    refreshed(call.state()).await?;
    let report = aside(call.state(), move |desk| checked(desk, body)).await?;
    let plan = report.workflows.iter().find_map(|workflow| workflow.plan.as_ref());
    let picture = plan.map(longhaul_draw::picture);
    Reply::json(&Checked { ok: !report.has_errors(), diagnostics: findings(&report), picture })
}

fn checked(desk: &AppState, body: Check) -> Result<CheckReport, Problem> {
    match (body.workflow, body.source) {
        (Some(name), None) => {
            let entry = desk.disk().library.find(&name).ok_or_else(|| unknown(&name))?;
            Ok(read(desk, &entry)?.1)
        }
        (None, Some(text)) => {
            let dialect = body.dialect.map(|name| name.parse::<Dialect>()).transpose();
            let dialect = dialect.map_err(|why| Problem::unreadable(format!("`dialect`: {why}.")))?;
            Ok(check_text(desk, text, dialect, body.file))
        }
        _ => Err(Problem::unreadable("Give either `source`, a text, or `workflow`, a name.")),
    }
}

fn check_text(desk: &AppState, text: String, dialect: Option<Dialect>, file: Option<String>) -> CheckReport {
    let file = file.unwrap_or_else(|| "text.yaml".to_owned());
    let name = Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let request = CheckRequest { name, text, dialect, file, ..CheckRequest::default() };
    longhaul_lang::check(request, &desk.disk())
}

/// A workflow that has no mistakes.
pub(super) fn startable(desk: &AppState, name: &str) -> Result<Startable, Problem> {
    workflow::startable(&desk.disk(), name).map_err(|why| match why {
        Unplanned::Mistakes(report) => Problem::mistakes(name, &report),
        other => other.rejection(name).into(),
    })
}

/// Runs slow work on another thread, so that other requests do not wait.
pub(super) async fn aside<T: Send + 'static>(
    desk: &AppState,
    work: impl FnOnce(&AppState) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let desk = desk.clone();
    let done = tokio::task::spawn_blocking(move || work(&desk)).await;
    done.unwrap_or_else(|_| Err(Problem::failing("the work did not finish")))
}

async fn refreshed(desk: &AppState) -> Result<(), Problem> {
    desk.refresh_shelf().await.map_err(|problem| Problem::failing(problem.text))
}

fn unknown(name: &str) -> Problem {
    Problem::missing(format!("There is no workflow `{name}`."))
}

/// The text of a workflow, and its check report.
fn read(desk: &AppState, entry: &WorkflowEntry) -> Result<(String, CheckReport), Problem> {
    let disk = desk.disk();
    let report = disk.check(entry, None).map_err(|error| Problem::failing(format!("{error:#}")))?;
    Ok((disk.text(entry).unwrap_or_default(), report))
}

fn findings(report: &CheckReport) -> Vec<Json> {
    report.diagnostics.iter().map(|found| json!(found.report(&report.sources))).collect()
}

/// The last runs of a workflow. Runs have the name from inside the file, which may differ from the name in the list.
async fn last_runs(desk: &AppState, listed: &Listed) -> Result<Vec<Row>, Problem> {
    let workflow = listed.plan.as_ref().map_or_else(|| listed.entry.name.clone(), |plan| plan.main().name.clone());
    let query = Query { workflow: Some(workflow), limit: TALLIED, ..Query::default() };
    Ok(desk.engine().list(query).await?.iter().map(row).collect())
}

fn workflow_row(listed: &Listed, runs: &[Row]) -> WorkflowRow {
    let Listed { entry, description, hides, plan } = listed;
    WorkflowRow {
        name: entry.name.clone(),
        title: plan.as_ref().map(|plan| plan.main().name.clone()).filter(|title| *title != entry.name),
        description: description.clone(),
        steps: plan.as_ref().map(|plan| plan.steps.len()),
        ok: plan.is_some(),
        origin: origin(entry.origin),
        file: disk::shown(&entry.file),
        hides: hides
            .iter()
            .map(|other| Place { origin: origin(other.origin), file: disk::shown(&other.file) })
            .collect(),
        runs: tally(runs),
    }
}

/// The word that `longhaul list --json` uses.
fn origin(origin: WorkflowOrigin) -> String {
    json!(origin).as_str().unwrap_or_default().to_owned()
}

fn tally(runs: &[Row]) -> Tally {
    let mut tally = Tally { last: runs.first().cloned(), ..Tally::default() };
    for run in runs {
        *match run.status.parse() {
            Ok(RunStatus::Succeeded) => &mut tally.succeeded,
            Ok(RunStatus::Failed) => &mut tally.failed,
            Ok(RunStatus::Cancelled) => &mut tally.cancelled,
            _ => &mut tally.open,
        } += 1;
    }
    tally
}
