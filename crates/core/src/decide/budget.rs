//! Money and tokens: set aside before an attempt, settled after it.
//!
//! **Invariant:** what is spent can exceed a limit by no more than what was under way when it was reached, whatever
//! crashes in between. A cost that nobody told counts as what was set aside for it.

use super::Planner;
use crate::event::Usage;
use crate::plan::{Limits, OnExceed, Step};
use crate::state::{Payer, State, StepInst, StepNo};

/// What a turn is thought to need while no turn of the run has shown it.
const USUAL: Usage =
    Usage { input_tokens: 30_000, cached_tokens: 0, output_tokens: 0, usd: 0.5, usd_unknown: false, at_least: false };

/// What is set aside for a step's next attempt: as much as the dearest one so far, as far as every limit has it.
pub(super) fn reserve(planner: Planner<'_>, state: &State, at: StepNo) -> Option<Usage> {
    let payers = state.payers(planner.plan, at);
    if !planner.plan.step(state.step(at).step).is_agent() || !payers.iter().any(|payer| has_limit(payer.limits)) {
        return None;
    }
    let mut tokens = if state.dearest.input_tokens > 0 { state.dearest.input_tokens } else { USUAL.input_tokens };
    let mut usd = if state.dearest.usd > 0.0 { state.dearest.usd } else { USUAL.usd };
    for payer in payers {
        let used = payer.used();
        tokens = payer.limits.tokens.map_or(tokens, |limit| tokens.min(limit.saturating_sub(used.tokens())));
        usd = payer.limits.usd.map_or(usd, |limit| usd.min((limit - used.usd).max(0.0)));
    }
    Some(Usage { input_tokens: tokens, usd, ..Usage::default() })
}

/// The money that an agent may spend: what nobody has spent or set aside, and no more than its step has left. A limit beyond which
/// the run continues ends no turn.
pub(super) fn usd_left(planner: Planner<'_>, state: &State, at: StepNo) -> Option<f64> {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    if !step.is_agent() {
        return None;
    }
    let left = |limit: f64, used: f64| (limit - used).max(0.0);
    let payers = state.payers(planner.plan, at).into_iter().filter(|payer| stops_at_money(payer));
    // What is set aside is a sum over all that is under way: only who has a limit asks for it.
    let of_limits = payers.filter_map(|payer| Some(left(payer.limits.usd?, payer.used().usd)));
    let of_step = step.budget.and_then(|budget| budget.usd).map(|limit| left(limit, inst.usage.usd));
    of_limits.chain(of_step).reduce(f64::min)
}

/// Whether the money of somebody who pays for a step is used up, so that no other attempt begins before a person says so, or at all.
pub(super) fn is_out_of_money(planner: Planner<'_>, state: &State, at: StepNo) -> bool {
    let is_spent = |payer: &Payer<'_>| payer.limits.usd.is_some_and(|limit| payer.spent.usd >= limit);
    state.payers(planner.plan, at).iter().any(|payer| stops_at_money(payer) && is_spent(payer))
}

fn stops_at_money(payer: &Payer<'_>) -> bool {
    matches!(payer.limits.on_exceed, OnExceed::Fail | OnExceed::Ask) && !payer.has_passed("usd")
}

/// What a step has used up of its own budget, in words; `None` if it may be tried again.
pub(super) fn used_up(step: &Step, inst: &StepInst) -> Option<String> {
    let budget = step.budget?;
    let attempts = budget.attempts.filter(|max| inst.tries() >= *max);
    let attempts = attempts.map(|max| format!("{max} attempt{}", if max == 1 { "" } else { "s" }));
    let tokens = budget.tokens.filter(|max| inst.usage.tokens() >= *max).map(|max| format!("{max} tokens"));
    let usd = budget.usd.filter(|max| inst.usage.usd >= *max).map(|max| format!("{max} USD"));
    attempts.or(tokens).or(usd).map(|what| format!("its budget of {what} is used up"))
}

/// Whether everything that is left to somebody who pays for a step may be used up by what is under way.
pub(super) fn is_all_set_aside(planner: Planner<'_>, state: &State, at: StepNo) -> bool {
    state.payers(planner.plan, at).iter().any(may_need_all)
}

fn may_need_all(payer: &Payer<'_>) -> bool {
    let limits = payer.limits;
    if !has_limit(limits) || limits.on_exceed == OnExceed::Warn || payer.reserved() == Usage::default() {
        return false;
    }
    let used = payer.used();
    let tokens = limits.tokens.is_some_and(|limit| used.tokens() >= limit) && !payer.has_passed("tokens");
    let usd = limits.usd.is_some_and(|limit| used.usd >= limit) && !payer.has_passed("usd");
    tokens || usd
}

fn has_limit(limits: &Limits) -> bool {
    limits.tokens.is_some() || limits.usd.is_some()
}
