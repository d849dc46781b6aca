//! What people are asked.

use serde::Serialize;

use crate::Json;
use crate::event::{Failure, QuestionKind};
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::{State, StepInst};

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    /// The step that asks.
    pub path: StepPath,
    /// What people see instead of its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What for.
    pub kind: QuestionKind,
    /// What they read.
    pub text: String,
    /// What they may answer beside yes and no.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What a free answer looks like, or what an output is replaced with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// What is shown for review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// The failure that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// When it was asked.
    pub asked_at: i64,
    /// When silence becomes an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
}

/// The open questions of a run; none of one that is over.
pub fn questions(plan: &Plan, state: &State) -> Vec<Asked> {
    let open = state.questions().filter(|_| !state.is_finished());
    open.map(|(step, question)| Asked {
        path: step.path.clone(),
        name: plan.step(step.step).name.clone(),
        kind: question.kind,
        text: question.text.clone(),
        choices: question.choices.clone(),
        schema: question.schema.clone().or_else(|| edited(plan, step, question.kind)),
        output: (question.kind == QuestionKind::Review).then(|| step.result.output.clone()),
        error: step.error.clone(),
        asked_at: question.asked_at,
        due: question.due,
    })
    .collect()
}

/// What an output must look like that a person writes in the place of a step's own.
fn edited(plan: &Plan, step: &StepInst, kind: QuestionKind) -> Option<Json> {
    let replaces = matches!(kind, QuestionKind::Review | QuestionKind::Operator);
    plan.step(step.step).output.schema.clone().filter(|_| replaces)
}
