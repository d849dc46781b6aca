//! The answers about workflows, lists, and single values.

use std::path::PathBuf;

use longhaul_core::Json;
use longhaul_core::view::{Held, Standing};
use longhaul_project::WorkflowOrigin;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The list of workflows.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Workflows {
    pub(crate) workflows: Vec<Workflow>,
}

/// A workflow in a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Workflow {
    pub(crate) name: String,
    /// The purpose of the workflow.
    pub(crate) description: String,
    /// How many steps it has; null if it has errors.
    pub(crate) steps: Option<usize>,
    /// Whether it has no errors.
    pub(crate) ok: bool,
    /// The place where it was found.
    #[schemars(with = "Json")]
    pub(crate) origin: WorkflowOrigin,
    pub(crate) file: String,
}

/// One workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Shown {
    pub(crate) name: String,
    /// The purpose of the workflow.
    pub(crate) description: String,
    /// The place where it was found.
    #[schemars(with = "Json")]
    pub(crate) origin: WorkflowOrigin,
    /// The inputs: name, type, required, default, description.
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) inputs: Vec<Value>,
    pub(crate) steps: Vec<ShownStep>,
    /// The steps that ask a human.
    pub(crate) gates: Vec<String>,
}

/// A step of a workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ShownStep {
    pub(crate) id: String,
    pub(crate) kind: String,
}

/// The findings about a workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checked {
    /// Whether it has no errors.
    pub(crate) ok: bool,
    /// The dialect of the text.
    pub(crate) dialect: String,
    /// How many findings there are.
    pub(crate) count: usize,
    /// The first findings: code, severity, message, place, remedy.
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) diagnostics: Vec<Value>,
}

/// A workflow that was saved.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Saved {
    #[serde(flatten)]
    pub(crate) checked: Checked,
    pub(crate) name: String,
    /// The file that it was saved to.
    #[schemars(with = "String")]
    pub(crate) file: PathBuf,
}

/// A sign of life that was recorded.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Beat {
    /// The id of the run.
    pub(crate) run: String,
    /// The step, the client that holds it, and until when.
    #[schemars(with = "JsonObject")]
    pub(crate) held: Held,
}

/// The output of a step or a run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    pub(crate) value: Json,
}

/// Runs, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Runs {
    pub(crate) runs: Vec<Row>,
}

/// A run in a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Row {
    /// The id of the run.
    pub(crate) run: String,
    pub(crate) workflow: String,
    /// queued, running, waiting, paused, stopped, succeeded, failed or cancelled.
    pub(crate) status: String,
    /// Where it stands, with the command to type.
    pub(crate) standing: Standing,
    /// The text of the task.
    pub(crate) task: Json,
    /// When it last changed, in milliseconds since 1970.
    pub(crate) updated_at: i64,
}

/// The syntax of command lines.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Usage {
    pub(crate) usage: &'static str,
    /// The names of workflows.
    pub(crate) workflows: Vec<String>,
}

/// The list of skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Skills {
    pub(crate) skills: Vec<String>,
}
