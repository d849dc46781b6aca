//! The state of an engine-driven run, as an answer.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Usage;
use longhaul_core::explain::Explanation;
use longhaul_core::id::RunId;
use longhaul_core::origin::Origin;
use longhaul_core::path::StepPath;
use longhaul_core::status::{Awaited, RunStatus, StepStatus};
use longhaul_core::view::{self, Asked, Progress};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of an engine-driven run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Driven {
    /// The id of the run.
    pub(crate) run: String,
    /// The name of the workflow in lists.
    pub(crate) workflow: String,
    /// The text of the task.
    pub(crate) task: String,
    /// The caller who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<JsonObject>")]
    pub(crate) owner: Option<Origin>,
    /// queued, running, waiting, paused, stopped, succeeded, failed or cancelled.
    pub(crate) status: RunStatus,
    /// The things that it waits for, without repetitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting_for: Vec<Awaited>,
    /// How many steps are in each state.
    #[schemars(with = "IndexMap<String, u64>")]
    pub(crate) progress: Progress,
    /// The tokens and the cost so far.
    #[schemars(with = "JsonObject")]
    pub(crate) usage: Usage,
    /// When it started, in milliseconds since 1970.
    pub(crate) started_at: i64,
    /// When it ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<i64>,
    /// How long it took, or has been running so far.
    pub(crate) duration_ms: i64,
    /// Steps with an open attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub(crate) current: Vec<StepPath>,
    /// Why it ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// The outputs that it returned.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) outputs: IndexMap<String, Json>,
    /// Limits that were reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits_reached: Vec<String>,
    /// Why it does not continue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) why: Vec<Explanation>,
    /// Its steps.
    steps: Vec<Brief>,
    /// The open questions to people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<JsonObject>")]
    pub(crate) questions: Vec<Asked>,
    /// Whether a human must decide before it continues.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) human_approval_required: bool,
}

/// A step without its output; the tool `output` has that.
#[derive(Serialize, JsonSchema)]
pub(super) struct Brief {
    #[schemars(with = "String")]
    pub(crate) path: StepPath,
    pub(crate) kind: String,
    pub(crate) status: StepStatus,
    pub(crate) attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<Brief>,
}

impl Brief {
    fn of(step: &view::StepView) -> Self {
        Self {
            path: step.path.clone(),
            kind: step.kind.clone(),
            status: step.status,
            attempts: step.attempts,
            error: step.error.as_ref().map(|error| error.message.clone()),
            steps: step.steps.iter().map(Self::of).collect(),
        }
    }
}

impl Driven {
    pub(crate) fn of(run: &RunId, glance: view::Run, steps: &[view::StepView], questions: Vec<Asked>) -> Self {
        Self {
            run: run.to_string(),
            workflow: glance.workflow,
            task: glance.task,
            owner: glance.owner,
            status: glance.status,
            waiting_for: glance.waiting_for,
            progress: glance.progress,
            usage: glance.usage,
            started_at: glance.started_at,
            ended_at: glance.ended_at,
            duration_ms: glance.duration_ms,
            current: glance.current,
            message: glance.message,
            outputs: glance.outputs,
            limits_reached: glance.limits_reached,
            why: glance.why,
            steps: steps.iter().map(Brief::of).collect(),
            human_approval_required: !questions.is_empty(),
            questions,
        }
    }
}
