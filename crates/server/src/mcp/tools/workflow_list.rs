//! `workflow_list`: lists the workflows.

use longhaul_project::disk::shown;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::app_state::{AppState, Listed};
use crate::mcp::answers::{Workflow, Workflows};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

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
    Ok(reply(&call.state))
}

/// The list as a reply.
pub(crate) fn reply(desk: &AppState) -> Reply {
    let rows = rows(desk);
    let line = |row: &Workflow| {
        let steps = row.steps.map_or_else(|| "has errors".to_owned(), |steps| format!("{steps} steps"));
        format!("{} ({steps}): {}", row.name, row.description)
    };
    let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
    Reply::Done(text, json!(Workflows { workflows: rows }))
}

fn rows(desk: &AppState) -> Vec<Workflow> {
    let row = |Listed { entry, description, plan, .. }: Listed| {
        let steps = plan.map(|plan| plan.steps.len());
        let file = shown(&entry.file).to_string();
        Workflow { name: entry.name, description, steps, ok: steps.is_some(), origin: entry.origin, file }
    };
    desk.listed().into_iter().map(row).collect()
}
