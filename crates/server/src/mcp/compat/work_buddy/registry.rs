//! The workflows that `wb_run` can start, by the names of work-buddy.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use longhaul_app::workflow::scripts_dir;
use longhaul_core::id::Name;
use longhaul_core::plan::{Input, Plan};
use longhaul_lang::source::Node;
use longhaul_lang::{CheckReport, Checked};
use longhaul_project::{WorkflowEntry, WorkflowOrigin};
use serde_json::{Map, Value, json};

use crate::app_state::AppState;
use crate::mcp::tool::Problem;

/// A workflow that can start.
pub(super) struct Registered {
    pub(super) name: String,
    pub(super) description: String,
    /// Its other names.
    pub(super) aliases: Vec<String>,
    pub(super) tags: Vec<String>,
    pub(super) plan: Plan,
    /// The folder of its scripts.
    pub(super) dir: PathBuf,
}

/// All workflows without errors.
pub(super) fn all(desk: &AppState) -> Vec<Registered> {
    let mut all = own(desk);
    let shipped = desk.listed().into_iter().filter(|listed| listed.entry.origin == WorkflowOrigin::Builtin);
    all.extend(shipped.filter_map(|listed| {
        let (name, dir) = (listed.entry.name.clone(), scripts_dir(&listed.entry));
        let plan = Arc::unwrap_or_clone(listed.plan?);
        Some(Registered { name, description: listed.description, aliases: Vec::new(), tags: Vec::new(), plan, dir })
    }));
    all
}

/// The workflows in files. A file can have several.
fn own(desk: &AppState) -> Vec<Registered> {
    let disk = desk.disk();
    let mut entries = disk.library.all();
    entries.retain(|entry| entry.origin != WorkflowOrigin::Builtin);
    let checked = entries.into_iter().filter_map(|entry| Some((disk.check(&entry, None).ok()?, entry)));
    // One for each name: the first place in which a name is found wins.
    let mut seen = HashSet::new();
    let found = checked.flat_map(|(report, entry)| in_file(&report, &entry));
    found.filter(|registered| seen.insert(registered.name.clone())).collect()
}

/// Finds a workflow by its name or an alias.
pub(super) fn find(desk: &AppState, name: &str) -> Result<Registered, Problem> {
    // Look for a file with this name first, because its check says what is wrong with it.
    if desk.disk().library.find(name).is_some() {
        let (entry, plan) = desk.plan(name)?;
        let description = plan.main().description.clone().unwrap_or_default();
        let (name, dir) = (name.to_owned(), scripts_dir(&entry));
        return Ok(Registered { name, description, aliases: Vec::new(), tags: Vec::new(), plan, dir });
    }
    let mut own = own(desk);
    let named = own.iter().position(|one| one.name == name);
    let at = named.or_else(|| own.iter().position(|one| one.aliases.iter().any(|alias| alias == name)));
    match at {
        Some(at) => Ok(own.swap_remove(at)),
        None => Err(unknown(desk, name, own)),
    }
}

fn unknown(desk: &AppState, name: &str, own: Vec<Registered>) -> Problem {
    let known = desk.disk().library.all().into_iter().map(|entry| entry.name);
    let mut known: Vec<String> = known.chain(own.into_iter().map(|one| one.name)).collect();
    known.extend(super::run::CAPABILITIES.map(str::to_owned));
    known.sort();
    known.dedup();
    Problem::unknown("capability or workflow", name, &known)
}

fn in_file(report: &CheckReport, entry: &WorkflowEntry) -> Vec<Registered> {
    let registered = |workflow: &Checked| {
        let plan = workflow.plan.clone()?;
        let description = workflow.native.get("description").and_then(Node::scalar).unwrap_or_default().to_owned();
        let list = |key: &str| {
            let items = workflow.native.get(key).and_then(Node::items).unwrap_or_default().iter();
            items.filter_map(Node::scalar).map(str::to_owned).collect::<Vec<_>>()
        };
        let (mut aliases, tags) = (list("aliases"), list("tags"));
        aliases.push(entry.name.clone());
        Some(Registered { name: workflow.name.clone(), description, aliases, tags, plan, dir: scripts_dir(entry) })
    };
    report.workflows.iter().filter_map(registered).collect()
}

/// The parameters of a workflow, as work-buddy writes them.
pub(super) fn params_schema(plan: &Plan) -> Map<String, Value> {
    let param = |(name, input): (&Name, &Input)| {
        let about = json!({
            "type": type_word(input), "description": input.description, "required": input.is_required(),
        });
        (name.to_string(), about)
    };
    plan.main().inputs.iter().map(param).collect()
}

fn type_word(input: &Input) -> &'static str {
    match input.schema.get("type").and_then(Value::as_str) {
        Some("string") => "str",
        Some("integer") => "int",
        Some("number") => "float",
        Some("boolean") => "bool",
        Some("array") => "list",
        Some("object") => "dict",
        _ => "any",
    }
}
