//! What a run has spent, counted from its events alone.
//!
//! **Invariant:** once a limit is reached nothing is begun, so that what is spent beyond it was under way before. A cost
//! that nobody told, or that nobody was there to hear, counts as what was set aside for it.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::decide::Planner;
use longhaul_core::event::{Event, Usage};
use longhaul_core::plan::OnExceed;
use longhaul_core::state::State;

/// Sums of thirds may differ by so much.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    known: Usage,
    assumed: Usage,
    /// By step and attempt: what is set aside.
    aside: BTreeMap<(String, u32), Usage>,
    /// Of those, what waits for a worker.
    queued: BTreeSet<(String, u32)>,
    /// Limits that were reached and dealt with.
    passed: Vec<String>,
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
            _ => {}
        }
        Ok(())
    }

    /// Attempts that nobody makes any more have cost something too; and the run must have counted as we did.
    pub(super) fn after(&mut self, state: &State) -> Result<(), String> {
        let begun = state.open_attempts().chain(state.handed()).chain(state.queued());
        let open: Vec<(String, u32)> = begun.map(|step| (step.path.to_string(), step.attempts)).collect();
        for key in self.aside.keys().filter(|key| !open.contains(key)).cloned().collect::<Vec<_>>() {
            // Nobody had begun it.
            if self.queued.remove(&key) {
                self.aside.remove(&key);
            } else {
                self.settle(key, None, false);
            }
        }
        let counted = state.usage == self.known && is_near(state.assumed, self.assumed);
        counted.then_some(()).ok_or_else(|| {
            format!(
                "{:?} and {:?} were spent, but the run counts {:?} and {:?}",
                self.known, self.assumed, state.usage, state.assumed
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

    fn may_begin(&self, planner: Planner<'_>) -> Result<(), String> {
        let limits = &planner.plan.main().limits;
        // Whoever warns or shortens continues beyond the limit, and means it.
        if matches!(limits.on_exceed, OnExceed::Warn | OnExceed::Degrade) {
            return Ok(());
        }
        let mut used = self.known;
        used += self.assumed;
        self.below(limits.tokens, limits.usd, used, "what it may spend is spent")?;
        self.aside.values().for_each(|reserve| used += *reserve);
        match self.aside.values().any(|reserve| *reserve != Usage::default()) {
            true => self.below(limits.tokens, limits.usd, used, "what is under way may need the rest"),
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
