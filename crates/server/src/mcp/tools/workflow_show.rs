//! `workflow_show`: shows one workflow.

use longhaul_core::plan::{Form, Plan, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::answers::{Shown, ShownStep};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "workflow_show",
    title: "Show a workflow",
    about: "One workflow: what it is for, the inputs it takes, its steps as a tree, and where a human is asked. Executes nothing.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(show(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow, as `workflow_list` gives it.
    workflow: String,
}

async fn show(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let (entry, plan) = call.state.plan(&args.workflow)?;
    let unit = plan.main();
    let about = unit.description.as_deref().unwrap_or_default();
    let inputs = inputs(&plan);
    let text =
        format!("{}: {about}\ninputs: {}\n\n{}", entry.name, inputs_in_words(&inputs), longhaul_draw::tree(&plan));
    let gates: Vec<String> = plan.steps.iter().filter(|step| is_gate(step)).map(|step| step.id.to_string()).collect();
    let step = |step: &Step| ShownStep { id: step.id.to_string(), kind: step.form.word().to_owned() };
    let steps = plan.steps.iter().map(step).collect();
    let (name, origin, description) = (entry.name, entry.origin, about.to_owned());
    Ok(Reply::Done(text, json!(Shown { name, description, origin, inputs, steps, gates })))
}

fn inputs(plan: &Plan) -> Vec<Value> {
    let input = |(name, input): (&longhaul_core::id::Name, &longhaul_core::plan::Input)| {
        json!({
            "name": name, "type": input.value_type().to_string(), "required": input.is_required(), "default": input.default,
            "description": input.description,
        })
    };
    plan.main().inputs.iter().map(input).collect()
}

fn inputs_in_words(inputs: &[Value]) -> String {
    let words = inputs.iter().map(|input| {
        let required = if input["required"] == true { ", required" } else { "" };
        format!(
            "{} ({}{required})",
            input["name"].as_str().unwrap_or_default(),
            input["type"].as_str().unwrap_or_default()
        )
    });
    std::iter::once("task (text)".to_owned()).chain(words).collect::<Vec<_>>().join(", ")
}

/// Whether a step asks a person.
fn is_gate(step: &Step) -> bool {
    matches!(step.form, Form::Approve(_) | Form::Ask { .. }) || step.review.is_some()
}
