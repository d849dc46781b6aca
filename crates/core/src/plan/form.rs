//! The form of a step: the part that the planner must understand.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Arg, BodyIx, Expr, StepIx, Text, UnitIx, Work};
use crate::Json;
use crate::id::Name;

/// The form of a step. The enum is closed: the planner handles every form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Leaf work.
    Work(Work),
    /// Only its `next`.
    Decide,
    /// A choice.
    If {
        /// The condition.
        condition: Expr,
        /// Taken when true.
        then: BodyIx,
        /// Taken when false.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<BodyIx>,
    },
    /// A choice by value.
    Switch {
        /// The value that decides.
        on: Expr,
        /// The cases, compared in order.
        cases: Vec<Case>,
        /// Taken if no case matches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<BodyIx>,
    },
    /// Once per item.
    ForEach {
        /// The items.
        items: Items,
        /// The name of the current item.
        item: Name,
        /// The name of its position.
        index: Name,
        /// How many items run at once.
        parallel: u32,
        /// The effect of a failed item.
        on_item_error: OnItemError,
        /// The steps for each item.
        body: BodyIx,
    },
    /// Rounds until a condition is true.
    Repeat {
        /// The condition, evaluated after each round.
        until: Expr,
        /// The most rounds.
        max: u32,
        /// The effect if the last round does not meet the condition.
        on_exhausted: OnExhausted,
        /// The steps of a round.
        body: BodyIx,
    },
    /// Named branches, joined.
    Parallel {
        /// The branches, as written.
        branches: IndexMap<String, BodyIx>,
    },
    /// A human gate.
    Approve(Approve),
    /// A question to a person, whose answer is the output.
    Ask {
        /// The question.
        question: Text,
        /// A JSON Schema of the answer.
        answer: Json,
        /// How long the question stays open, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// Sleep, or a signal.
    Wait(Wait),
    /// A sub-workflow.
    Workflow {
        /// The unit of the sub-workflow.
        unit: UnitIx,
        /// Its inputs.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        with: IndexMap<Name, Arg>,
    },
    /// Names values.
    Set {
        /// The values.
        names: IndexMap<Name, Arg>,
    },
    /// Ends the run.
    End {
        /// The outcome of the run.
        outcome: Outcome,
        /// The reason, shown to people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Text>,
    },
}

impl Form {
    /// The word for it: the key of a workflow file, or `decision` for a step without an action.
    pub fn word(&self) -> &str {
        match self {
            Self::Work(work) => work.kind.as_str(),
            Self::Decide => "decision",
            Self::If { .. } => "if",
            Self::Switch { .. } => "switch",
            Self::ForEach { .. } => "for_each",
            Self::Repeat { .. } => "repeat",
            Self::Parallel { .. } => "parallel",
            Self::Approve(_) => "approve",
            Self::Ask { .. } => "ask",
            Self::Wait(_) => "wait",
            Self::Workflow { .. } => "workflow",
            Self::Set { .. } => "set",
            Self::End { .. } => "end",
        }
    }
}

/// One branch of a `switch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The value to compare with.
    pub value: Json,
    /// The steps of this case.
    pub body: BodyIx,
}

/// The source of the items of `for_each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Items {
    /// The value of an expression.
    Expr(Expr),
    /// A list in the workflow file.
    List(Arg),
    /// The files that match a pattern.
    Glob(Text),
}

/// A human gate between steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// The question.
    pub question: Text,
    /// Possible answers besides yes and no.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How long the question stays open, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The effect of no answer.
    pub on_timeout: OnTimeout,
    /// The effect of a denial.
    pub on_deny: OnDeny,
}

/// The effect of a gate that gets no answer in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// The step fails.
    #[default]
    Fail,
    /// As if denied.
    Deny,
    /// As if approved.
    Approve,
    /// The run is cancelled.
    Cancel,
}

/// The effect of a denied gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDeny {
    /// The step fails.
    #[default]
    Fail,
    /// The run is cancelled.
    Cancel,
    /// Steps that depend on it are skipped.
    Skip,
    /// In a state machine: another node.
    Goto(StepIx),
}

/// What a `wait` waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// A time span.
    For(Arg),
    /// A point in time.
    Until(Arg),
    /// A signal.
    Event {
        /// Its name.
        name: Text,
        /// How long to wait for it, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// A JSON Schema of its data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json>,
    },
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run succeeds.
    Success,
    /// The run fails.
    Failure,
    /// The run is cancelled.
    Cancelled,
}

/// The effect of a failed item of a `for_each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnItemError {
    /// The step fails.
    #[default]
    Fail,
    /// The item is left out.
    Skip,
    /// The error takes the item's place.
    Collect,
}

/// The effect if all rounds are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExhausted {
    /// The step fails.
    #[default]
    Fail,
    /// A person decides.
    Ask,
    /// The run continues.
    Continue,
}
