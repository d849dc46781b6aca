//! What is recorded when a run continues with another plan.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_false;
use crate::Json;
use crate::consent::Terms;
use crate::plan::{BodyIx, StepIx};

/// The text that a plan was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunSource {
    /// The file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether the text was edited for the run alone, so that it is not the one in the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub edited: bool,
    /// The content hash of the text.
    pub text: String,
    /// The dialect, if the caller chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
}

/// A run continues with another plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReplaced {
    /// The content hash of the plan that the run has from now on.
    pub plan: String,
    /// The version of its semantics.
    pub semantics: u32,
    /// The name of the workflow.
    pub workflow: String,
    /// The text that the plan was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<RunSource>>,
    /// The inputs that the run has from now on, defaults filled in.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Json>,
    /// What it may do without being asked, from now on: the terms of the person who replaced the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Terms>,
    /// Which bodies and steps of the new plan are those of the old one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<BodyMatch>,
    /// Steps that a person says come from a step in another place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<StepMatch>,
    /// What each step had been given when it made its result: a hash by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub seen: IndexMap<String, String>,
    /// Steps whose results a person wants to keep, changed or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Steps that a person wants to run again, changed or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redo: Vec<String>,
    /// Whether the limits differ. If so, limits that were passed hold again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub limits: bool,
    /// Steps that keep their results, as the person was shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Steps that had a result and run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<String>,
    /// Steps that had run and that the new plan does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Who did it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A body of the new plan and the body of the old plan that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyMatch {
    /// In the new plan.
    pub new: BodyIx,
    /// In the old plan.
    pub old: BodyIx,
    /// Its steps that come from steps of the old plan.
    pub steps: Vec<StepMatch>,
}

/// A step of the new plan and the step of the old plan that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMatch {
    /// In the new plan.
    pub new: StepIx,
    /// In the old plan.
    pub old: StepIx,
    /// Whether it means something else now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub changed: bool,
    /// Whether it treats failures in another way.
    #[serde(default, skip_serializing_if = "is_false")]
    pub errors: bool,
    /// Whether it asks for another review.
    #[serde(default, skip_serializing_if = "is_false")]
    pub review: bool,
}
