//! A step of a plan, its body, and the modifiers around its work.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{
    Arg, BodyIx, Budget, Expr, Form, OnExhausted, Output, Retry, StepIx, Text, UnitIx, WorkKind, is_default, is_false,
};
use crate::Json;
use crate::approval::ApprovalRule;
use crate::id::StepId;

/// A body: steps and their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// The container step it belongs to; `None` for the body of a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StepIx>,
    /// The unit it belongs to.
    pub unit: UnitIx,
    /// How the next step is found.
    pub order: Order,
    /// The steps, as written.
    pub steps: Vec<StepIx>,
}

/// How a body decides what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A step starts when its dependencies are settled.
    Graph,
    /// One node runs at a time, from `start` to the node that `next` names.
    Machine {
        /// The first node.
        start: StepIx,
    },
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The id, unique in its body.
    pub id: StepId,
    /// The name shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id that it had in an earlier version of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<StepId>,
    /// The body that contains it.
    pub body: BodyIx,
    /// The action.
    pub form: Form,
    /// In a graph: the steps that must be settled first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deps: Vec<StepIx>,
    /// In a state machine: the next node. In a graph: the dependents that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Route>,
    /// In a graph: goes back to an earlier step until a condition is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewind>,
    /// The step is skipped if this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// The condition on its dependencies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run_if: RunIf,
    /// Whether the run continues if it fails.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Tools without which it cannot run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The actions that it uses: for documentation and for consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// How long an attempt may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout: Timeout,
    /// The rules for retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The budget of all its attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The effect of a final failure.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_error: OnError,
    /// For an agent: how an interrupted turn continues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_interrupt: OnInterrupt,
    /// The treatment of its result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Output,
    /// If set: a person reviews the output before it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Text>,
    /// Who may answer its questions, if that differs from the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalRule>,
    /// Whether consent for the run covers it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub consent: Consent,
    /// The harm that it could do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Whether an earlier result may be used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Variables of the child's environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, Arg>,
    /// Its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The files that it may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Labels a worker must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs_on: Vec<String>,
    /// Whether it can run without the files of earlier steps.
    #[serde(default, skip_serializing_if = "is_default")]
    pub anywhere: bool,
    /// An expression. If its value changes, the run makes progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Expr>,
}

impl Step {
    /// Whether it works with the files of its run. Then it must run on the machine that has them.
    pub fn uses_files(&self) -> bool {
        !self.anywhere && self.uses_checkout()
    }

    /// Whether it works in a checkout of its project.
    pub fn uses_checkout(&self) -> bool {
        !matches!(&self.form, Form::Work(work) if matches!(work.kind, WorkKind::Http | WorkKind::Notify))
    }

    /// Whether an agent does it.
    pub fn is_agent(&self) -> bool {
        matches!(&self.form, Form::Work(work) if work.kind == WorkKind::Prompt)
    }

    /// Whether an agent does it that may edit files.
    pub fn edits(&self) -> bool {
        let Form::Work(work) = &self.form else { return false };
        let agent = work.params.get("agent");
        let sandbox = match agent {
            Some(Arg::Json(agent)) => agent.get("sandbox").and_then(Json::as_str),
            Some(Arg::Map(agent)) => agent.get("sandbox").and_then(Arg::as_json).and_then(Json::as_str),
            _ => None,
        };
        self.is_agent() && sandbox != Some("read-only")
    }

    /// The persona or agent that it names, if any.
    pub fn named_agent(&self) -> Option<String> {
        let Form::Work(work) = &self.form else { return None };
        let agent = work.params.get("agent")?.as_json()?;
        let key = |key: &str| agent.get(key).and_then(Json::as_str);
        key("persona").or_else(|| key("backend")).map(str::to_owned)
    }

    /// The role of its agent, and the file of the project that plays it.
    pub fn role(&self) -> Option<(String, Option<String>)> {
        let Form::Work(work) = &self.form else { return None };
        let agent = work.params.get("agent")?.as_json()?;
        let key = |key: &str| agent.get(key).and_then(Json::as_str).map(str::to_owned);
        Some((key("role")?, key("played_by")))
    }

    /// The kind of its work.
    pub(crate) fn kind_of_work(&self) -> &str {
        match &self.form {
            Form::Work(work) => work.kind.as_str(),
            _ => "none",
        }
    }
}

/// One possible transition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// Taken if true, or if there is no condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// The target.
    pub to: StepIx,
}

/// Goes back to an earlier step of the graph until a condition is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewind {
    /// The target. It and all steps after it start again.
    pub to: StepIx,
    /// The condition, evaluated after the step succeeds.
    pub until: Expr,
    /// The most rounds.
    pub max: u32,
    /// The effect if the last round does not meet the condition.
    pub on_exhausted: OnExhausted,
}

/// The condition of a step on its dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunIf {
    /// Each succeeded, was skipped, or failed while optional.
    #[default]
    Settled,
    /// Each succeeded.
    Succeeded,
    /// One failed.
    Failed,
    /// Each has ended, with any result.
    Always,
}

/// How long an attempt may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timeout {
    /// The default of the kind of work.
    #[default]
    Kind,
    /// Without a limit.
    None,
    /// This many milliseconds.
    After(u64),
}

/// The effect of a final failure of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The default of the kind of work: a command fails; an agent without further recovery waits for a person.
    #[default]
    Kind,
    /// The body fails.
    Fail,
    /// The step counts as done, with the output it has.
    Continue,
    /// The step counts as skipped.
    Skip,
    /// A person decides.
    Ask,
    /// In a state machine: another node.
    Goto(StepIx),
}

/// How an agent continues after an interrupted turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInterrupt {
    /// In the same conversation, with the files as they are.
    #[default]
    Continue,
    /// From the start: Longhaul restores the files and starts a new conversation.
    Restore,
}

/// Whether consent for the run covers a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Yes.
    #[default]
    Inherit,
    /// The step needs its own consent.
    Individual,
}

/// The harm that a step could do, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Little.
    #[default]
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// So much that only a policy can allow it.
    Critical,
}

impl Risk {
    const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The risk with this word.
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.word() == word)
    }
}

impl std::fmt::Display for Risk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// When an earlier result may be used again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cache {
    /// Values that the result depends on, besides those that the step reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Expr>,
    /// Files that the result depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How long the result stays valid, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
}
