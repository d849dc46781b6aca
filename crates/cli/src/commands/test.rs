//! `longhaul test`: runs the tests of a workflow, without a model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use longhaul_core::id::RunId;
use longhaul_project::{Disk, disk};
use longhaul_runtime::Engine;
use serde::Serialize;
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::test_runner::expect::differences;
use crate::test_runner::file::{Test, Tests};
use crate::test_runner::play::{Subject, play};
use crate::test_runner::record;
use crate::ui;

const ENDING: &str = ".test.yaml";

/// Test a workflow with recorded replies of agents and people
///
/// Tests are in NAME.test.yaml beside the workflow, or in a folder `tests` there. Exit codes: 0 every test passed, 1 a test
/// failed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A workflow, or a file of tests [default: all tests of the project]
    what: Option<String>,
    /// Only tests whose name contains this
    #[arg(long, short = 'k', value_name = "TEXT")]
    only: Option<String>,
    /// Print a test made from this finished run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["what", "only"])]
    record: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The result of a test.
#[derive(Debug, Serialize)]
struct Outcome {
    file: String,
    name: String,
    ok: bool,
    ms: u128,
    differences: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(run) = &args.record {
        return record(run, &args.engine);
    }
    let disk = engine_args::disk(&args.engine)?;
    let files = files(&disk, args.what.as_deref())?;
    if files.is_empty() {
        bail!("there are no tests here: write NAME{ENDING} beside a workflow, or let `longhaul new` write one");
    }
    let outcomes = engine_args::block_on(all(args, &disk, &files))?;
    let failed = outcomes.iter().filter(|outcome| !outcome.ok).count();
    if args.json {
        ui::print_json(&json!({"ok": failed == 0, "tests": outcomes}))?;
    } else {
        let passed = outcomes.len() - failed;
        ui::say(format!("{passed} passed, {failed} failed"));
    }
    if outcomes.is_empty() {
        bail!("no test has this text in its name");
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn all(args: &Args, disk: &Disk, files: &[(PathBuf, String)]) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for (file, named) in files {
        let tests = Tests::read(file)?;
        let workflow = tests.workflow.as_ref().unwrap_or(named);
        let startable = engine_args::plan(disk, workflow).with_context(|| disk::shown(file))?;
        let subject = Subject { plan: startable.plan, dir: startable.dir, project: disk.project.root.clone() };
        let is_wanted = |test: &&Test| args.only.as_ref().is_none_or(|text| test.name.contains(text));
        for test in tests.tests.iter().filter(is_wanted) {
            let outcome = one(&subject, file, test).await;
            if !args.json {
                show(&outcome, named)?;
            }
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

async fn one(subject: &Subject, file: &Path, test: &Test) -> Outcome {
    let began = Instant::now();
    let differences = match play(subject, test).await {
        Ok(played) => differences(&test.expect, &played),
        Err(error) => vec![format!("it could not run: {error:#}")],
    };
    let ms = began.elapsed().as_millis();
    Outcome { file: disk::shown(file), name: test.name.clone(), ok: differences.is_empty(), ms, differences }
}

fn show(outcome: &Outcome, workflow: &str) -> Result<()> {
    let mark = if outcome.ok { ui::good("✓") } else { ui::bad("✗") };
    let name = ui::clean(&outcome.name);
    ui::print_line(format!("{mark} {workflow}: {name} {}", ui::dim(format!("{} ms", outcome.ms))))?;
    for difference in &outcome.differences {
        ui::print_line(format!("    {}", ui::clean(difference).replace('\n', "\n    ")))?;
    }
    Ok(())
}

/// The selected test files, each with the workflow that it is named after.
fn files(disk: &Disk, what: Option<&str>) -> Result<Vec<(PathBuf, String)>> {
    let Some(what) = what else {
        let entries = disk.library.all().into_iter().filter(|entry| entry.file.is_file());
        return Ok(entries.flat_map(|entry| beside(&entry.file, &entry.name)).collect());
    };
    let path = Path::new(what);
    if path.is_file() && what.ends_with(ENDING) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(ENDING, "");
        let workflow = named(path, &name).unwrap_or(name);
        return Ok(vec![(path.to_owned(), workflow)]);
    }
    let entry = disk.find(what)?;
    let found = beside(&entry.file, &entry.name);
    if found.is_empty() {
        bail!(
            "`{what}` has no tests: write {}{ENDING} beside it, or `longhaul test --record RUN` makes one of a run",
            entry.name
        );
    }
    Ok(found.into_iter().map(|(file, _)| (file, what.to_owned())).collect())
}

/// The workflow beside a file of tests, as a path.
fn named(tests: &Path, name: &str) -> Option<String> {
    let folder = tests.parent()?;
    let folders = [Some(folder), folder.parent()];
    let files = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| ["yaml", "yml"].map(|ending| folder.join(format!("{name}.{ending}"))));
    files.into_iter().find(|file| file.is_file()).map(|file| file.display().to_string())
}

/// `NAME.test.yaml` beside a workflow, and in `tests` there.
fn beside(workflow: &Path, name: &str) -> Vec<(PathBuf, String)> {
    let folder = workflow.parent().unwrap_or(Path::new(""));
    let files = [folder.join(format!("{name}{ENDING}")), folder.join("tests").join(format!("{name}{ENDING}"))];
    let target = workflow.display().to_string();
    files.into_iter().filter(|file| file.is_file()).map(|file| (file, target.clone())).collect()
}

/// Prints a run as a test.
fn record(run: &str, args: &EngineArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine: Engine = engine_args::open_what_is_there(args)?;
        let run: RunId = engine.find(run).await?;
        let loaded = engine.load(&run).await?;
        if !loaded.state.is_finished() {
            bail!("{run} is not over yet; a test is made of a run that is");
        }
        let mut events = Vec::new();
        loop {
            let after = events.last().map_or(0, |last: &longhaul_core::event::Envelope| last.seq);
            let page = engine.events(&run, after, 1000).await?;
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        let tests = record::tests(run.as_str(), &loaded.plan.0, &loaded.state, &events);
        // JSON is YAML, too.
        ui::print_json(&tests)?;
        Ok(ExitCode::SUCCESS)
    })
}
