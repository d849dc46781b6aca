//! Who pays for a step: the run, and every sub-workflow around it that has limits of its own.
//!
//! **Invariant:** whatever a step uses is counted once for each of them, so a sub-workflow's limit holds inside it and the
//! run's limit holds over all.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Illegal};
use super::{BodyNo, Phase, State, StepInst, StepNo};
use crate::event::Usage;
use crate::path::StepPath;
use crate::plan::{Limits, Outcome, Plan};

/// What a sub-workflow has used of its own limits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) steps: u64,
    pub(crate) idle: u64,
    pub(crate) usage: Usage,
    pub(crate) assumed: Usage,
    pub(crate) visits_most: u32,
    pub(crate) deadline_passed: bool,
    pub(crate) limits_reached: Vec<String>,
    pub(crate) degraded: u32,
    pub(crate) overdrawn: bool,
}

/// Limits, with what was used of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payer<'a> {
    /// The outermost body of a sub-workflow; the first one is the run's.
    pub(crate) body: BodyNo,
    pub(crate) limits: &'a Limits,
    pub(crate) spent: Usage,
    pub(crate) steps: u64,
    pub(crate) idle: u64,
    pub(crate) visits_most: u32,
    pub(crate) deadline_passed: bool,
    pub(crate) degraded: u32,
    pub(crate) overdrawn: bool,
    reached: &'a [String],
    state: &'a State,
}

impl Payer<'_> {
    /// Whether a limit was reached before, and somebody let the work continue.
    pub(crate) fn has_passed(&self, limit: &str) -> bool {
        self.reached.iter().any(|known| known == limit)
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
        let mut used = self.spent;
        used += self.reserved();
        used
    }

    /// Whether the tokens or the money are used up.
    pub(crate) fn is_overspent(&self) -> bool {
        let tokens = self.limits.tokens.is_some_and(|limit| self.spent.tokens() >= limit);
        tokens || self.limits.usd.is_some_and(|limit| self.spent.usd >= limit)
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
        let limits = &plan.unit(self.body(body).unit).limits;
        let Some(account) = &self.body(body).account else {
            return Payer {
                body,
                limits,
                spent: self.spent(),
                steps: self.steps_executed,
                idle: self.steps_idle,
                visits_most: self.visits_most,
                deadline_passed: self.deadline_passed,
                degraded: self.degraded,
                overdrawn: self.overdrawn,
                reached: &self.limits_reached,
                state: self,
            };
        };
        let mut spent = account.usage;
        spent += account.assumed;
        Payer {
            body,
            limits,
            spent,
            steps: account.steps,
            idle: account.idle,
            visits_most: account.visits_most,
            deadline_passed: account.deadline_passed,
            degraded: account.degraded,
            overdrawn: account.overdrawn,
            reached: &account.limits_reached,
            state: self,
        }
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
        self.limited.iter().filter_map(owner).filter(|(_, owner)| owner.live && owner.phase == Phase::Inside)
    }

    /// Whether a step may begin beside those that are running in the same sub-workflow.
    pub(crate) fn has_room(&self, plan: &Plan, at: StepNo) -> bool {
        self.accounts(self.step(at).body).into_iter().all(|body| {
            let most = plan.unit(self.body(body).unit).limits.parallel;
            most.is_none_or(|most| self.open_in(body).count() < most as usize)
        })
    }

    /// When the time of a sub-workflow is up, as a timer.
    pub(super) fn deadline_of(&self, plan: &Plan, (body, owner): (BodyNo, &StepInst)) -> Option<(String, i64)> {
        let payer = self.payer(plan, body);
        let ms = payer.limits.duration_ms.filter(|_| !payer.deadline_passed)?;
        let due = owner.started_at?.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX));
        Some((format!("deadline:{}", owner.path), due))
    }

    fn open_in(&self, body: BodyNo) -> impl Iterator<Item = &StepInst> {
        self.begun().filter(move |step| self.accounts(step.body).contains(&body))
    }

    fn reserved_in(&self, body: BodyNo) -> Usage {
        let reserves = self.open_in(body).filter_map(|step| step.reserve);
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

    /// Counts something for every sub-workflow around a body.
    pub(super) fn for_accounts(&mut self, body: BodyNo, count: impl Fn(&mut Account)) {
        for body in self.state.accounts(body) {
            self.state.body_mut(body).account.as_deref_mut().into_iter().for_each(&count);
        }
    }

    /// What an attempt cost, and what it is thought to have cost beside that.
    pub(super) fn pay(&mut self, at: StepNo, usage: Usage, assumed: Usage) {
        self.state.usage += usage;
        self.state.assumed += assumed;
        let body = self.state.step(at).body;
        self.for_accounts(body, |account| {
            account.usage += usage;
            account.assumed += assumed;
        });
    }

    /// Books what an attempt cost for whoever made it: the one that the step names, unless another took over.
    pub(super) fn book(&mut self, at: StepNo, usage: Usage) {
        let who = self.who(at);
        *self.state.agents.entry(who).or_default() += usage;
    }

    fn who(&self, at: StepNo) -> String {
        let inst = self.state.step(at);
        let step = self.plan.step(inst.step);
        let session = inst.climb.as_ref().and_then(|climb| climb.session.as_ref());
        let named = step.named_agent().filter(|_| !self.took_over(at));
        named.or_else(|| session.map(|session| session.agent.clone())).unwrap_or_else(|| step.kind_of_work().to_owned())
    }

    /// The time of a sub-workflow is up.
    pub(super) fn late(&mut self, at: StepNo) {
        let now = self.state.now;
        let Some(body) = self.state.step(at).children.last().copied() else { return };
        let owner = self.state.step(at);
        if self.state.deadline_of(self.plan, (body, owner)).is_some_and(|(_, due)| due <= now)
            && let Some(account) = &mut self.state.body_mut(body).account
        {
            account.deadline_passed = true;
        }
    }

    /// A limit was reached: of the run, or of a sub-workflow.
    pub(super) fn limit_reached(&mut self, limit: &str, path: Option<&StepPath>) -> Result<(), Illegal> {
        let Some(path) = path else {
            self.state.limits_reached.push(limit.to_owned());
            return Ok(());
        };
        let body = self.unit_of(path)?;
        if let Some(account) = &mut self.state.body_mut(body).account {
            account.limits_reached.push(limit.to_owned());
        }
        Ok(())
    }

    /// A sub-workflow is ended from outside: what is under way in it is given up.
    pub(super) fn unit_stopped(&mut self, path: &StepPath, why: &str) -> Result<(), Illegal> {
        let body = self.unit_of(path)?;
        self.abandon_body(body);
        self.state.body_mut(body).verdict = Some((Outcome::Failure, Some(why.to_owned())));
        self.body_ended(body);
        Ok(())
    }

    /// The sub-workflow that a step is at.
    fn unit_of(&self, path: &StepPath) -> Result<BodyNo, Illegal> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        let body = step
            .children
            .last()
            .copied()
            .filter(|body| step.phase == Phase::Inside && self.state.body(*body).account.is_some());
        body.ok_or_else(|| Illegal(format!("`{path}` is not at work on a workflow with limits")))
    }
}
