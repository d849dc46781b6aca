//! What is true of a run after the events so far.
//!
//! Instances of bodies and steps live in tables, as in the plan. Applying an event costs what it changes:
//! a step that ends counts down its dependents, and a step that reaches zero goes on the agenda.
//!
//! **Invariant:** a step has at most one open attempt; what is on the agenda needs a decision and nothing
//! else does.

mod agenda;
mod apply;
mod budget;
mod earlier;
mod hints;
mod hosted;
mod layout;
mod names;
mod phase;
mod placement;
mod reopen;
mod replace;
mod settle;
mod spin;
mod step;

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::event::{Driver, RunStarted, Session, Usage};
use crate::path::StepPath;
use crate::plan::{BodyIx, Limits, Outcome, Plan, StepIx, UnitIx};
use crate::status::RunStatus;
use crate::task::TimerId;

pub(crate) use agenda::Agenda;
pub use apply::Error;
pub(crate) use apply::PAUSED_AT;
pub use budget::Account;
pub(crate) use budget::{Costs, Payer};
pub(crate) use earlier::Earlier;
pub use hints::{Hint, Hints};
pub use hosted::HostedLease;
pub use layout::LAYOUT;
pub use names::StateScope;
pub(crate) use phase::Answered;
pub use phase::{HostedAttempt, OpenAttempt, Phase, Question, QueuedAttempt};
pub use placement::{LostHost, Placement};
pub(crate) use spin::IDLE_ROUNDS_MAX;
pub use step::{StepInst, StepOutcome};

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
    pub on_failure: OnFailure,
    /// Whether nothing new may start.
    pub paused: bool,
    /// Who stopped it, and when, until somebody resumes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stop>,
    /// The limit at which it was paused, while it is.
    #[serde(default)]
    pub(crate) paused_at: Option<String>,
    /// The limits that a person gave it in the place of those of its workflow.
    #[serde(default)]
    pub(crate) limits: Option<Box<Limits>>,
    /// What people told the agents of steps that were not reached yet.
    #[serde(default)]
    pub(crate) early_hints: Vec<(StepPath, Hint)>,
    /// Whether it is being cancelled.
    pub cancelling: bool,
    /// Whether starting it is no consent any more.
    pub consent_revoked: bool,
    /// What it has used of its limits.
    pub account: Account,
    /// What attempts and agents have cost.
    pub(crate) costs: Costs,
    /// Where its files are, where several machines share a store.
    pub placement: Placement,
    /// Conversations that steps share, by name.
    pub threads: IndexMap<String, Session>,
    /// The event with which each client of a hosted run last submitted something.
    pub submitted: IndexMap<String, u64>,
    /// Steps that ended well.
    pub succeeded: u64,
    /// Attempts begun, over all steps.
    pub tried: u64,
    /// The last value of a `progress`.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Json>,
    pub(crate) bodies: Vec<BodyInst>,
    pub(crate) steps: Vec<StepInst>,
    pub(crate) by_path: HashMap<String, StepNo>,
    /// Who needs a decision, who waits and who works.
    pub(crate) agenda: Agenda,
    /// Signals that came before anybody waited for them.
    pub(crate) signals: Vec<(String, Json)>,
    pub(crate) root_ended: bool,
    /// The step that was reached again and again although nothing was done in between.
    pub(crate) spinning: Option<StepPath>,
    /// What there was under the plan before, while results of it may be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<Box<Earlier>>,
}

/// Who stopped a run, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The name of the person, where it is known.
    pub by: Option<String>,
    /// The time: milliseconds since 1970, UTC.
    pub at: i64,
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
    pub(crate) account: Option<Box<Account>>,
    /// How often something in it was begun again since anything was done in it.
    pub(crate) idle_rounds: u32,
    /// The body under the plan before that it comes from.
    pub(crate) from: Option<BodyNo>,
    /// Whether it was opened after work that was done under this plan, and not under the one before.
    pub(crate) after: bool,
    /// Whether work in it was done under this plan.
    pub(crate) fresh: bool,
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

impl State {
    /// A step by address.
    pub fn find(&self, path: &StepPath) -> Option<&StepInst> {
        self.by_path.get(&path.to_string()).map(|at| self.step(*at))
    }

    /// Gives the question that a step asks the hash of its secret.
    pub(crate) fn sealed(&mut self, path: &StepPath, asked_at: i64, hash: String) {
        let Some(at) = self.number(path) else { return };
        let question = self.step_mut(at).phase.question_mut();
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
        self.agenda.open.iter().map(|at| self.step(*at))
    }

    /// How many attempts are open.
    pub fn running(&self) -> usize {
        self.agenda.open.len()
    }

    /// Steps whose attempt is offered to a client, or taken by it.
    pub fn hosted(&self) -> impl Iterator<Item = &StepInst> {
        self.agenda.hosted.iter().map(|at| self.step(*at))
    }

    /// Steps whose attempt waits for a worker.
    pub fn queued(&self) -> impl Iterator<Item = &StepInst> {
        self.agenda.queued.iter().map(|at| self.step(*at))
    }

    /// Attempts of all kinds: made by an engine, handed out, and waiting for a worker.
    pub(crate) fn begun(&self) -> impl Iterator<Item = &StepInst> {
        self.open_attempts().chain(self.hosted()).chain(self.queued())
    }

    pub(crate) fn at_once(&self) -> usize {
        self.agenda.open.len() + self.agenda.hosted.len() + self.agenda.queued.len()
    }

    /// Whether a client makes the turns of its agents.
    pub fn is_hosted(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.driver == Driver::Client)
    }

    /// Steps that wait for a time, a signal, a person, a host or a worker.
    pub fn waiting(&self) -> impl Iterator<Item = &StepInst> {
        self.agenda.waiting.iter().map(|at| self.step(*at))
    }

    /// Timers that are set, each with when it is due. A stopped run has none; they are set again when it is resumed.
    pub fn timers(&self, plan: &Plan) -> Vec<(TimerId, i64)> {
        if self.is_finished() || self.started.is_none() || self.stopped.is_some() {
            return Vec::new();
        }
        let timer = |step: &StepInst| match &step.phase {
            Phase::Retry { due } => Some((TimerId::Retry(step.path.clone()), *due)),
            Phase::Waiting { due, .. } => Some((TimerId::Wait(step.path.clone()), (*due)?)),
            Phase::Question(question) => Some((TimerId::Gate(step.path.clone()), question.due?)),
            Phase::Hosted(hosted) => Some((TimerId::Lease(step.path.clone()), hosted.lease.as_ref()?.until)),
            Phase::Ready | Phase::Attempt(_) | Phase::Queued(_) | Phase::Inside | Phase::Judge | Phase::Done => None,
        };
        let limit = self.limits(plan).duration_ms.filter(|_| !self.account.deadline_passed);
        let deadline = limit.map(|ms| self.started_at.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let inner = self.limited().filter_map(|limited| self.deadline_of(plan, limited));
        let deadlines = deadline.map(|due| (TimerId::Deadline, due)).into_iter().chain(inner);
        self.waiting().filter_map(timer).chain(deadlines).collect()
    }

    /// What is set aside for attempts that are under way.
    pub fn reserved(&self) -> Usage {
        self.begun().filter_map(|step| step.phase.reserve()).fold(Usage::default(), |mut sum, reserve| {
            sum += reserve;
            sum
        })
    }

    /// How many steps could begin if there were more slots.
    pub fn ready(&self) -> usize {
        self.agenda.ready.len()
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

    /// The limit at which the run was paused, while it is.
    pub fn paused_at_limit(&self) -> Option<&str> {
        self.paused_at.as_deref().filter(|_| self.paused)
    }

    /// Whether the run's time is up.
    pub fn is_past_deadline(&self) -> bool {
        self.account.deadline_passed
    }

    /// Whether nothing has been decided about any step.
    pub fn is_untouched(&self) -> bool {
        self.steps.iter().all(|step| step.phase == Phase::Ready && step.is_untried())
    }

    /// Whether it waits to be let in: it has a group, and nothing has been decided about it.
    pub fn is_queued(&self, plan: &Plan) -> bool {
        plan.main().concurrency.is_some() && !self.is_finished() && self.is_untouched()
    }

    /// The run in a word; `queued` if it waits for others of its group.
    pub fn status_in(&self, plan: &Plan) -> RunStatus {
        if !self.paused && self.stopped.is_none() && self.is_queued(plan) { RunStatus::Queued } else { self.status() }
    }

    /// The run in a word, whatever its group.
    pub fn status(&self) -> RunStatus {
        match &self.finished {
            Some(finished) => finished.outcome.into(),
            None if self.stopped.is_some() && !self.cancelling => RunStatus::Stopped,
            None if self.paused => RunStatus::Paused,
            // Something that is still to be decided is not waited for.
            None if !self.agenda.open.is_empty()
                || self.agenda.waiting.is_empty()
                || !self.agenda.undecided.is_empty() =>
            {
                RunStatus::Running
            }
            None => RunStatus::Waiting,
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

    /// Whether a person stopped the run, and it is neither resumed nor being cancelled.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some() && !self.cancelling && !self.is_finished()
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
