//! The checked plan: what the engine executes.
//!
//! A plan is flat. Units (the workflow and the sub-workflows it uses), bodies and steps live in three
//! tables and point at each other by index, so that a run can keep its state in arrays of the same
//! shape. The forms that the planner must reason about are a closed enum; what a leaf step does is
//! opaque [`Work`].
//!
//! **Invariant:** every index in a plan is valid, every graph body is acyclic, every name that a
//! template reads can have been set. The checker of the language guarantees it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::approval::Approvers;
use crate::id::{Name, StepId};
use crate::types::Type;

/// The version of the meaning of a plan. A run pins it.
pub const SEMANTICS: u32 = 1;

macro_rules! index {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $type(pub u32);

        impl $type {
            /// The position in its table.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A place in [`Plan::units`].
    UnitIx
);
index!(
    /// A place in [`Plan::bodies`].
    BodyIx
);
index!(
    /// A place in [`Plan::steps`].
    StepIx
);

/// A workflow, checked and complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// See [`SEMANTICS`].
    pub semantics: u32,
    /// The workflow itself first, then the sub-workflows it can reach.
    pub units: Vec<Unit>,
    /// All bodies of all units.
    pub bodies: Vec<Body>,
    /// All steps of all bodies.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The workflow that the plan is for.
    pub fn main(&self) -> &Unit {
        self.unit(UnitIx(0))
    }

    /// A unit by index.
    pub fn unit(&self, ix: UnitIx) -> &Unit {
        &self.units[ix.at()]
    }

    /// A body by index.
    pub fn body(&self, ix: BodyIx) -> &Body {
        &self.bodies[ix.at()]
    }

    /// A step by index.
    pub fn step(&self, ix: StepIx) -> &Step {
        &self.steps[ix.at()]
    }
}

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
    /// Whether a run can not start without it.
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
    /// People are told and the run goes on.
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
    /// Tools without which it can not run.
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
        !self.anywhere && !matches!(&self.form, Form::Work(work) if matches!(work.kind.as_str(), "http" | "notify"))
    }

    /// Whether an agent does its work.
    pub fn is_agent(&self) -> bool {
        matches!(&self.form, Form::Work(work) if work.kind == "prompt")
    }
}

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

/// What is tried again, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// Attempts beside the first.
    pub max: u32,
    /// Classes of error; empty means the transient ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<ErrorClass>,
    /// The pauses.
    pub backoff: Backoff,
}

/// What the attempts of a step may use.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How many there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Why work failed, as far as a retry cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Will probably work later.
    Transient,
    /// A quota; works after its reset.
    RateLimit,
    /// Took too long.
    Timeout,
    /// The answer does not fit its schema.
    Invalid,
    /// The worker disappeared.
    Lost,
    /// The agent said nothing.
    Empty,
    /// The other side has more to do than it can.
    Overload,
    /// A plan's or budget's share is used up; works after its reset.
    UsageLimit,
    /// The conversation does not fit the model any more.
    Overflow,
    /// A login or key is missing or wrong.
    Auth,
    /// Nobody pays.
    Billing,
    /// There is no such model, or not for this account.
    UnknownModel,
    /// The model will not do it.
    Refused,
    /// It can not go on without an answer.
    Question,
    /// No sign of life.
    Hung,
    /// Ended from outside.
    Killed,
    /// The work said no.
    Failed,
    /// All of them.
    Any,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 18] = [
        Self::Transient,
        Self::RateLimit,
        Self::Timeout,
        Self::Invalid,
        Self::Lost,
        Self::Empty,
        Self::Overload,
        Self::UsageLimit,
        Self::Overflow,
        Self::Auth,
        Self::Billing,
        Self::UnknownModel,
        Self::Refused,
        Self::Question,
        Self::Hung,
        Self::Killed,
        Self::Failed,
        Self::Any,
    ];

    /// As files and people write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
            Self::Invalid => "invalid",
            Self::Lost => "lost",
            Self::Empty => "empty",
            Self::Overload => "overload",
            Self::UsageLimit => "usage_limit",
            Self::Overflow => "overflow",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::UnknownModel => "unknown_model",
            Self::Refused => "refused",
            Self::Question => "question",
            Self::Hung => "hung",
            Self::Killed => "killed",
            Self::Failed => "failed",
            Self::Any => "any",
        }
    }

    /// The class that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }
}

/// The pauses between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// Before the second attempt.
    pub first_ms: u64,
    /// Each pause is this times the one before.
    pub factor: f64,
    /// No pause is longer.
    pub max_ms: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first_ms: 10_000, factor: 2.0, max_ms: 300_000 }
    }
}

/// What a final failure of a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// What the kind of work says: a command fails, an agent that can not be recovered waits for a person.
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

/// How an agent goes on whose turn was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInterrupt {
    /// In the same conversation, with what is there.
    #[default]
    Continue,
    /// From the beginning: its files are put back, and a new conversation begins.
    Restore,
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
    /// The run goes on.
    Continue,
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

/// What becomes of a step's result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// The name under which later steps read it.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    /// Whether each field becomes a name of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub spread: bool,
    /// A JSON Schema it must follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// How text becomes a value.
    #[serde(default)]
    pub parse: Parse,
    /// Used only when recovery is exhausted, and marked as such for ever.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// How much of it later prompts and hosts see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub show: Show,
    /// Which fields they see of a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Where it is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
}

impl Output {
    /// What is known of the value.
    pub fn value_type(&self) -> Type {
        match (&self.schema, self.parse) {
            (Some(schema), _) => Type::from_schema(schema),
            (None, Parse::Text) => Type::String,
            (None, Parse::Lines) => Type::array(Type::String),
            (None, Parse::Json) => Type::Any,
        }
    }
}

/// How text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parse {
    /// It stays text.
    #[default]
    Text,
    /// It is one JSON value.
    Json,
    /// It is a list of lines.
    Lines,
}

/// How much of an output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// All while it is small, a summary beyond.
    #[default]
    Auto,
    /// All.
    Full,
    /// Its structure.
    Summary,
    /// That it exists.
    None,
}

/// An expression, without braces.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(pub String);

/// A template that renders to text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub String);

/// A value that may have to be computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A value as written.
    Json(Json),
    /// The value of an expression, with its type.
    Expr(Expr),
    /// A rendered text.
    Text(Text),
    /// A list with something to compute in it.
    List(Vec<Arg>),
    /// A mapping with something to compute in it.
    Map(IndexMap<String, Arg>),
}

impl Arg {
    /// A written text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Json(Json::String(text.into()))
    }

    /// The written value, if nothing in it has to be computed.
    pub fn as_json(&self) -> Option<&Json> {
        match self {
            Self::Json(value) => Some(value),
            Self::Expr(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
