//! The answers about workflows, lists, and single values.

use std::path::PathBuf;

use longhaul_core::Json;
use longhaul_core::view::Held;
use longhaul_project::WorkflowOrigin;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The workflows there are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Workflows {
    pub(crate) workflows: Vec<Workflow>,
}

/// A workflow in a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Workflow {
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// How many there are; nothing if it has errors.
    pub(crate) steps: Option<usize>,
    /// Whether it has no errors.
    pub(crate) ok: bool,
    /// Where it came from.
    #[schemars(with = "Json")]
    pub(crate) origin: WorkflowOrigin,
    pub(crate) file: String,
}

/// One workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Shown {
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// Where it came from.
    #[schemars(with = "Json")]
    pub(crate) origin: WorkflowOrigin,
    /// What it takes: name, type, required, default, description.
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) inputs: Vec<Value>,
    pub(crate) steps: Vec<ShownStep>,
    /// The steps at which a human is asked.
    pub(crate) gates: Vec<String>,
}

/// A step of a workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ShownStep {
    pub(crate) id: String,
    pub(crate) kind: String,
}

/// What is wrong with a workflow.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checked {
    /// Whether it has no errors.
    pub(crate) ok: bool,
    /// Whose way of writing it is.
    pub(crate) dialect: String,
    /// How many findings there are.
    pub(crate) count: usize,
    /// The first of them: code, severity, message, place, remedy.
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) diagnostics: Vec<Value>,
}

/// A workflow that was saved.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Saved {
    #[serde(flatten)]
    pub(crate) checked: Checked,
    pub(crate) name: String,
    /// Where it is.
    #[schemars(with = "String")]
    pub(crate) file: PathBuf,
}

/// A sign of life that was heard.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Beat {
    /// The id of the run.
    pub(crate) run: String,
    /// The step, who has it, and until when.
    #[schemars(with = "JsonObject")]
    pub(crate) held: Held,
}

/// What a step or a run left.
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
    /// queued, running, waiting, paused, succeeded, failed or cancelled.
    pub(crate) status: String,
    /// The text it was started with.
    pub(crate) task: Json,
    /// In milliseconds since 1970.
    pub(crate) updated_at: i64,
}

/// How command lines are written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Usage {
    pub(crate) usage: &'static str,
    /// Names of workflows.
    pub(crate) workflows: Vec<String>,
}

/// The skills there are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Skills {
    pub(crate) skills: Vec<String>,
}
