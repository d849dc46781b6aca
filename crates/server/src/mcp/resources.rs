//! Resources: workflows, runs, outputs, and the files of attempts.
//!
//! **Invariant:** an address never names a file path. Each part is the name of a workflow, the id of a run, the path of
//! a step, a number, or one of a few known words.

use std::io::Read;

use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_store::Query;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::app_state::AppState;
use crate::mcp::tool::Problem;

const SCHEME: &str = "longhaul://";
/// How many runs to list. Older runs can be read, too.
const RUNS_LISTED: usize = 20;
/// The most bytes of a file to show.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The files of an attempt.
const FILES: &[&str] = &["stdout", "stderr", "prompt.md", "transcript.jsonl"];

/// All workflows, and the newest runs.
pub(crate) async fn list(desk: &AppState) -> Result<Vec<Resource>, ErrorData> {
    let mut names: Vec<String> = desk.disk().library.all().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.dedup();
    let workflows = names.into_iter().map(|name| {
        Resource::new(format!("{SCHEME}workflow/{name}"), format!("workflow {name}")).with_mime_type("application/yaml")
    });
    let query = Query { limit: RUNS_LISTED, ..Query::default() };
    let rows = desk.engine().list(query).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let runs = rows.into_iter().map(|row| {
        let about = format!("{}: {}", row.head.workflow, row.head.status);
        Resource::new(format!("{SCHEME}run/{}", row.run), format!("run {}", row.run))
            .with_description(about)
            .with_mime_type("application/json")
    });
    Ok(workflows.chain(runs).collect())
}

/// Templates of the other addresses.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |path: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), name).with_description(about).with_mime_type(kind)
    };
    vec![
        template("workflow/{name}", "workflow", "The text of a workflow", "application/yaml"),
        template("run/{run}", "run", "The state of a run, step by step", "application/json"),
        template("run/{run}/output/{step}", "output", "The whole output of a step", "text/plain"),
        template(
            "run/{run}/artifact/{step}/{attempt}/{file}",
            "artifact",
            "A file of an attempt: stdout, stderr, prompt.md or transcript.jsonl",
            "text/plain",
        ),
    ]
}

/// Reads the resource at an address.
pub(crate) async fn read(desk: &AppState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let found = content(desk, uri).await;
    let (text, kind) =
        found.map_err(|problem| ErrorData::resource_not_found(problem.text, Some(json!({"uri": uri}))))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

async fn content(desk: &AppState, uri: &str) -> Result<(String, &'static str), Problem> {
    let parts: Vec<&str> = uri.strip_prefix(SCHEME).unwrap_or_default().split('/').collect();
    match parts.as_slice() {
        ["workflow", name] => workflow(desk, name),
        ["run", run] => whole_run(desk, run).await,
        ["run", run, "output", step @ ..] if !step.is_empty() => output(desk, run, &step.join("/")).await,
        ["run", run, "artifact", step @ .., attempt, file] if !step.is_empty() => {
            artifact(desk, run, &step.join("/"), attempt, file).await
        }
        _ => Err(Problem::new(format!(
            "there is nothing at `{uri}`; addresses begin with {SCHEME}workflow/ or {SCHEME}run/"
        ))),
    }
}

fn workflow(desk: &AppState, name: &str) -> Result<(String, &'static str), Problem> {
    let disk = desk.disk();
    let (entry, _) = desk.workflow(name)?;
    let text = disk.text(&entry).map_err(|error| Problem::new(format!("{error:#}")))?;
    Ok((text, "application/yaml"))
}

async fn whole_run(desk: &AppState, run: &str) -> Result<(String, &'static str), Problem> {
    let (run, loaded) = desk.load(run).await?;
    let (plan, now) = (&loaded.plan.0, desk.engine().now_ms());
    let page = json!({
        "run": run, "at_a_glance": view::run(plan, &loaded.state, now), "steps": view::steps(plan, &loaded.state, now),
        "questions": view::questions(plan, &loaded.state),
    });
    Ok((format!("{page:#}"), "application/json"))
}

async fn output(desk: &AppState, run: &str, step: &str) -> Result<(String, &'static str), Problem> {
    Ok(match crate::mcp::tools::output::value(desk, run, step).await? {
        Value::String(text) => (text, "text/plain"),
        other => (format!("{other:#}"), "application/json"),
    })
}

async fn artifact(
    desk: &AppState,
    run: &str,
    step: &str,
    attempt: &str,
    file: &str,
) -> Result<(String, &'static str), Problem> {
    let (run, loaded) = desk.load(run).await?;
    let path: StepPath = step.parse().map_err(Problem::new)?;
    let attempt: u32 = attempt.parse().map_err(|_| Problem::new(format!("`{attempt}` is not an attempt")))?;
    if loaded.state.find(&path).is_none() {
        return Err(Problem::new(format!("no step `{step}` was reached in {run}")));
    }
    let Some(file) = FILES.iter().find(|known| **known == file) else {
        return Err(Problem::new(format!("attempts leave {}", FILES.join(", "))));
    };
    let place = desk.engine().attempt_dir(&run, &path, attempt).join(file);
    let missing = || Problem::new(format!("attempt {attempt} of `{step}` left no {file}"));
    let open = std::fs::File::open(place).map_err(|_| missing())?;
    let mut bytes = Vec::new();
    open.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|_| missing())?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), "text/plain"))
}
