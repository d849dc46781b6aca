//! A workflow or sub-workflow of a plan: what it is started with, what it returns, what it may use.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arg, BodyIx, Text, Work, is_false};
use crate::Json;
use crate::id::Name;
use crate::schema::mismatch;
use crate::types::Type;

/// One workflow or sub-workflow: its face to the outside, and its body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// What lists call it.
    pub name: String,
    /// One line for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is started with, beside `task`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<Name, Input>,
    /// What it returns; empty means every name it set.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<Name, Arg>,
    /// Told to the agents once, at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text>,
    /// What a run may use.
    #[serde(default)]
    pub limits: Limits,
    /// How many runs may be active at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// Settings of the guardrail, confidence and eval gates.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub gates: IndexMap<String, Json>,
    /// What starts it by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Json>,
    /// What is done when a run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Work>,
    /// Behaviour of another system that this workflow relies on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compat: Vec<Compat>,
    /// Templates that prompts include, by path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub templates: IndexMap<String, String>,
    /// Its steps.
    pub body: BodyIx,
}

/// A value that a workflow is started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// A JSON Schema.
    pub schema: Json,
    /// Used when nothing is given; without one the input is required unless `optional`.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// Whether it may be left out without a default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Input {
    /// Why a value cannot be given, in words. Nothing can be given for what is not required.
    pub fn misfit(&self, value: &Json) -> Option<String> {
        let is_left_out = value.is_null() && !self.is_required();
        if is_left_out { None } else { mismatch(&self.schema, value) }
    }

    /// Whether a run cannot start without it.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.optional
    }

    /// What is known of its value.
    pub fn value_type(&self) -> Type {
        Type::from_schema(&self.schema)
    }
}

/// Behaviour of another system, kept for workflows that were written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// A name that is not set reads as empty text, with a warning, instead of failing the step.
    LenientNames,
    /// Values print as Python prints them.
    PythonText,
    /// A run may be started with inputs that the workflow does not declare.
    OpenInputs,
    /// Agents' answers are recovered by workhorse's ladder and its `AGENT_*` settings.
    WorkhorseLadder,
    /// Values are taken out of agents' answers as Valet does.
    ValetAnswers,
}

/// What a run may use before something happens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Wall clock from the start of the run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Executed steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Executed steps since a `progress` value last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_steps: Option<u64>,
    /// Visits of one node of a state machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<u64>,
    /// Steps running at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// Percentage of a limit at which people are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert_at: Option<u8>,
    /// What happens at a limit.
    #[serde(default)]
    pub on_exceed: OnExceed,
    /// How an output is shortened when `on_exceed` is `degrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrade: Option<Degrade>,
}

/// What happens when a limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExceed {
    /// The run fails.
    #[default]
    Fail,
    /// A person decides.
    Ask,
    /// People are told and the run continues.
    Warn,
    /// Outputs are shortened, then the run fails.
    Degrade,
}

/// How outputs are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degrade {
    /// Characters kept.
    pub chars: u64,
    /// Times per run.
    pub max: u32,
}

impl Default for Degrade {
    fn default() -> Self {
        Self { chars: 400, max: 1 }
    }
}

/// How many runs of one group may be active.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Concurrency {
    /// Runs with the same text count together.
    pub group: Text,
    /// How many.
    pub max: u32,
    /// What happens to one more.
    pub when_full: WhenFull,
}

/// What happens to a run that finds its group full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It waits.
    #[default]
    Queue,
    /// It is not started.
    Skip,
    /// The oldest active one is cancelled.
    CancelOldest,
}
