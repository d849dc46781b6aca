//! The open questions to people.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::Json;
use crate::approval::{self, Approval, ApprovalRule};
use crate::event::{Failure, QuestionKind};
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::{Question, State, StepInst};

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Asked {
    /// The step that asks.
    pub path: StepPath,
    /// The name that people see instead of the step's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of the question.
    pub kind: QuestionKind,
    /// The text of the question.
    pub text: String,
    /// Possible answers besides yes and no.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The JSON Schema of a free answer, or of the replaced output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// The output to review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// The failure that the question is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Who may answer, if the step says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalRule>,
    /// The number of approvals needed, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
    /// The approvals so far, if several are needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Approval>,
    /// The hash of the question. An answer can name it, to prove which question it answers.
    pub shown: String,
    /// The time of the question.
    pub asked_at: i64,
    /// The time at which the question times out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
}

/// The open questions of a run; none for a finished run.
pub fn questions(plan: &Plan, state: &State) -> Vec<Asked> {
    let open = state.questions().filter(|_| !state.is_finished());
    open.map(|(step, question)| Asked { needed: needed(plan, state, step, question), ..asked(plan, step, question) })
        .collect()
}

fn needed(plan: &Plan, state: &State, step: &StepInst, question: &Question) -> Option<usize> {
    let rule = plan.step(step.step).approvals.as_ref();
    Some(approval::needed(state.started.as_ref()?, rule, question.kind)).filter(|needed| *needed > 1)
}

/// The approvals so far, if a step needs several: `1 of 2, approved by kim`.
pub(crate) fn progress(plan: &Plan, state: &State, step: &StepInst) -> Option<String> {
    let question = step.asks()?;
    approval::progress(&question.approved, needed(plan, state, step, question)?)
}

impl Asked {
    /// The approvals so far, if several are needed: `1 of 2, approved by kim`.
    pub fn progress(&self) -> Option<String> {
        approval::progress(&self.approved, self.needed?)
    }
}

/// The question of a step, as people see it.
fn asked(plan: &Plan, step: &StepInst, question: &Question) -> Asked {
    let mut asked = Asked {
        path: step.path.clone(),
        name: plan.step(step.step).name.clone(),
        kind: question.kind,
        text: question.text.clone(),
        choices: question.choices.clone(),
        schema: question.schema.clone().or_else(|| edited(plan, step, question.kind)),
        output: (question.kind == QuestionKind::Review).then(|| step.outcome.result.output.clone()),
        error: step.outcome.error.clone(),
        approvals: plan.step(step.step).approvals.clone(),
        needed: None,
        approved: question.approved.clone(),
        shown: String::new(),
        asked_at: question.asked_at,
        due: question.due,
    };
    asked.shown = hash(&asked);
    asked
}

/// The hash of a question as people see it.
pub(crate) fn shown(plan: &Plan, step: &StepInst, question: &Question) -> String {
    asked(plan, step, question).shown
}

/// The hash of the text, content and choices of a question.
fn hash(asked: &Asked) -> String {
    let Asked { path, kind, text, choices, schema, output, error, .. } = asked;
    let message = error.as_ref().map(|error| &error.message);
    let content = json!([path, kind, text, choices, schema, output, message]);
    blake3::hash(content.to_string().as_bytes()).to_hex().to_string()
}

/// The JSON Schema of an output that a person writes in place of the step's own.
fn edited(plan: &Plan, step: &StepInst, kind: QuestionKind) -> Option<Json> {
    let replaces = matches!(kind, QuestionKind::Review | QuestionKind::Operator);
    plan.step(step.step).output.schema.clone().filter(|_| replaces)
}
