//! A file of tests, `NAME.test.yaml` beside a workflow.
//!
//! **Invariant:** what is misspelt is an error with its place, never passed over.

use std::path::Path;

use anyhow::{Context, Result};
use indexmap::IndexMap;
use longhaul_agents::scripted::Script;
use longhaul_core::Json;
use longhaul_core::event::Answer;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A file of tests.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tests {
    /// The workflow, where it is not the one that the file is named after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workflow: Option<String>,
    pub(crate) tests: Vec<Test>,
}

/// One test.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Test {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) task: String,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) inputs: IndexMap<String, Json>,
    /// Files that are there before the run.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) files: IndexMap<String, String>,
    /// Commands that are executed before the run, by bash; `$PROJECT` is the project.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) setup: String,
    /// What agents say, as in a script.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) replies: Vec<Json>,
    /// What commands do that are not executed, as in a script.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<Json>,
    /// What people say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Said>,
    /// The engine is killed once this step has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) crash: Option<String>,
    pub(crate) expect: Expect,
}

/// What a person says, or a signal from outside.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Said {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approve: Option<bool>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deny: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edit: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Json>,
}

impl Said {
    /// As the run is told.
    pub(crate) fn answer(&self) -> Answer {
        match self {
            Self { deny: Some(reason), .. } => {
                Answer::Deny { reason: Some(reason.clone()).filter(|reason| !reason.is_empty()) }
            }
            Self { approve: Some(false), .. } => Answer::Deny { reason: None },
            Self { edit: Some(value), .. } => Answer::Edit { value: value.clone() },
            Self { answer: Some(value), .. } => Answer::Value { value: value.clone() },
            _ => Answer::Approve,
        }
    }
}

/// What must come of it. What is not named may be anything.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expect {
    /// succeeded, failed, cancelled, or waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    /// Words of the message with which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// Steps that succeed, in this order; others may lie between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) done: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<String>,
    /// Steps that are not even reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) never: Vec<String>,
    /// How many attempts a step takes.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) attempts: IndexMap<String, u32>,
    /// What the run returns; names that are not listed may be anything.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) outputs: IndexMap<String, Json>,
    /// Words in the prompt of a step.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) prompts: IndexMap<String, String>,
    /// Words in a file after the run.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) files: IndexMap<String, String>,
    /// The most that it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

impl Tests {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        serde_saphyr::from_str(&text)
            .map_err(|error| anyhow::anyhow!("{}: {}", file.display(), error.without_snippet()))
    }
}

impl Test {
    /// What agents and commands say, as a script.
    pub(crate) fn script(&self) -> Result<(String, Script)> {
        let text = json!({"replies": self.replies, "commands": self.commands}).to_string();
        let script =
            Script::parse(&text).map_err(|error| anyhow::anyhow!("its replies or commands: {}", error.message))?;
        Ok((text, script.instant()))
    }
}
