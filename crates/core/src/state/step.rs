//! A step that was reached.

use serde::{Deserialize, Serialize};

use super::{Answered, BodyNo, Hints, HostedLease, Phase, Question, StepNo};
use crate::Json;
use crate::event::{self, Answer, Ended, Failure, Skip, Usage};
use crate::id::StepId;
use crate::path::StepPath;
use crate::plan::StepIx;
use crate::recovery::Recovery;
use crate::task::TaskKey;

/// A step that was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepInst {
    /// The step of the plan.
    pub step: StepIx,
    /// Its address.
    pub path: StepPath,
    /// The body that it is in.
    pub(crate) body: BodyNo,
    /// When it was reached.
    pub since: i64,
    /// Whether its body counts on it: reached and not over.
    pub(crate) live: bool,
    /// Where it is, with what belongs to being there.
    pub phase: Phase,
    /// Attempts begun.
    pub attempts: u32,
    /// Attempts that were lost with their worker.
    pub(crate) lost: u32,
    /// Attempts that were stopped on purpose.
    pub(crate) stopped: u32,
    /// When its last attempt began, or its question was asked.
    pub started_at: Option<i64>,
    /// What it cost, all attempts together.
    pub usage: Usage,
    /// What a person answered last, while something can follow from it.
    pub(crate) answered: Option<Box<Answered>>,
    /// What it has come to.
    pub outcome: StepOutcome,
    /// Of a container: how far its bodies are.
    pub(crate) container: Container,
    /// How its agent recovered from failures.
    pub recovery: Option<Box<Recovery>>,
    /// What people told its agent.
    #[serde(default)]
    pub hints: Option<Box<Hints>>,
    /// What it has to do with an earlier plan of the run.
    pub(crate) origin: StepOrigin,
    /// Tools that its agents called and may not use, each once.
    #[serde(default)]
    pub denied: Vec<String>,
}

/// What a step has to do with an earlier plan of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct StepOrigin {
    /// The step under the plan before that it comes from.
    pub(crate) from: Option<StepNo>,
    /// Attempts that were made under plans before.
    pub(crate) before: u32,
    /// Whether it keeps the result that it had.
    pub(crate) kept: bool,
    /// Whether it did work under this plan.
    pub(crate) fresh: bool,
    /// Whether it was reached after such work.
    pub(crate) after: bool,
    /// Whether a person had it started over, so that its result does not count.
    pub(crate) superseded: bool,
}

/// How many denied tools a step remembers; the journal has the rest.
const DENIED_MAX: usize = 20;

/// What a step has come to, as far as it has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepOutcome {
    /// How it ended, once it has.
    pub ended: Option<Ended>,
    /// When it was over.
    pub ended_at: Option<i64>,
    /// Whether what depends on it may continue.
    pub ok: bool,
    /// What the last attempt left, or the step itself.
    pub result: event::Result,
    /// Whether the output is the declared default.
    pub defaulted: bool,
    /// Why it failed.
    pub error: Option<Failure>,
    /// Why it was left out.
    pub skipped: Option<Skip>,
    /// What a person chose.
    pub choice: Option<String>,
    /// What a person said beside their answer.
    pub comment: Option<String>,
    /// The step that it leads to.
    pub(crate) chosen: Option<StepId>,
}

/// How far the bodies of a container are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Container {
    /// The items of a `for_each`.
    pub(crate) items: Vec<Json>,
    /// The bodies, in the order in which they were opened.
    pub(crate) children: Vec<BodyNo>,
    /// Bodies that were opened.
    pub(crate) opened: u32,
    /// Bodies that are over.
    pub(crate) closed: u32,
    /// Bodies that ended badly.
    pub(crate) broken: u32,
    /// What each body left.
    pub(crate) left: Vec<Json>,
}

impl StepInst {
    /// A step without a place yet; the code that adds it enters its first phase.
    pub(crate) fn new(step: StepIx, path: StepPath, body: BodyNo, since: i64) -> Self {
        Self {
            step,
            path,
            body,
            since,
            live: false,
            phase: Phase::Done,
            attempts: 0,
            lost: 0,
            stopped: 0,
            started_at: None,
            usage: Usage::default(),
            answered: None,
            outcome: StepOutcome::default(),
            container: Container::default(),
            recovery: None,
            hints: None,
            origin: StepOrigin::default(),
            denied: Vec::new(),
        }
    }

    /// Notes a tool that its agent may not use.
    pub(crate) fn tool_denied(&mut self, tool: &str) {
        if self.denied.len() < DENIED_MAX && !self.denied.iter().any(|known| known == tool) {
            self.denied.push(tool.to_owned());
        }
    }

    /// Whether a choice or a gate before it led elsewhere.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.outcome.skipped, Some(Skip::Route | Skip::Denied))
    }

    /// Whether no attempt was made under the plan that the run has.
    pub(crate) fn is_untried(&self) -> bool {
        self.attempts == self.origin.before
    }

    /// Whether it keeps a result from a plan before.
    pub fn is_kept(&self) -> bool {
        self.origin.kept
    }

    /// What it asks a person now. A step that waits for a worker can ask about the machine that it waits for.
    pub fn asks(&self) -> Option<&Question> {
        self.phase.question()
    }

    /// What was last answered to it.
    pub fn last_answer(&self) -> Option<&Answer> {
        self.answered.as_deref().map(|answered| &answered.answer)
    }

    /// The items of a `for_each`, once they are known.
    pub fn items(&self) -> &[Json] {
        &self.container.items
    }

    /// The lease of the client that has taken its attempt.
    pub fn lease(&self) -> Option<&HostedLease> {
        match &self.phase {
            Phase::Hosted(hosted) => hosted.lease.as_deref(),
            _ => None,
        }
    }

    /// The labels that its open attempt asks, or asked, a worker for.
    pub fn labels(&self) -> &[String] {
        match &self.phase {
            Phase::Queued(queued) => &queued.labels,
            Phase::Attempt(open) => &open.labels,
            _ => &[],
        }
    }

    /// What its open attempt waits for, in words.
    pub fn delayed(&self) -> Option<&str> {
        match &self.phase {
            Phase::Attempt(open) => open.delayed.as_deref(),
            _ => None,
        }
    }

    /// Whether an engine makes the attempt of this number.
    pub fn is_making(&self, attempt: u32) -> bool {
        self.phase.is_attempt() && self.attempts == attempt
    }

    /// The key of the task of its last attempt.
    pub fn task(&self) -> TaskKey {
        TaskKey::new(&self.path, self.attempts)
    }

    /// Attempts that count: those that came to an end of their own.
    pub(crate) fn tries(&self) -> u32 {
        self.attempts.saturating_sub(self.lost).saturating_sub(self.stopped)
    }

    /// The attempt before which its files were as its conversation found them. Whether they were recorded shows when they
    /// are put back: a process can die before it can say so.
    pub(crate) fn restorable(&self) -> u32 {
        self.recovery.as_ref().and_then(|recovery| recovery.kept).unwrap_or(self.attempts)
    }
}
