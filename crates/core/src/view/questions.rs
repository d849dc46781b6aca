//! What people are asked.

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
    /// Who may answer, where the step says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalRule>,
    /// How many people have to approve, where that is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
    /// The approvals that were given so far, where several are needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Approval>,
    /// The hash of all that: whoever answers can say by it what they were shown.
    pub shown: String,
    /// When it was asked.
    pub asked_at: i64,
    /// When silence becomes an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
}

/// The open questions of a run; none of one that is over.
pub fn questions(plan: &Plan, state: &State) -> Vec<Asked> {
    let open = state.questions().filter(|_| !state.is_finished());
    open.map(|(step, question)| Asked { needed: needed(plan, state, step, question), ..asked(plan, step, question) })
        .collect()
}

fn needed(plan: &Plan, state: &State, step: &StepInst, question: &Question) -> Option<usize> {
    let rule = plan.step(step.step).approvals.as_ref();
    Some(approval::needed(state.started.as_ref()?, rule, question.kind)).filter(|needed| *needed > 1)
}

/// How far a step is that several people have to approve: `1 of 2, approved by kim`.
pub(crate) fn progress(plan: &Plan, state: &State, step: &StepInst) -> Option<String> {
    let question = step.asks()?;
    approval::progress(&question.approved, needed(plan, state, step, question)?)
}

impl Asked {
    /// How far it is, where several people have to approve: `1 of 2, approved by kim`.
    pub fn progress(&self) -> Option<String> {
        approval::progress(&self.approved, self.needed?)
    }
}

/// What a step asks, as people see it.
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

/// The hash of what people are shown of a question.
pub(crate) fn shown(plan: &Plan, step: &StepInst, question: &Question) -> String {
    asked(plan, step, question).shown
}

/// The hash of what is read before an answer is given: text, content, choices.
fn hash(asked: &Asked) -> String {
    let Asked { path, kind, text, choices, schema, output, error, .. } = asked;
    let message = error.as_ref().map(|error| &error.message);
    let content = json!([path, kind, text, choices, schema, output, message]);
    blake3::hash(content.to_string().as_bytes()).to_hex().to_string()
}

/// What an output must look like that a person writes in the place of a step's own.
fn edited(plan: &Plan, step: &StepInst, kind: QuestionKind) -> Option<Json> {
    let replaces = matches!(kind, QuestionKind::Review | QuestionKind::Operator);
    plan.step(step.step).output.schema.clone().filter(|_| replaces)
}
