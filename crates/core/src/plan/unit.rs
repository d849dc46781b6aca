//! A workflow or sub-workflow of a plan: its inputs, outputs, limits and body.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arg, BodyIx, Text, Work, is_false};
use crate::Json;
use crate::compat::Compat;
use crate::id::Name;
use crate::schema::mismatch;
use crate::types::Type;

/// One workflow or sub-workflow: its interface and its body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The name in lists.
    pub name: String,
    /// One line for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its inputs, besides `task`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<Name, Input>,
    /// Its outputs; empty means every name that it sets.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<Name, Arg>,
    /// Context that every agent gets once, at its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text>,
    /// The limits of a run.
    #[serde(default)]
    pub limits: Limits,
    /// The limit on concurrent runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// Settings of the guardrail, confidence and eval gates.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub gates: IndexMap<String, Json>,
    /// The triggers that start it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Json>,
    /// Work that runs if a run fails.
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
    /// The JSON Schema of its values.
    pub schema: Json,
    /// The value to use if none is given. Without a default the input is required unless `optional`.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// Whether it may be left out without a default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// The description shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Input {
    /// Why the schema refuses a value, in words. An input that is not required accepts null.
    pub fn mismatch(&self, value: &Json) -> Option<String> {
        let is_left_out = value.is_null() && !self.is_required();
        if is_left_out { None } else { mismatch(&self.schema, value) }
    }

    /// Whether a run cannot start without this input.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.optional
    }

    /// The type of its value.
    pub fn value_type(&self) -> Type {
        Type::from_schema(&self.schema)
    }
}

/// What a run may use before something happens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Time since the start of the run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The number of executed steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The number of executed steps since a `progress` value last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_steps: Option<u64>,
    /// The number of visits of one node of a state machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<u64>,
    /// The number of steps that run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// The percentage of a limit at which people are notified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert_at: Option<u8>,
    /// The effect of a reached limit.
    #[serde(default)]
    pub on_exceed: OnExceed,
    /// How an output is shortened when `on_exceed` is `degrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrade: Option<Degrade>,
}

/// The effect of a reached limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExceed {
    /// The run fails.
    #[default]
    Fail,
    /// A person decides.
    Ask,
    /// People are notified, and the run continues.
    Warn,
    /// Outputs are shortened, then the run fails.
    Degrade,
}

/// How outputs are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degrade {
    /// The number of characters kept.
    pub chars: u64,
    /// How often this may happen in a run.
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
    /// Runs with the same text share the limit.
    pub group: Text,
    /// The most active runs.
    pub max: u32,
    /// The effect on one more run.
    pub when_full: WhenFull,
}

/// The effect on a run whose group is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It waits.
    #[default]
    Queue,
    /// It is not started.
    Skip,
    /// The oldest active run is cancelled.
    CancelOldest,
}
