//! `workflow_plan`: what a workflow would do with a task. It executes nothing.

use longhaul_core::Json;
use longhaul_core::plan::{Arg, Form, Plan, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::told;
use super::step::kind;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "agent007_workflow_plan",
    title: "agent007: plan of a workflow",
    about: "The steps of a workflow with persona, prompt, dependencies and output. Executes nothing; outputs that do not exist yet stay as \
            they are written.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(plan(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow.
    name: String,
    /// What would be done.
    task: String,
}

async fn plan(mut call: Call) -> Result<Reply, Problem> {
    let Args { name, task } = call.arguments()?;
    let (entry, plan) = call.state.plan(&name)?;
    let steps = plan.body(plan.main().body).steps.iter().map(|step| plan.step(*step));
    let steps: Vec<Value> = steps.map(|step| row(&plan, step, &task)).collect();
    Ok(told(json!({
        "workflow": entry.name, "description": plan.main().description, "task": task, "total_steps": steps.len(), "steps": steps,
    })))
}

fn row(plan: &Plan, step: &Step, task: &str) -> Value {
    let param = |key: &str| match &step.form {
        Form::Work(work) => work.params.get(key).map(written).unwrap_or_default(),
        _ => Json::Null,
    };
    let agent = param("agent");
    json!({
        "id": step.id,
        "step_type": kind(step),
        "agent": agent.get("persona").cloned().unwrap_or_default(),
        "model": agent.get("model").cloned().unwrap_or_default(),
        "prompt": param("text").as_str().map(|text| with_task(text, task)),
        "depends_on": step.deps.iter().map(|dep| plan.step(*dep).id.to_string()).collect::<Vec<_>>(),
        "output": step.output.alias,
        "requires_approval": step.review.is_some(),
    })
}

/// A value as the file has it.
fn written(arg: &Arg) -> Json {
    match arg {
        Arg::Json(value) => value.clone(),
        Arg::Expr(expr) => Json::String(format!("{{{{ {} }}}}", expr.0)),
        Arg::Text(text) => Json::String(text.0.clone()),
        Arg::List(items) => items.iter().map(written).collect(),
        Arg::Map(entries) => Json::Object(entries.iter().map(|(key, value)| (key.clone(), written(value))).collect()),
    }
}

/// Fills in the task, the only value that is known before a run.
fn with_task(text: &str, task: &str) -> String {
    text.replace("{{ task }}", task).replace("{{task}}", task)
}
