//! Counts the spending of a run, from its events only.
//!
//! **Invariant:** after a limit is reached nothing starts, so spending beyond it was already in progress. A cost that
//! was not reported, or whose report was lost, counts as the reserved amount.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::decide::Planner;
use longhaul_core::event::{Amount, BudgetChange, Event, Usage};
use longhaul_core::plan::OnExceed;
use longhaul_core::state::State;

/// Sums of fractions may differ by this much.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    known: Usage,
    assumed: Usage,
    /// The reserved amount, by step and attempt.
    aside: BTreeMap<(String, u32), Usage>,
    /// Those of them that wait for a worker.
    queued: BTreeSet<(String, u32)>,
    /// Limits that were reached and handled.
    passed: Vec<String>,
    /// Limits that a person set.
    usd: Option<f64>,
    tokens: Option<u64>,
}

impl Budget {
    pub(super) fn event(&mut self, planner: Planner<'_>, event: &Event) -> Result<(), String> {
        match event {
            Event::AttemptStarted { path, attempt, reserve, queued, .. } => {
                if queued.is_some() {
                    self.queued.insert((path.to_string(), *attempt));
                }
                self.may_begin(planner).map_err(|why| format!("`{path}@{attempt}` is begun, but {why}"))?;
                self.aside.insert((path.to_string(), *attempt), reserve.unwrap_or_default());
            }
            Event::AttemptClaimed { path, attempt, .. } => {
                self.queued.remove(&(path.to_string(), *attempt));
            }
            Event::AttemptSucceeded { path, attempt, result } | Event::AttemptFailed { path, attempt, result, .. } => {
                self.settle((path.to_string(), *attempt), result.usage, result.cached);
            }
            Event::AttemptStopped { path, attempt, usage } => {
                self.settle((path.to_string(), *attempt), *usage, false);
            }
            Event::LimitReached { limit, path: None } => self.passed.push(limit.clone()),
            Event::BudgetChanged { change, .. } => {
                self.passed.retain(|limit| !change.names().contains(&limit.as_str()));
                self.changed(change)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts attempts that were given up too, and compares the sum with the run's own.
    pub(super) fn after(&mut self, state: &State) -> Result<(), String> {
        let begun = state.open_attempts().chain(state.hosted()).chain(state.queued());
        let open: Vec<(String, u32)> = begun.map(|step| (step.path.to_string(), step.attempts)).collect();
        for key in self.aside.keys().filter(|key| !open.contains(key)).cloned().collect::<Vec<_>>() {
            // No worker had started it.
            if self.queued.remove(&key) {
                self.aside.remove(&key);
            } else {
                self.settle(key, None, false);
            }
        }
        let counted = state.account.usage == self.known && is_near(state.account.assumed, self.assumed);
        counted.then_some(()).ok_or_else(|| {
            format!(
                "{:?} and {:?} were spent, but the run counts {:?} and {:?}",
                self.known, self.assumed, state.account.usage, state.account.assumed
            )
        })
    }

    fn settle(&mut self, key: (String, u32), usage: Option<Usage>, cached: bool) {
        let reserve = self.aside.remove(&key).filter(|_| !cached).unwrap_or_default();
        match usage {
            Some(usage) => {
                self.known += usage;
                let is_open = usage.usd_unknown || usage.at_least;
                self.assumed.usd += if is_open { (reserve.usd - usage.usd).max(0.0) } else { 0.0 };
                let tokens = reserve.tokens().saturating_sub(usage.tokens());
                self.assumed.input_tokens += if usage.at_least { tokens } else { 0 };
            }
            None => self.assumed += reserve,
        }
    }

    /// What is recorded is the limit itself, never an amount to add.
    fn changed(&mut self, change: &BudgetChange) -> Result<(), String> {
        let unresolved = || "an amount to add was recorded".to_owned();
        match change.usd {
            Some(Amount::To(usd)) => self.usd = Some(usd),
            Some(Amount::By(_)) => return Err(unresolved()),
            None => {}
        }
        match change.tokens {
            Some(Amount::To(tokens)) => self.tokens = Some(tokens),
            Some(Amount::By(_)) => return Err(unresolved()),
            None => {}
        }
        Ok(())
    }

    fn may_begin(&self, planner: Planner<'_>) -> Result<(), String> {
        let limits = &planner.plan.main().limits;
        // With these settings the run continues beyond the limit on purpose.
        if matches!(limits.on_exceed, OnExceed::Warn | OnExceed::Degrade) {
            return Ok(());
        }
        let (tokens, usd) = (self.tokens.or(limits.tokens), self.usd.or(limits.usd));
        let mut used = self.known;
        used += self.assumed;
        self.below(tokens, usd, used, "what it may spend is spent")?;
        self.aside.values().for_each(|reserve| used += *reserve);
        match self.aside.values().any(|reserve| *reserve != Usage::default()) {
            true => self.below(tokens, usd, used, "what is under way may need the rest"),
            false => Ok(()),
        }
    }

    fn below(&self, tokens: Option<u64>, usd: Option<f64>, used: Usage, why: &str) -> Result<(), String> {
        let passed = |limit: &str| self.passed.iter().any(|known| known == limit);
        let tokens = tokens.is_some_and(|limit| used.tokens() >= limit) && !passed("tokens");
        let usd = usd.is_some_and(|limit| used.usd >= limit + ROUNDING) && !passed("usd");
        if tokens || usd { Err(why.to_owned()) } else { Ok(()) }
    }
}

fn is_near(one: Usage, other: Usage) -> bool {
    one.tokens() == other.tokens() && (one.usd - other.usd).abs() < ROUNDING
}
