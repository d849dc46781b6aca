//! Who pays for a step: the run, and every sub-workflow around it that has limits of its own.
//!
//! **Invariant:** whatever a step uses is counted once for each of them, so a sub-workflow's limit holds inside it and the
//! run's limit holds over all. Where `on_exceed` is `degrade`, a step that cost something and ends while a limit is exceeded
//! counts once, in whatever order results arrive.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::apply::{Apply, Error};
use super::{BodyNo, Phase, State, StepInst, StepNo};
use crate::event::{BudgetChange, Usage};
use crate::path::StepPath;
use crate::plan::{Degrade, Limits, OnExceed, Outcome, Plan};
use crate::task::TimerId;

/// What a run, or a sub-workflow that has limits, has used of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Account {
    /// Attempts begun, retries not counted.
    pub steps: u64,
    /// The same since a `progress` value last changed.
    pub idle: u64,
    /// What it has cost so far, as far as that is known.
    pub usage: Usage,
    /// What was set aside for attempts that never told their cost.
    pub assumed: Usage,
    /// How often the most visited node of a state machine was visited.
    pub(crate) visits_most: u32,
    /// Whether its time is up.
    pub(crate) deadline_passed: bool,
    /// Limits that were reached and passed.
    pub limits_reached: Vec<String>,
    /// Steps that went beyond a limit and were let through with a shortened output.
    pub degraded: u32,
    /// Whether one went beyond a limit for which nothing could be shortened any more.
    pub(crate) over_budget: bool,
}

impl Account {
    /// What was spent, as far as anybody can tell.
    pub(crate) fn spent(&self) -> Usage {
        let mut spent = self.usage;
        spent += self.assumed;
        spent
    }
}

/// What attempts and agents have cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Costs {
    /// The most that an attempt has cost.
    pub(crate) largest_attempt: Usage,
    /// What every agent has cost.
    pub(crate) by_agent: IndexMap<String, Usage>,
}

/// Limits, with what was used of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payer<'a> {
    /// The outermost body of a sub-workflow; the first one is the run's.
    pub(crate) body: BodyNo,
    pub(crate) limits: &'a Limits,
    pub(crate) account: &'a Account,
    state: &'a State,
}

impl Payer<'_> {
    /// What was spent, as far as anybody can tell.
    pub(crate) fn spent(&self) -> Usage {
        self.account.spent()
    }

    /// Whether a limit was reached before, and somebody let the work continue.
    pub(crate) fn has_passed(&self, limit: &str) -> bool {
        self.account.limits_reached.iter().any(|known| known == limit)
    }

    /// What is set aside for attempts that are under way.
    pub(crate) fn reserved(&self) -> Usage {
        match self.state.body(self.body).account {
            Some(_) => self.state.reserved_in(self.body),
            None => self.state.reserved(),
        }
    }

    /// What was spent and what may be.
    pub(crate) fn used(&self) -> Usage {
        let mut used = self.spent();
        used += self.reserved();
        used
    }

    /// Whether the tokens or the money are used up.
    pub(crate) fn is_overspent(&self) -> bool {
        let tokens = self.limits.tokens.is_some_and(|limit| self.spent().tokens() >= limit);
        tokens || self.limits.usd.is_some_and(|limit| self.spent().usd >= limit)
    }

    fn degrade(&self) -> Degrade {
        self.limits.degrade.unwrap_or_default()
    }

    /// Whether another output may be shortened.
    fn has_room(&self) -> bool {
        self.account.degraded < self.degrade().max
    }
}

impl State {
    /// Everybody who pays for a step, from the inside out. The run itself is the last.
    pub(crate) fn payers<'a>(&'a self, plan: &'a Plan, at: StepNo) -> Vec<Payer<'a>> {
        let around = self.accounts(self.step(at).body).into_iter().chain([BodyNo(0)]);
        around.map(|body| self.payer(plan, body)).collect()
    }

    /// A run, or a sub-workflow that has limits, by its outermost body.
    pub(crate) fn payer<'a>(&'a self, plan: &'a Plan, body: BodyNo) -> Payer<'a> {
        let limits = if body == BodyNo(0) { self.limits(plan) } else { &plan.unit(self.body(body).unit).limits };
        let account = self.body(body).account.as_deref().unwrap_or(&self.account);
        Payer { body, limits, account, state: self }
    }

    /// The limits of the run: of its workflow, or what a person made of them.
    pub(crate) fn limits<'a>(&'a self, plan: &'a Plan) -> &'a Limits {
        self.limits.as_deref().unwrap_or(&plan.main().limits)
    }

    /// How the output of a step that is about to end is shortened; `None` if it stays as it is.
    pub(crate) fn shortens(&self, plan: &Plan, at: StepNo) -> Option<Degrade> {
        self.exceeded_by(plan, at).iter().filter(|payer| payer.has_room()).map(Payer::degrade).next()
    }

    /// Whose limits a step has taken it beyond, or further.
    fn exceeded_by<'a>(&'a self, plan: &'a Plan, at: StepNo) -> Vec<Payer<'a>> {
        if !self.has_cost(plan, at) {
            return Vec::new();
        }
        let over = |payer: &Payer<'_>| payer.limits.on_exceed == OnExceed::Degrade && payer.is_overspent();
        self.payers(plan, at).into_iter().filter(over).collect()
    }

    /// Whether a step has cost something. What an agent cost may not be known.
    fn has_cost(&self, plan: &Plan, at: StepNo) -> bool {
        let inst = self.step(at);
        let unknown = plan.step(inst.step).is_agent() && inst.attempts > 0 && !inst.outcome.result.cached;
        unknown || inst.usage.tokens() > 0 || inst.usage.usd > 0.0
    }

    /// Sub-workflows with limits around a body, from the inside out.
    pub(crate) fn accounts(&self, body: BodyNo) -> Vec<BodyNo> {
        let out = |body: &BodyNo| self.body(*body).owner.map(|owner| self.step(owner).body);
        let around = std::iter::successors(Some(body), out);
        around.filter(|body| self.body(*body).account.is_some()).collect()
    }

    /// Sub-workflows with limits that are running.
    pub(crate) fn limited(&self) -> impl Iterator<Item = (BodyNo, &StepInst)> {
        let owner = |body: &BodyNo| Some((*body, self.step(self.body(*body).owner?)));
        self.agenda.limited.iter().filter_map(owner).filter(|(_, owner)| owner.live && owner.phase == Phase::Inside)
    }

    /// Whether a step may begin beside those that are running in the same sub-workflow.
    pub(crate) fn has_room(&self, plan: &Plan, at: StepNo) -> bool {
        self.accounts(self.step(at).body).into_iter().all(|body| {
            let most = plan.unit(self.body(body).unit).limits.parallel;
            most.is_none_or(|most| self.open_in(body).count() < most as usize)
        })
    }

    /// When the time of a sub-workflow is up, as a timer.
    pub(super) fn deadline_of(&self, plan: &Plan, (body, owner): (BodyNo, &StepInst)) -> Option<(TimerId, i64)> {
        let payer = self.payer(plan, body);
        let ms = payer.limits.duration_ms.filter(|_| !payer.account.deadline_passed)?;
        let due = owner.started_at?.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX));
        Some((TimerId::UnitDeadline(owner.path.clone()), due))
    }

    fn open_in(&self, body: BodyNo) -> impl Iterator<Item = &StepInst> {
        self.begun().filter(move |step| self.accounts(step.body).contains(&body))
    }

    fn reserved_in(&self, body: BodyNo) -> Usage {
        let reserves = self.open_in(body).filter_map(|step| step.phase.reserve());
        reserves.fold(Usage::default(), |mut sum, reserve| {
            sum += reserve;
            sum
        })
    }
}

impl Apply<'_> {
    /// The account of a body that is about to be opened: of a sub-workflow that has limits.
    pub(super) fn account_for(&self, body: crate::plan::BodyIx) -> Option<Box<Account>> {
        let unit = self.plan.body(body).unit;
        let is_outermost = self.plan.unit(unit).body == body && unit != crate::plan::UnitIx(0);
        (is_outermost && self.plan.unit(unit).limits != Limits::default()).then(Box::default)
    }

    /// What a sub-workflow had used under the plan before.
    pub(super) fn earlier_account(&self, from: Option<BodyNo>) -> Option<Box<Account>> {
        let before = self.state.earlier.as_deref()?.bodies[from?.at()].account.clone()?;
        Some(Box::new(Account { visits_most: 0, deadline_passed: false, ..*before }))
    }

    /// Counts something for the run, and for every sub-workflow around a body that has limits.
    pub(super) fn for_accounts(&mut self, body: BodyNo, count: impl Fn(&mut Account)) {
        count(&mut self.state.account);
        for body in self.state.accounts(body) {
            self.state.body_mut(body).account.as_deref_mut().into_iter().for_each(&count);
        }
    }

    /// What an attempt cost, and what it is thought to have cost beside that.
    pub(super) fn pay(&mut self, at: StepNo, usage: Usage, assumed: Usage) {
        let body = self.state.step(at).body;
        self.for_accounts(body, |account| {
            account.usage += usage;
            account.assumed += assumed;
        });
    }

    /// Books the cost of an attempt for its agent: the one that the step names, unless another agent took over.
    pub(super) fn book(&mut self, at: StepNo, usage: Usage) {
        let who = self.who(at);
        *self.state.costs.by_agent.entry(who).or_default() += usage;
    }

    fn who(&self, at: StepNo) -> String {
        let inst = self.state.step(at);
        let step = self.plan.step(inst.step);
        let session = inst.recovery.as_ref().and_then(|recovery| recovery.session.as_ref());
        let named = step.named_agent().filter(|_| !self.took_over(at));
        named.or_else(|| session.map(|session| session.agent.clone())).unwrap_or_else(|| step.kind_of_work().to_owned())
    }

    /// The time of a sub-workflow is up.
    pub(super) fn late(&mut self, at: StepNo) {
        let now = self.state.now;
        let Some(body) = self.state.step(at).container.children.last().copied() else { return };
        let owner = self.state.step(at);
        if self.state.deadline_of(self.plan, (body, owner)).is_some_and(|(_, due)| due <= now)
            && let Some(account) = &mut self.state.body_mut(body).account
        {
            account.deadline_passed = true;
        }
    }

    /// A step is over: what it has cost is let through, or is too much.
    pub(super) fn charge_excess(&mut self, at: StepNo) {
        if self.state.step(at).is_kept() {
            return;
        }
        let payers = self.state.exceeded_by(self.plan, at);
        let counted: Vec<(BodyNo, bool)> = payers.iter().map(|payer| (payer.body, payer.has_room())).collect();
        for (body, lets_through) in counted {
            let State { bodies, account, .. } = &mut *self.state;
            let account = bodies[body.at()].account.as_deref_mut().unwrap_or(account);
            if lets_through { account.degraded += 1 } else { account.over_budget = true }
        }
    }

    /// A limit was reached: of the run, or of a sub-workflow.
    pub(super) fn limit_reached(&mut self, limit: &str, path: Option<&StepPath>) -> Result<(), Error> {
        let Some(path) = path else {
            self.state.account.limits_reached.push(limit.to_owned());
            return Ok(());
        };
        let body = self.unit_of(path)?;
        if let Some(account) = &mut self.state.body_mut(body).account {
            account.limits_reached.push(limit.to_owned());
        }
        Ok(())
    }

    /// A person changed limits of the run: they hold again, and a run that was paused at one of them continues.
    pub(super) fn budget_changed(&mut self, change: &BudgetChange) {
        let mut limits = self.state.limits(self.plan).clone();
        let before = limits.clone();
        limits.usd = change.usd.map_or(before.usd, |amount| amount.after(before.usd));
        limits.tokens = change.tokens.map_or(before.tokens, |amount| amount.after(before.tokens));
        limits.steps = change.steps.map_or(before.steps, |amount| amount.after(before.steps));
        limits.duration_ms = change.duration_ms.map_or(before.duration_ms, |amount| amount.after(before.duration_ms));
        let names = change.names();
        let is_changed = |limit: &String| names.contains(&limit.as_str());
        let account = &mut self.state.account;
        account.limits_reached.retain(|limit| !is_changed(limit));
        account.deadline_passed &= change.duration_ms.is_none();
        account.over_budget &= change.usd.is_none() && change.tokens.is_none();
        self.state.limits = Some(Box::new(limits));
        if self.state.paused_at.take_if(|limit| is_changed(limit)).is_some() {
            self.state.paused = false;
        }
    }

    /// A sub-workflow is ended from outside: what is under way in it is given up.
    pub(super) fn unit_stopped(&mut self, path: &StepPath, why: &str) -> Result<(), Error> {
        let body = self.unit_of(path)?;
        self.abandon_body(body);
        self.state.body_mut(body).verdict = Some((Outcome::Failure, Some(why.to_owned())));
        self.body_ended(body);
        Ok(())
    }

    /// The sub-workflow that a step is at.
    fn unit_of(&self, path: &StepPath) -> Result<BodyNo, Error> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        let body = step
            .container
            .children
            .last()
            .copied()
            .filter(|body| step.phase == Phase::Inside && self.state.body(*body).account.is_some());
        body.ok_or_else(|| Error(format!("`{path}` is not at work on a workflow with limits")))
    }
}
