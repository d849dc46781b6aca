//! What is true of a run after the events so far.
//!
//! Instances of bodies and steps live in tables, as in the plan. Applying an event costs what it changes:
//! a step that ends counts down its dependents, and whoever reaches zero is put on the agenda.
//!
//! **Invariant:** a step has at most one open attempt; what is on the agenda needs a decision and nothing
//! else does.

mod account;
mod apply;
mod hosted;
mod layout;
mod names;
mod overrun;
mod placed;
mod reopen;
mod settle;
mod spin;

use std::collections::{BTreeSet, HashMap, VecDeque};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::event::{self, Answer, Carried, Driver, Ended, Failure, QuestionKind, RunStarted, Session, Skip, Usage};
use crate::id::StepId;
use crate::ladder::Climb;
use crate::path::StepPath;
use crate::plan::{BodyIx, Outcome, Plan, StepIx, UnitIx};

pub(crate) use account::Payer;
pub use apply::Illegal;
pub use hosted::Hand;
pub use layout::LAYOUT;
pub use names::Scope;
pub use placed::Missed;
pub(crate) use spin::IDLE_ROUNDS_MAX;

/// A body that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BodyNo(pub u32);

/// A step that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepNo(pub u32);

impl BodyNo {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

impl StepNo {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event that was applied.
    pub seq: u64,
    /// When that happened.
    pub now: i64,
    /// What the run was started with.
    pub started: Option<RunStarted>,
    /// When it was started.
    pub started_at: i64,
    /// How it ended, once it has.
    pub finished: Option<Finished>,
    /// What is done because it has failed.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// Whether nothing new may start.
    pub paused: bool,
    /// Whether it is being stopped.
    pub cancelling: bool,
    /// Whether starting it is no consent any more.
    #[serde(default)]
    pub consent_revoked: bool,
    /// Limits that were reached and passed.
    pub limits_reached: Vec<String>,
    /// Attempts begun, retries not counted.
    pub steps_executed: u64,
    /// The same since a `progress` value last changed.
    pub steps_idle: u64,
    /// What it has cost so far, as far as that is known.
    pub usage: Usage,
    /// What was set aside for attempts whose cost nobody ever told.
    #[serde(default)]
    pub assumed: Usage,
    /// Steps that went beyond a limit and were let through with a shortened output.
    #[serde(default)]
    pub degraded: u32,
    /// Whether one went beyond a limit for which nothing could be shortened any more.
    #[serde(default)]
    pub(crate) overdrawn: bool,
    /// The most that an attempt has cost.
    #[serde(default)]
    pub(crate) dearest: Usage,
    /// What every agent has cost.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) agents: IndexMap<String, Usage>,
    /// Conversations that steps share, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub threads: IndexMap<String, Session>,
    /// Steps that ended well.
    pub succeeded: u64,
    /// Attempts begun, over all steps.
    #[serde(default)]
    pub tried: u64,
    /// Steps that wait for a time, a signal, a person, a host or a worker.
    pub(crate) waiting: BTreeSet<StepNo>,
    /// Of those, the ones whose attempt is handed out.
    #[serde(default)]
    pub(crate) handed: BTreeSet<StepNo>,
    /// Of those, the ones whose attempt waits for a worker.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) queued: BTreeSet<StepNo>,
    /// The machine on which its files are, where several share a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// That machine, if nothing is heard of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
    /// When somebody last said that it is to be waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_at: Option<i64>,
    /// The newest record of its files that other machines can fetch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// A step whose files are not part of that, and the number that they would have had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncarried: Option<(StepPath, u64)>,
    /// What its files are made from on the machine where it continues, if not from a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Carried>,
    /// The event with which a machine was last given up; 0 if none was. Whoever works with files from before it is late.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_at: u64,
    /// The event with which each client of a hosted run last submitted something.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub submitted: IndexMap<String, u64>,
    pub(crate) deadline_passed: bool,
    pub(crate) visits_most: u32,
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Json>,
    pub(crate) bodies: Vec<BodyInst>,
    pub(crate) steps: Vec<StepInst>,
    pub(crate) by_path: HashMap<String, StepNo>,
    /// Steps that need a decision.
    pub(crate) agenda: VecDeque<StepNo>,
    /// Leaf steps that are ready and need a slot.
    pub(crate) queue: VecDeque<StepNo>,
    /// Steps with an open attempt.
    pub(crate) open: BTreeSet<StepNo>,
    /// Signals that came before anybody waited for them.
    pub(crate) signals: Vec<(String, Json)>,
    pub(crate) root_ended: bool,
    /// Sub-workflows that have limits and were opened.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) limited: BTreeSet<BodyNo>,
    /// The step that was reached again and again although nothing was done in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spinning: Option<StepPath>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// In a word.
    pub outcome: Outcome,
    /// Why.
    pub message: Option<String>,
    /// What it returned.
    pub outputs: IndexMap<String, Json>,
    /// When.
    pub at: i64,
}

/// How far the `on_failure` of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OnFailure {
    /// How often it was begun.
    pub attempts: u32,
    /// Whether the last attempt has no end yet.
    pub open: bool,
}

impl OnFailure {
    /// The attempt that has no end yet.
    pub fn open_attempt(self) -> Option<u32> {
        self.open.then_some(self.attempts)
    }
}

/// A body that was opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BodyInst {
    pub(crate) body: BodyIx,
    pub(crate) unit: UnitIx,
    /// The container, `None` for the run itself.
    pub(crate) owner: Option<StepNo>,
    /// Which item, round or branch.
    pub(crate) index: u32,
    pub(crate) names: IndexMap<String, Json>,
    pub(crate) slots: Vec<Slot>,
    /// Steps that were reached and are not over.
    pub(crate) live: u32,
    pub(crate) failed: bool,
    /// Of the outermost body of a sub-workflow: what an `end` inside it said.
    pub(crate) verdict: Option<(Outcome, Option<String>)>,
    pub(crate) ended: bool,
    /// Of the outermost body of a sub-workflow that has limits: what it has used of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<Box<account::Account>>,
    /// How often something in it was begun again since anything was done in it.
    #[serde(default)]
    pub(crate) idle_rounds: u32,
}

/// A step's place in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) current: Option<StepNo>,
    /// Dependencies that are not over.
    pub(crate) pending: u32,
    pub(crate) visits: u32,
    /// Rounds that a `rewind` of this step has begun, beside the first.
    pub(crate) rounds: u32,
    /// An instance that was blocked and never began: the next one takes its place and its address.
    pub(crate) spare: Option<StepNo>,
}

/// A step that was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepInst {
    /// Which step of the plan.
    pub step: StepIx,
    /// Its address.
    pub path: StepPath,
    /// Where it is.
    pub phase: Phase,
    /// How it ended, once it has.
    pub ended: Option<Ended>,
    /// Whether what depends on it may continue.
    pub ok: bool,
    /// Attempts begun.
    pub attempts: u32,
    /// What the last attempt left, or the step itself.
    pub result: event::Result,
    /// Why it failed.
    pub error: Option<Failure>,
    /// Why it was left out.
    pub skipped: Option<Skip>,
    /// What a person chose.
    pub choice: Option<String>,
    /// What a person said beside their answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether the output is the declared default.
    pub defaulted: bool,
    /// When it was reached.
    pub since: i64,
    /// When its last attempt began, or its question was asked.
    pub started_at: Option<i64>,
    /// When it was over.
    pub ended_at: Option<i64>,
    /// What it asks a person.
    pub question: Option<Question>,
    /// What it cost.
    pub usage: Usage,
    /// What its agent has climbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climb: Option<Box<Climb>>,
    /// Of an attempt that is handed out: who took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand: Option<Box<Hand>>,
    /// Of an attempt that waits or waited for a worker: the labels that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// What its attempt waits for: something its machine is short of, or what its agent does in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed: Option<String>,
    /// What is set aside for the open attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reserve: Option<Usage>,
    pub(crate) body: BodyNo,
    /// Whether its body counts on it: reached and not over.
    pub(crate) live: bool,
    pub(crate) lost: u32,
    /// Attempts that were stopped on purpose.
    #[serde(default)]
    pub(crate) stopped: u32,
    pub(crate) answer: Option<Answer>,
    pub(crate) chosen: Option<StepId>,
    pub(crate) items: Vec<Json>,
    pub(crate) opened: u32,
    pub(crate) closed: u32,
    /// Bodies inside it that ended badly.
    pub(crate) broken: u32,
    pub(crate) children: Vec<BodyNo>,
    /// What each item's body left.
    pub(crate) left: Vec<Json>,
}

impl StepInst {
    /// Whether a choice or a gate before it led elsewhere.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.skipped, Some(Skip::Route | Skip::Denied))
    }

    /// What it asks a person now. A step that waits for a worker can ask about the machine that it waits for.
    pub fn asks(&self) -> Option<&Question> {
        self.question.as_ref().filter(|_| matches!(self.phase, Phase::Question | Phase::Queued))
    }

    /// Attempts that count: those that came to an end of their own.
    pub(crate) fn tries(&self) -> u32 {
        self.attempts.saturating_sub(self.lost).saturating_sub(self.stopped)
    }

    /// The attempt before which its files were as its conversation found them. Whether they were recorded shows when they
    /// are put back: a process can die before it can say so.
    pub(crate) fn restorable(&self) -> u32 {
        self.climb.as_ref().and_then(|climb| climb.kept).unwrap_or(self.attempts)
    }

    /// A step that is nowhere yet: whoever adds it says where it enters.
    pub(crate) fn new(step: StepIx, path: StepPath, body: BodyNo, since: i64) -> Self {
        Self {
            step,
            path,
            phase: Phase::Done,
            ended: None,
            ok: false,
            attempts: 0,
            result: event::Result::default(),
            error: None,
            skipped: None,
            choice: None,
            comment: None,
            defaulted: false,
            since,
            started_at: None,
            ended_at: None,
            question: None,
            usage: Usage::default(),
            climb: None,
            hand: None,
            labels: Vec::new(),
            delayed: None,
            reserve: None,
            body,
            live: false,
            lost: 0,
            stopped: 0,
            answer: None,
            chosen: None,
            items: Vec::new(),
            opened: 0,
            closed: 0,
            broken: 0,
            children: Vec::new(),
            left: Vec::new(),
        }
    }
}

/// Where a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reached; nothing has been decided.
    Ready,
    /// An attempt is under way.
    Attempt,
    /// Another attempt is due then.
    Retry {
        /// When.
        due: i64,
    },
    /// A person is asked.
    Question,
    /// Asleep, or waiting for a signal.
    Waiting {
        /// Until when.
        due: Option<i64>,
        /// For which signal.
        signal: Option<String>,
    },
    /// Its attempt is handed out to whoever hosts the run.
    Handed,
    /// Its attempt waits for a worker.
    Queued,
    /// Its bodies are running.
    Inside,
    /// Something ended, and what that means has not been decided.
    Judge,
    /// Over.
    Done,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What for.
    pub kind: QuestionKind,
    /// What they read.
    pub text: String,
    /// What they may answer beside yes and no.
    pub choices: Vec<String>,
    /// What a free answer looks like.
    pub schema: Option<Json>,
    /// When silence becomes an answer.
    pub due: Option<i64>,
    /// When it was asked.
    pub asked_at: i64,
    /// The hash of the secret that answers it from afar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl State {
    /// What was spent, as far as anybody can tell.
    pub(crate) fn spent(&self) -> Usage {
        let mut spent = self.usage;
        spent += self.assumed;
        spent
    }

    /// A step by address.
    pub fn find(&self, path: &StepPath) -> Option<&StepInst> {
        self.by_path.get(&path.to_string()).map(|at| self.step(*at))
    }

    /// Gives the question that a step asks the hash of its secret.
    pub(crate) fn sealed(&mut self, path: &StepPath, asked_at: i64, hash: String) {
        let Some(at) = self.number(path) else { return };
        let question = self.step_mut(at).question.as_mut();
        if let Some(question) = question.filter(|question| question.asked_at == asked_at) {
            question.key = Some(hash);
        }
    }

    /// Every step that was reached, in the order in which that happened.
    pub fn steps(&self) -> &[StepInst] {
        &self.steps
    }

    /// Steps with an open attempt.
    pub fn open_attempts(&self) -> impl Iterator<Item = &StepInst> {
        self.open.iter().map(|at| self.step(*at))
    }

    /// How many attempts are open.
    pub fn running(&self) -> usize {
        self.open.len()
    }

    /// Steps whose attempt is handed out.
    pub fn handed(&self) -> impl Iterator<Item = &StepInst> {
        self.handed.iter().map(|at| self.step(*at))
    }

    /// Steps whose attempt waits for a worker.
    pub fn queued(&self) -> impl Iterator<Item = &StepInst> {
        self.queued.iter().map(|at| self.step(*at))
    }

    /// Attempts of all kinds: made by an engine, handed out, and waiting for a worker.
    pub(crate) fn begun(&self) -> impl Iterator<Item = &StepInst> {
        self.open_attempts().chain(self.handed()).chain(self.queued())
    }

    pub(crate) fn at_once(&self) -> usize {
        self.open.len() + self.handed.len() + self.queued.len()
    }

    /// Whether a client makes the turns of its agents.
    pub fn is_hosted(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.driver == Driver::Host)
    }

    /// Steps that wait for a time, a signal, a person, a host or a worker.
    pub fn waiting(&self) -> impl Iterator<Item = &StepInst> {
        self.waiting.iter().map(|at| self.step(*at))
    }

    /// Timers that are set, each with its name and when it is due.
    pub fn timers(&self, plan: &Plan) -> Vec<(String, i64)> {
        if self.is_finished() || self.started.is_none() {
            return Vec::new();
        }
        let timer = |step: &StepInst| match &step.phase {
            Phase::Retry { due } => Some((format!("retry:{}", step.path), *due)),
            Phase::Waiting { due, .. } => Some((format!("wait:{}", step.path), (*due)?)),
            Phase::Question => Some((format!("gate:{}", step.path), step.question.as_ref()?.due?)),
            Phase::Handed => Some((format!("claim:{}", step.path), step.hand.as_ref()?.until)),
            Phase::Ready | Phase::Attempt | Phase::Queued | Phase::Inside | Phase::Judge | Phase::Done => None,
        };
        let limit = plan.main().limits.duration_ms.filter(|_| !self.deadline_passed);
        let deadline = limit.map(|ms| self.started_at.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let inner = self.limited().filter_map(|limited| self.deadline_of(plan, limited));
        let deadlines = deadline.map(|due| ("deadline".to_owned(), due)).into_iter().chain(inner);
        self.waiting().filter_map(timer).chain(deadlines).collect()
    }

    /// What is set aside for attempts that are under way.
    pub fn reserved(&self) -> Usage {
        self.begun().filter_map(|step| step.reserve).fold(Usage::default(), |mut sum, reserve| {
            sum += reserve;
            sum
        })
    }

    /// How many steps could begin if there were more slots.
    pub fn ready(&self) -> usize {
        self.queue.len()
    }

    /// Steps of open bodies that were not reached yet, each with what it waits for.
    pub fn blocked(&self, plan: &Plan) -> Vec<(StepPath, Vec<StepPath>)> {
        let mut blocked = Vec::new();
        for body in self.bodies.iter().filter(|body| body.live > 0) {
            let steps = &plan.body(body.body).steps;
            let current: HashMap<StepIx, StepNo> =
                steps.iter().zip(&body.slots).filter_map(|(step, slot)| Some((*step, slot.current?))).collect();
            let beside = current.values().next().map(|at| self.step(*at).path.clone());
            for step in steps.iter().filter(|step| !current.contains_key(step) && !plan.step(**step).deps.is_empty()) {
                let deps = plan.step(*step).deps.iter().filter_map(|dep| current.get(dep));
                let on: Vec<StepPath> =
                    deps.map(|at| self.step(*at)).filter(|dep| dep.live).map(|dep| dep.path.clone()).collect();
                if let Some(path) = beside.as_ref().filter(|_| !on.is_empty()) {
                    blocked.push((path.beside(plan.step(*step).id.clone()), on));
                }
            }
        }
        blocked
    }

    /// Whether the run's time is up.
    pub fn is_past_deadline(&self) -> bool {
        self.deadline_passed
    }

    /// Whether nothing has been decided about any step.
    pub fn is_untouched(&self) -> bool {
        self.steps.iter().all(|step| step.phase == Phase::Ready && step.attempts == 0)
    }

    /// Whether it waits to be let in: it has a group, and nothing has been decided about it.
    pub fn is_queued(&self, plan: &Plan) -> bool {
        plan.main().concurrency.is_some() && !self.is_finished() && self.is_untouched()
    }

    /// The run in a word; `queued` if it waits for others of its group.
    pub fn status_in(&self, plan: &Plan) -> &'static str {
        if !self.paused && self.is_queued(plan) { "queued" } else { self.status_word() }
    }

    /// The run in a word, whatever its group.
    pub fn status_word(&self) -> &'static str {
        match &self.finished {
            Some(finished) => match finished.outcome {
                Outcome::Success => "succeeded",
                Outcome::Failure => "failed",
                Outcome::Cancelled => "cancelled",
            },
            None if self.paused => "paused",
            // Something that is still to be decided is not waited for.
            None if !self.open.is_empty() || self.waiting.is_empty() || !self.agenda.is_empty() => "running",
            None => "waiting",
        }
    }

    /// Open questions.
    pub fn questions(&self) -> impl Iterator<Item = (&StepInst, &Question)> {
        self.waiting().filter_map(|step| Some((step, step.asks()?)))
    }

    /// The names that are set at the top of the workflow.
    pub fn top_names(&self) -> IndexMap<String, Json> {
        self.bodies.first().map(|body| body.names.clone()).unwrap_or_default()
    }

    /// Whether the run is over, and ended badly.
    pub fn has_failed(&self) -> bool {
        self.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Failure)
    }

    /// Whether the run is over.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    pub(crate) fn step(&self, at: StepNo) -> &StepInst {
        &self.steps[at.at()]
    }

    pub(crate) fn step_mut(&mut self, at: StepNo) -> &mut StepInst {
        &mut self.steps[at.at()]
    }

    pub(crate) fn body(&self, at: BodyNo) -> &BodyInst {
        &self.bodies[at.at()]
    }

    pub(crate) fn body_mut(&mut self, at: BodyNo) -> &mut BodyInst {
        &mut self.bodies[at.at()]
    }

    pub(crate) fn number(&self, path: &StepPath) -> Option<StepNo> {
        self.by_path.get(&path.to_string()).copied()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
