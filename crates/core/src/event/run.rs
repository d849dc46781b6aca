//! What a run was started with.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::context::{RunContext, RunTrigger};
use super::replace::RunSource;
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
    #[serde(rename = "about", default, skip_serializing_if = "RunContext::is_empty")]
    pub context: Box<RunContext>,
    /// What started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Box<RunTrigger>>,
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
    /// The text that its plan was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<RunSource>>,
}

/// Who makes the turns of a run's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The engine calls agents.
    #[default]
    Engine,
    /// A client asks for the next steps, does them itself, and submits what came of them.
    #[serde(alias = "host")]
    Client,
}

impl Driver {
    fn is_engine(&self) -> bool {
        *self == Self::Engine
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_earlier_version_wrote_reads_as_before() {
        let written = json!({
            "workflow": "w", "plan": "p", "semantics": 1, "task": "", "about": {"id": "run-1", "odd": 7},
            "trigger": {"type": "manual"}, "driver": "host",
        });
        let started: RunStarted = serde_json::from_value(written).unwrap();
        assert_eq!((started.driver, started.trigger.as_deref()), (Driver::Client, Some(&RunTrigger::manual())));
        let again = serde_json::to_value(&started).unwrap();
        assert_eq!((&again["about"], &again["driver"]), (&json!({"id": "run-1", "odd": 7}), &json!("client")));
    }
}
