//! `workflow_list`: the workflows there are.

use longhaul_project::disk::shown;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::desk::{Desk, Listed};
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

fn rows(desk: &Desk) -> Vec<Value> {
    let row = |Listed { entry, description, plan, .. }: Listed| {
        let steps = plan.map(|plan| plan.steps.len());
        json!({
            "name": entry.name, "description": description, "steps": steps, "ok": steps.is_some(), "origin": entry.origin,
            "file": shown(&entry.file),
        })
    };
    desk.listed().into_iter().map(row).collect()
}
