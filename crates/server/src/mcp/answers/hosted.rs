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

/// A hosted run: what is to be done now, and what it stands at.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hosted {
    /// The id of the run.
    pub(crate) run: String,
    /// What lists call its workflow.
    pub(crate) workflow: String,
    /// The text it was started with.
    pub(crate) task: String,
    /// ready, awaiting-outputs, awaiting-approval, waiting, succeeded, failed or cancelled.
    #[schemars(with = "String")]
    pub(crate) status: HostStatus,
    /// The steps that are yours to do now.
    pub(crate) ready: Vec<Step>,
    /// Steps that somebody has taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) running: Vec<Held>,
    /// Steps that nobody has taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub(crate) free: Vec<StepPath>,
    /// What the engine did by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) auto_ran: Vec<AutoRan>,
    /// What people are asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) questions: Vec<Asked>,
    /// Results that go with the steps, by address.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) results: IndexMap<String, Json>,
    /// Steps at the top of the workflow that are done.
    pub(crate) completed: usize,
    /// Steps at the top of the workflow.
    pub(crate) total: usize,
    /// Names of results that `output` gives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What to do now, in words.
    pub(crate) message: String,
    /// Where a human decides, with what to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) gates: Vec<Gate>,
}

/// A step that is handed out.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Step {
    /// Its address, for `submit`.
    #[schemars(with = "String")]
    pub(crate) path: StepPath,
    /// Its attempt, for `submit`.
    pub(crate) attempt: u32,
    /// The id of the step.
    pub(crate) step: String,
    /// What people see instead of the id.
    pub(crate) title: String,
    /// Who is meant to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) persona: Option<String>,
    /// Who that is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// What is to be done, and how it is closed.
    pub(crate) prompt: String,
    /// The model that the workflow would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Results of the steps before it, by name.
    pub(crate) inputs: IndexMap<String, Json>,
    /// The name under which its result is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// What its result must look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Json>,
    /// How much of its result is shown later.
    #[schemars(with = "Json")]
    pub(crate) show: Show,
    /// The steps before it, by id.
    pub(crate) depends_on: Vec<String>,
    /// Whether a human looks at its result before it is used.
    pub(crate) review: bool,
    /// Whether the client does it itself or has it done: main, subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    /// When it is given up if nothing is heard.
    pub(crate) until: i64,
}

/// A place where a human decides.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Gate {
    /// Always.
    pub(crate) human_approval_required: bool,
    /// The step that asks.
    #[schemars(with = "String")]
    pub(crate) step: StepPath,
    /// What kind of question it is.
    #[schemars(with = "String")]
    pub(crate) kind: QuestionKind,
    /// What is asked.
    pub(crate) question: String,
    /// What is to be looked at.
    pub(crate) content: Option<String>,
    /// What can be decided.
    pub(crate) decisions: &'static [&'static str],
    /// What can be chosen.
    pub(crate) choices: Vec<String>,
    /// What a model does now.
    pub(crate) stop_instructions: Vec<String>,
}
