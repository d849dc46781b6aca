//! Limits that a person changes: whether they can be changed like that, and what they are then.

use super::Planner;
use crate::duration::format_ms;
use crate::event::{Amount, BudgetChange};
use crate::plan::Outcome;
use crate::rejection::Rejection;
use crate::state::State;

/// No limit on money is higher. A sum of two amounts stays a number that a journal can hold.
const USD_MAX: f64 = 1e12;

/// Why the limits of a run cannot be changed like that; `None` if they can.
pub(super) fn rejection(planner: Planner<'_>, state: &State, change: &BudgetChange) -> Option<Rejection> {
    if state.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Success) {
        return Some(Rejection::untimely("the run is over: it succeeded"));
    }
    if change.names().is_empty() {
        return Some(Rejection::invalid("no limit is named").say("name one: usd, tokens, steps or duration"));
    }
    let (limits, spent) = (state.limits(planner.plan), state.account.spent());
    let elapsed_ms = u64::try_from(state.now - state.started_at).unwrap_or(0);
    money(change.usd, limits.usd, spent.usd)
        .or_else(|| count("tokens", change.tokens, limits.tokens, spent.tokens(), |n| format!("{n} tokens")))
        .or_else(|| count("steps", change.steps, limits.steps, state.account.steps, |n| format!("{n} steps")))
        .or_else(|| count("duration", change.duration_ms, limits.duration_ms, elapsed_ms, format_ms))
}

fn money(amount: Option<Amount<f64>>, limit: Option<f64>, spent: f64) -> Option<Rejection> {
    let (Amount::To(given) | Amount::By(given)) = amount?;
    if !given.is_finite() || given <= 0.0 {
        return Some(Rejection::invalid(format!("{given} is not an amount of money")));
    }
    match amount?.after(limit) {
        None => Some(unlimited("usd")),
        Some(after) if after > USD_MAX => Some(Rejection::invalid("that is more money than a limit can be")),
        Some(after) if after <= spent => Some(too_low(&format!("${after:.2}"), &format!("${spent:.2}"))),
        Some(_) => None,
    }
}

fn count(
    name: &str,
    amount: Option<Amount<u64>>,
    limit: Option<u64>,
    used: u64,
    words: impl Fn(u64) -> String,
) -> Option<Rejection> {
    match amount?.after(limit) {
        None => Some(unlimited(name)),
        Some(after) if after <= used => Some(too_low(&words(after), &words(used))),
        Some(_) => None,
    }
}

fn unlimited(name: &str) -> Rejection {
    Rejection::invalid(format!("the run has no limit on {name} to add to")).say("give the limit itself, without `+`")
}

fn too_low(after: &str, used: &str) -> Rejection {
    Rejection::invalid(format!("a limit of {after} is too low: the run has used {used}")).say("give a higher limit")
}

/// The change with each limit as it is from now on.
pub(super) fn resolved(planner: Planner<'_>, state: &State, change: BudgetChange) -> BudgetChange {
    let limits = state.limits(planner.plan);
    let whole = |amount: Option<Amount<u64>>, before| amount?.after(before).map(Amount::To);
    BudgetChange {
        usd: change.usd.and_then(|amount| amount.after(limits.usd)).map(Amount::To),
        tokens: whole(change.tokens, limits.tokens),
        steps: whole(change.steps, limits.steps),
        duration_ms: whole(change.duration_ms, limits.duration_ms),
    }
}
