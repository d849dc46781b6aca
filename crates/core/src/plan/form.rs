//! What a step does, as far as the planner must reason about it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Arg, BodyIx, Expr, StepIx, Text, UnitIx};
use crate::Json;
use crate::id::Name;

/// What a step does. Closed: the planner reasons about every form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Leaf work.
    Work(Work),
    /// Nothing but its `next`.
    Decide,
    /// A choice.
    If {
        /// What is asked.
        condition: Expr,
        /// Taken when true.
        then: BodyIx,
        /// Taken when false.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<BodyIx>,
    },
    /// A choice by value.
    Switch {
        /// What is asked.
        on: Expr,
        /// Compared in order.
        cases: Vec<Case>,
        /// Taken when none fits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<BodyIx>,
    },
    /// Once per item.
    ForEach {
        /// The items.
        items: Items,
        /// What an item is called.
        item: Name,
        /// What its position is called.
        index: Name,
        /// How many at once.
        parallel: u32,
        /// What a failed item means.
        on_item_error: OnItemError,
        /// What is done.
        body: BodyIx,
    },
    /// Until something holds.
    Repeat {
        /// Asked after each round.
        until: Expr,
        /// Rounds at the most.
        max: u32,
        /// What happens after the last.
        on_exhausted: OnExhausted,
        /// What is done.
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
        /// Which.
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
        /// How.
        outcome: Outcome,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Text>,
    },
}

impl Form {
    /// What people call it: the key of a workflow file, or `decision` for a step that has none.
    pub fn word(&self) -> &str {
        match self {
            Self::Work(work) => &work.kind,
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

/// What a leaf step does: a kind of the catalogue and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The key of the kind: `prompt`, `run`, `http`, …
    pub kind: String,
    /// Its parameters.
    pub params: IndexMap<String, Arg>,
}

/// One branch of a `switch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The value it is for.
    pub value: Json,
    /// What is done.
    pub body: BodyIx,
}

/// Where the items of `for_each` come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Items {
    /// From data.
    Expr(Expr),
    /// From a written list.
    List(Arg),
    /// From files.
    Glob(Text),
}

/// A human gate between steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// What is asked.
    pub question: Text,
    /// What may be answered beside yes and no.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How long the question stays open, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What silence means.
    pub on_timeout: OnTimeout,
    /// What no means.
    pub on_deny: OnDeny,
}

/// What an unanswered gate means.
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

/// What a denied gate means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDeny {
    /// The step fails.
    #[default]
    Fail,
    /// The run is cancelled.
    Cancel,
    /// What depends on it is skipped.
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
    /// A moment.
    Until(Arg),
    /// A signal.
    Event {
        /// Its name.
        name: Text,
        /// How long to wait for it, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// What its data must look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json>,
    },
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Well.
    Success,
    /// Badly.
    Failure,
    /// By decision.
    Cancelled,
}

/// What a failed item of a `for_each` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnItemError {
    /// The step fails.
    #[default]
    Fail,
    /// The item is left out.
    Skip,
    /// The error stands in the item's place.
    Collect,
}

/// What happens when the rounds are used up.
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
