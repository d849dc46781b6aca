//! What a run was started with.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::approval::Approvals;
use crate::consent::Terms;
use crate::origin::Origin;
use crate::path::StepPath;

/// What a run was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// What lists call it.
    pub workflow: String,
    /// The content hash of the plan that the run pins.
    pub plan: String,
    /// The planner's version.
    pub semantics: u32,
    /// The text it was started with.
    pub task: String,
    /// Inputs by name, defaults filled in.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Json>,
    /// About the run, for templates: `run.*`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub about: IndexMap<String, Json>,
    /// What started it.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub trigger: Json,
    /// Who started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
    /// What the settings said about answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<Approvals>,
    /// What it may do without being asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Terms>,
    /// The run and step it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<(String, StepPath)>,
    /// Who makes the turns of its agents.
    #[serde(default, skip_serializing_if = "Driver::is_engine")]
    pub driver: Driver,
}

/// Who makes the turns of a run's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The engine calls agents.
    #[default]
    Engine,
    /// A client asks for the next steps, does them itself, and submits what came of them.
    Host,
}

impl Driver {
    fn is_engine(&self) -> bool {
        *self == Self::Engine
    }
}
