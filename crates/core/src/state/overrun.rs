//! Going beyond a limit on tokens or money where `on_exceed` is `degrade`: who did, and for how many that is let through.
//!
//! **Invariant:** a step that cost something and ends while the run is over its limit counts once, in whatever order results arrive.

use super::apply::Apply;
use super::{BodyNo, Payer, State, StepNo};
use crate::plan::{Degrade, OnExceed, Plan};

impl State {
    /// How the output of a step that is about to end is shortened; `None` if it stays as it is.
    pub(crate) fn shortens(&self, plan: &Plan, at: StepNo) -> Option<Degrade> {
        self.overrun_by(plan, at).into_iter().filter(has_room).map(|payer| degrade(&payer)).next()
    }

    /// Whose limits a step has taken it beyond, or further.
    fn overrun_by<'a>(&'a self, plan: &'a Plan, at: StepNo) -> Vec<Payer<'a>> {
        if !self.has_cost(plan, at) {
            return Vec::new();
        }
        let over = |payer: &Payer<'_>| payer.limits.on_exceed == OnExceed::Degrade && payer.is_overspent();
        self.payers(plan, at).into_iter().filter(over).collect()
    }

    /// Whether a step has cost something. What an agent cost may not be known.
    fn has_cost(&self, plan: &Plan, at: StepNo) -> bool {
        let inst = self.step(at);
        let unknown = plan.step(inst.step).is_agent() && inst.attempts > 0 && !inst.result.cached;
        unknown || inst.usage.tokens() > 0 || inst.usage.usd > 0.0
    }
}

impl Apply<'_> {
    /// A step is over: what it has cost is let through, or is too much.
    pub(super) fn overrun(&mut self, at: StepNo) {
        let payers = self.state.overrun_by(self.plan, at);
        let counted: Vec<(BodyNo, bool)> = payers.iter().map(|payer| (payer.body, has_room(payer))).collect();
        for (body, lets_through) in counted {
            let (degraded, overdrawn) = match self.state.bodies[body.at()].account.as_deref_mut() {
                Some(account) => (&mut account.degraded, &mut account.overdrawn),
                None => (&mut self.state.degraded, &mut self.state.overdrawn),
            };
            if lets_through { *degraded += 1 } else { *overdrawn = true }
        }
    }
}

fn degrade(payer: &Payer<'_>) -> Degrade {
    payer.limits.degrade.unwrap_or_default()
}

/// Whether another output may be shortened.
fn has_room(payer: &Payer<'_>) -> bool {
    payer.degraded < degrade(payer).max
}
