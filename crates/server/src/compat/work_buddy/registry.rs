//! The workflows that `wb_run` can start, by the names that work-buddy gives them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use longhaul_core::plan::Plan;
use longhaul_lang::Report;
use longhaul_lang::source::Node;
use longhaul_project::{Disk, Entry};
use serde_json::{Map, Value, json};

use crate::desk::Desk;
use crate::tool::Problem;

/// A workflow that can be started.
pub(super) struct Registered {
    pub(super) name: String,
    pub(super) description: String,
    /// Other names, tags and the like.
    pub(super) words: Vec<String>,
    pub(super) plan: Plan,
    /// Where its scripts are.
    pub(super) dir: PathBuf,
}

/// Every workflow without errors; a file can have several.
pub(super) fn all(desk: &Desk) -> Vec<Registered> {
    let disk = desk.disk();
    let mut seen = HashSet::new();
    let checked = entries(&disk).into_iter().filter_map(|entry| Some((disk.check(&entry, None).ok()?, entry)));
    let registered = checked.flat_map(|(report, entry)| in_file(&report, &entry));
    registered.filter(|registered| seen.insert(registered.name.clone())).collect()
}

/// The workflow with a name, or with another name of its own.
pub(super) fn find(desk: &Desk, name: &str) -> Result<Registered, Problem> {
    // By the name of its file, which says what is wrong with it, too.
    if let Some(entry) = desk.disk().library.find(name) {
        let (entry, plan) = desk.plan(&entry.name)?;
        let description = plan.main().description.clone().unwrap_or_default();
        return Ok(Registered { name: name.to_owned(), description, words: Vec::new(), plan, dir: dir(&entry) });
    }
    let mut all = all(desk);
    let at = all
        .iter()
        .position(|one| one.name == name)
        .or_else(|| all.iter().position(|one| one.words.iter().any(|word| word == name)));
    match at {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(unknown(name, all)),
    }
}

fn unknown(name: &str, all: Vec<Registered>) -> Problem {
    let known: Vec<String> =
        all.into_iter().map(|one| one.name).chain(super::run::CAPABILITIES.map(str::to_owned)).collect();
    Problem::unknown("capability or workflow", name, &known)
}

/// One a name: the first place in which it is found wins.
fn entries(disk: &Disk) -> Vec<Entry> {
    let mut seen = HashSet::new();
    let mut entries = disk.library.all();
    entries.retain(|entry| seen.insert(entry.name.clone()));
    entries
}

fn in_file(report: &Report, entry: &Entry) -> Vec<Registered> {
    let own = |workflow: &longhaul_lang::Checked| {
        let plan = workflow.plan.clone()?;
        let text = |key: &str| workflow.native.get(key).and_then(Node::scalar).unwrap_or_default().to_owned();
        let list = |key: &str| workflow.native.get(key).and_then(Node::items).unwrap_or_default();
        let words = list("aliases").iter().chain(list("tags")).filter_map(Node::scalar).map(str::to_owned);
        let words = words.chain([entry.name.clone()]).collect();
        Some(Registered { name: workflow.name.clone(), description: text("description"), words, plan, dir: dir(entry) })
    };
    report.workflows.iter().filter_map(own).collect()
}

fn dir(entry: &Entry) -> PathBuf {
    let here = if entry.dir.as_os_str().is_empty() { Path::new(".") } else { &entry.dir };
    std::path::absolute(here).unwrap_or_default()
}

/// The parameters of a workflow, as work-buddy writes them.
pub(super) fn params_schema(plan: &Plan) -> Map<String, Value> {
    let param = |(name, input): (&longhaul_core::id::Name, &longhaul_core::plan::Input)| {
        let about = json!({
            "type": input.value_type().to_string(), "description": input.description, "required": input.is_required(),
        });
        (name.to_string(), about)
    };
    plan.main().inputs.iter().map(param).collect()
}
