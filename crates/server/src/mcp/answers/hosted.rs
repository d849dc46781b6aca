//! The state of a hosted run, as an answer.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::QuestionKind;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Show;
use longhaul_core::view::{Asked, AutoRan, Held};
use longhaul_runtime::HostStatus;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of a hosted run, and the steps to do now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hosted {
    /// The id of the run.
    pub(crate) run: String,
    /// The name of the workflow in lists.
    pub(crate) workflow: String,
    /// The text of the task.
    pub(crate) task: String,
    /// ready, awaiting-outputs, awaiting-approval, waiting, succeeded, failed or cancelled.
    #[schemars(with = "String")]
    pub(crate) status: HostStatus,
    /// The steps that you do now.
    pub(crate) ready: Vec<Step>,
    /// Steps that a client holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) running: Vec<Held>,
    /// Steps that no client holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub(crate) free: Vec<StepPath>,
    /// The steps that the engine did itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) auto_ran: Vec<AutoRan>,
    /// The open questions to people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) questions: Vec<Asked>,
    /// Results that belong to the steps, by address.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) results: IndexMap<String, Json>,
    /// How many steps at the top of the workflow are done.
    pub(crate) completed: usize,
    /// How many steps there are at the top of the workflow.
    pub(crate) total: usize,
    /// Names of results that the tool `output` returns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The next thing to do, in words.
    pub(crate) message: String,
    /// The gates at which a human decides, with instructions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) gates: Vec<Gate>,
}

/// A step for the client to do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Step {
    /// Its address, for `submit`.
    #[schemars(with = "String")]
    pub(crate) path: StepPath,
    /// Its attempt, for `submit`.
    pub(crate) attempt: u32,
    /// The id of the step.
    pub(crate) step: String,
    /// The title for people.
    pub(crate) title: String,
    /// The persona that does the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) persona: Option<String>,
    /// The description of the persona, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// The prompt, with instructions for closing the step.
    pub(crate) prompt: String,
    /// The model that the workflow asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The results of earlier steps, by name.
    pub(crate) inputs: IndexMap<String, Json>,
    /// The name of the step's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// The schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Json>,
    /// How much of the result is shown later.
    #[schemars(with = "Json")]
    pub(crate) show: Show,
    /// The ids of the steps that it depends on.
    pub(crate) depends_on: Vec<String>,
    /// Whether a human reviews the result before the run uses it.
    pub(crate) review: bool,
    /// Whether the client does the step itself (main) or gives it to a subagent (subagent).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    /// When the claim ends if the client sends no sign of life.
    pub(crate) until: i64,
}

/// A gate at which a human decides.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Gate {
    /// Always true.
    pub(crate) human_approval_required: bool,
    /// The step that asks.
    #[schemars(with = "String")]
    pub(crate) step: StepPath,
    /// The kind of the question.
    #[schemars(with = "String")]
    pub(crate) kind: QuestionKind,
    /// The text of the question.
    pub(crate) question: String,
    /// The text to review.
    pub(crate) content: Option<String>,
    /// The possible decisions.
    pub(crate) decisions: &'static [&'static str],
    /// The possible choices.
    pub(crate) choices: Vec<String>,
    /// Instructions for the model.
    pub(crate) stop_instructions: Vec<String>,
}
