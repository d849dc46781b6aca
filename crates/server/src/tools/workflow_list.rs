//! `workflow_list`: the workflows there are.

use longhaul_project::disk::shown;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::schema;
use crate::desk::Desk;
use crate::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "workflow_list",
    title: "List workflows",
    about: "The workflows that can be started here: name, what each is for, how many steps, where it came from.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(list(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

async fn list(mut call: Call) -> Result<Reply, Problem> {
    let Args {} = call.arguments()?;
    Ok(reply(&call.desk))
}

/// The list, as a reply.
pub(crate) fn reply(desk: &Desk) -> Reply {
    let rows = rows(desk);
    let line = |row: &Value| {
        let steps = row["steps"].as_u64().map_or_else(|| "has errors".to_owned(), |steps| format!("{steps} steps"));
        format!(
            "{} ({steps}): {}",
            row["name"].as_str().unwrap_or_default(),
            row["description"].as_str().unwrap_or_default()
        )
    };
    let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
    Reply::Done(text, json!({"workflows": rows}))
}

/// One row a name: the first place in which it is found wins.
fn rows(desk: &Desk) -> Vec<Value> {
    let disk = desk.disk();
    let mut entries = disk.library.all();
    let mut seen = std::collections::HashSet::new();
    entries.retain(|entry| seen.insert(entry.name.clone()));
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let row = |entry: &longhaul_project::Entry| {
        let report = disk.check(entry, None).ok();
        let first = report.as_ref().and_then(|report| report.workflows.first());
        let about = first.and_then(|workflow| workflow.native.get("description")?.scalar()).unwrap_or_default();
        let steps = first.and_then(|workflow| workflow.plan.as_ref()).map(|plan| plan.steps.len());
        json!({"name": entry.name, "description": about, "steps": steps, "ok": steps.is_some(), "origin": entry.origin, "file": shown(&entry.file)})
    };
    entries.iter().map(row).collect()
}
