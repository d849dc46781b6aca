//! Finds, checks and plans workflows so that they can start.

use std::path::{Path, PathBuf};

use longhaul_core::plan::Plan;
use longhaul_core::rejection::Rejection;
use longhaul_lang::dialect::Dialect;
use longhaul_lang::{CheckReport, CheckRequest};
use longhaul_project::{Disk, WorkflowEntry, WorkflowOrigin};
use longhaul_runtime::{SourceText, Startable, Wanted};

/// Why a workflow cannot start.
#[derive(Debug)]
pub enum Unplanned {
    /// There is no workflow of this name.
    Unknown {
        /// The name that the caller gave.
        name: String,
        /// The names of all workflows.
        known: Vec<String>,
    },
    /// Its file cannot be read.
    Unreadable(String),
    /// It has mistakes.
    Mistakes(Box<CheckReport>),
}

impl Unplanned {
    /// The rejection that all interfaces show.
    pub fn rejection(&self, name: &str) -> Rejection {
        match self {
            Self::Unknown { name, .. } => Rejection::not_found(format!("there is no workflow `{name}`")),
            Self::Unreadable(why) => Rejection::unavailable(why.clone()),
            Self::Mistakes(_) => Rejection::invalid(format!("`{name}` has errors")),
        }
    }
}

/// The folder of a workflow's scripts.
pub fn scripts_dir(entry: &WorkflowEntry) -> PathBuf {
    let here = if entry.dir.as_os_str().is_empty() { Path::new(".") } else { &entry.dir };
    std::path::absolute(here).unwrap_or_default()
}

/// Finds and checks a workflow of the library by its name. A client cannot choose files.
pub fn named(disk: &Disk, name: &str) -> Result<(WorkflowEntry, CheckReport), Unplanned> {
    let Some(entry) = disk.library.find(name) else {
        let known = disk.library.all().into_iter().map(|entry| entry.name).collect();
        return Err(Unplanned::Unknown { name: name.to_owned(), known });
    };
    let report = checked(disk, &entry, None)?;
    Ok((entry, report))
}

/// Checks a workflow.
pub fn checked(disk: &Disk, entry: &WorkflowEntry, dialect: Option<Dialect>) -> Result<CheckReport, Unplanned> {
    disk.check(entry, dialect).map_err(|error| Unplanned::Unreadable(format!("{error:#}")))
}

/// The plan of a workflow without mistakes, and the folder of its scripts.
pub fn planned(entry: &WorkflowEntry, mut report: CheckReport) -> Result<Startable, Unplanned> {
    let plan = report.workflows.iter_mut().find_map(|workflow| workflow.plan.take());
    match plan.filter(|_| !report.has_errors()) {
        Some(plan) => Ok(Startable { plan, dir: scripts_dir(entry), source: Some(source_of(entry, &report)) }),
        None => Err(Unplanned::Mistakes(Box::new(report))),
    }
}

/// The text that a workflow was read from.
fn source_of(entry: &WorkflowEntry, report: &CheckReport) -> SourceText {
    let is_file = !matches!(entry.origin, WorkflowOrigin::Builtin | WorkflowOrigin::Shelf);
    let file = std::path::absolute(&entry.file).ok().filter(|_| is_file).map(|file| file.display().to_string());
    let dialect = Some(report.dialect).filter(|dialect| *dialect != Dialect::Native);
    SourceText {
        file,
        text: report.sources.first().to_owned(),
        dialect: dialect.map(|it| it.name().to_owned()),
        edited: false,
    }
}

/// Checks a text that takes the place of a run's text: with the same format, and beside the same files.
pub fn edited(disk: &Disk, before: Option<&SourceText>, name: &str, text: &str) -> Result<Startable, Unplanned> {
    let file = before.and_then(|before| before.file.clone()).unwrap_or_else(|| format!("{name}.yaml"));
    let dir = Path::new(&file).parent().map(|dir| dir.display().to_string()).unwrap_or_default();
    let dialect = before.and_then(|before| before.dialect.as_deref()?.parse().ok());
    let request =
        CheckRequest { file: file.clone(), name: name.to_owned(), dir: dir.clone(), text: text.to_owned(), dialect };
    let mut report = longhaul_lang::check(request, disk);
    let plan = report.workflows.iter_mut().find_map(|workflow| workflow.plan.take());
    let source = SourceText {
        file: before.and_then(|before| before.file.clone()),
        text: text.to_owned(),
        dialect: before.and_then(|before| before.dialect.clone()),
        edited: true,
    };
    match plan.filter(|_| !report.has_errors()) {
        Some(plan) => Ok(Startable { plan, dir: dir.into(), source: Some(source) }),
        None => Err(Unplanned::Mistakes(Box::new(report))),
    }
}

/// A workflow of the library that can be started.
pub fn startable(disk: &Disk, name: &str) -> Result<Startable, Unplanned> {
    let (entry, report) = named(disk, name)?;
    planned(&entry, report)
}

/// The plan of a workflow text that is not in a file.
pub fn of_text(disk: &Disk, name: &str, text: &str) -> Result<Plan, Unplanned> {
    let request = CheckRequest {
        file: format!("{name}.yaml"),
        name: name.to_owned(),
        text: text.to_owned(),
        ..CheckRequest::default()
    };
    let report = longhaul_lang::check(request, disk);
    let plan = report.workflows.iter().find_map(|workflow| workflow.plan.clone());
    plan.ok_or_else(|| Unplanned::Mistakes(Box::new(report)))
}

/// The workflow that a trigger starts; `None` if it is gone.
pub fn wanted(disk: &Disk, wanted: Wanted<'_>) -> Result<Option<Startable>, String> {
    let name = match wanted {
        Wanted::Workflow(name) => name,
        Wanted::Prompt => return prompt(disk).map(Some),
    };
    let Ok(entry) = disk.find(name) else { return Ok(None) };
    let startable = checked(disk, &entry, None).and_then(|report| planned(&entry, report));
    startable.map(Some).map_err(|why| why.rejection(name).to_string())
}

/// A plan with one prompt: the task.
fn prompt(disk: &Disk) -> Result<Startable, String> {
    let text = "name: scheduled-prompt\ndo:\n  - id: answer\n    prompt: '{{ task }}'\n";
    let plan = of_text(disk, "scheduled-prompt", text);
    let plan = plan.map_err(|_| "a prompt cannot be planned in this project".to_owned())?;
    Ok(Startable { plan, dir: disk.project.root.clone(), source: None })
}
