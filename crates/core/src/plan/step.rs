//! A step of a plan, the body it stands in, and what surrounds its work.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Arg, BodyIx, Budget, Expr, Form, OnExhausted, Output, Retry, StepIx, Text, UnitIx, is_default, is_false};
use crate::Json;
use crate::approval::Approvers;
use crate::id::StepId;

/// Steps in an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// The container step it belongs to; `None` for the body of a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StepIx>,
    /// The unit it belongs to.
    pub unit: UnitIx,
    /// How the order is found.
    pub order: Order,
    /// The steps, as written.
    pub steps: Vec<StepIx>,
}

/// How a body decides what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A step starts when what it depends on is settled.
    Graph,
    /// A cursor goes from `start` to wherever `next` says.
    Machine {
        /// The first node.
        start: StepIx,
    },
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Unique in its body.
    pub id: StepId,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The body it stands in.
    pub body: BodyIx,
    /// What it does.
    pub form: Form,
    /// In a graph: what must be settled first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deps: Vec<StepIx>,
    /// Where it goes: in a state machine the next node, in a graph the dependents that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Route>,
    /// In a graph: back to an earlier step until something holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewind>,
    /// False means skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// What it asks of its dependencies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run_if: RunIf,
    /// Whether the run survives its failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Tools without which it cannot run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// What it calls; documentation, and the base of consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// How long an attempt may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout: Timeout,
    /// What is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// What all its attempts together may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What a final failure means.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_error: OnError,
    /// Of an agent: what happens to a turn that was interrupted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_interrupt: OnInterrupt,
    /// What becomes of its result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Output,
    /// A person looks at the output before it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Text>,
    /// Who may answer what it asks, where that is not as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<Approvers>,
    /// Whether consent for the run covers it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub consent: Consent,
    /// How much harm it could do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Whether a result may be reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Variables of the child's environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, Arg>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// What the diff may touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Labels a worker must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs_on: Vec<String>,
    /// Whether it does without the files that earlier steps have left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub anywhere: bool,
    /// A value whose change means that the run is getting on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Expr>,
}

impl Step {
    /// Whether it works with the files of its run, so that it has to be where they are.
    pub fn uses_files(&self) -> bool {
        !self.anywhere && self.uses_checkout()
    }

    /// Whether it works in a checkout of its project at all.
    pub fn uses_checkout(&self) -> bool {
        !matches!(&self.form, Form::Work(work) if matches!(work.kind.as_str(), "http" | "notify"))
    }

    /// Whether an agent does its work.
    pub fn is_agent(&self) -> bool {
        matches!(&self.form, Form::Work(work) if work.kind == "prompt")
    }

    /// Who is to do it, where it says: a persona or an agent.
    pub fn named_agent(&self) -> Option<String> {
        let Form::Work(work) = &self.form else { return None };
        let agent = work.params.get("agent")?.as_json()?;
        let key = |key: &str| agent.get(key).and_then(Json::as_str);
        key("persona").or_else(|| key("backend")).map(str::to_owned)
    }

    /// The kind of its work.
    pub(crate) fn kind_of_work(&self) -> &str {
        match &self.form {
            Form::Work(work) => &work.kind,
            _ => "none",
        }
    }
}

/// One way on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// Taken if true; always, without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// Where to.
    pub to: StepIx,
}

/// Back to an earlier step of the graph until something holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewind {
    /// Where to; it and everything downstream of it starts over.
    pub to: StepIx,
    /// Asked when the step has succeeded.
    pub until: Expr,
    /// Rounds at the most.
    pub max: u32,
    /// What happens after the last.
    pub on_exhausted: OnExhausted,
}

/// What a step asks of its dependencies.
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
    /// Each has ended somehow.
    Always,
}

/// How long an attempt may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timeout {
    /// What the kind of work says.
    #[default]
    Kind,
    /// For ever.
    None,
    /// So many milliseconds.
    After(u64),
}

/// What a final failure of a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// What the kind of work says: a command fails, an agent that cannot be recovered waits for a person.
    #[default]
    Kind,
    /// The body fails.
    Fail,
    /// It counts as done, with what it left.
    Continue,
    /// It counts as skipped.
    Skip,
    /// A person decides.
    Ask,
    /// In a state machine: another node.
    Goto(StepIx),
}

/// How an agent continues whose turn was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInterrupt {
    /// In the same conversation, with what is there.
    #[default]
    Continue,
    /// From the beginning: its files are put back, and a new conversation begins.
    Restore,
}

/// Whether consent for the run covers a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Yes.
    #[default]
    Inherit,
    /// It is asked for by itself.
    Individual,
}

/// How much harm a step could do. The order is from the least.
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
    /// More than anybody should do without having said so in a policy.
    Critical,
}

impl Risk {
    const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// As it is written.
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
    /// Values it depends on, beside what the step itself reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Expr>,
    /// Files it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How long it stays good, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
}
