//! Going beyond a limit on tokens or money where `on_exceed` is `degrade`: who did, and for how many that is let through.
//!
//! **Invariant:** a step that cost something and ends while the run is over its limit counts once, in whatever order results arrive.

use super::apply::Apply;
use super::{State, StepNo};
use crate::plan::{Degrade, OnExceed, Plan};

impl State {
    /// How the output of a step that is about to end is shortened; `None` if it stays as it is.
    pub(crate) fn shortens(&self, plan: &Plan, at: StepNo) -> Option<Degrade> {
        let degrade = plan.main().limits.degrade.unwrap_or_default();
        (self.overruns(plan, at) && self.degraded < degrade.max).then_some(degrade)
    }

    /// Whether a step has taken the run beyond its limit, or further.
    fn overruns(&self, plan: &Plan, at: StepNo) -> bool {
        let (limits, spent) = (&plan.main().limits, self.spent());
        let tokens = limits.tokens.is_some_and(|limit| spent.tokens() >= limit);
        let usd = limits.usd.is_some_and(|limit| spent.usd >= limit);
        limits.on_exceed == OnExceed::Degrade && (tokens || usd) && self.has_cost(plan, at)
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
        if self.state.shortens(self.plan, at).is_some() {
            self.state.degraded += 1;
        } else if self.state.overruns(self.plan, at) {
            self.state.overdrawn = true;
        }
    }
}
