//! Computes the cost of a turn if the agent does not report it. Prices of models are data.
//!
//! **Invariant:** an unknown price is `None`, never zero: a budget must not count an unknown price as free.

use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::contract::Meter;
use crate::data::{self, Error};

const BUILTIN: &str = include_str!("prices.toml");
const VERSION: u32 = 1;
const MILLION: f64 = 1e6;
/// Words that, after a known name, mean another model with another price.
const SIZES: [&str; 12] =
    ["mini", "nano", "micro", "lite", "flash", "small", "large", "pro", "max", "ultra", "fast", "free"];

static SHIPPED: LazyLock<Prices> = LazyLock::new(|| Prices::read(BUILTIN).unwrap_or_default());

/// The prices of models.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    version: u32,
    #[serde(default)]
    model: IndexMap<String, Price>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of input tokens.
    pub input: f64,
    /// The price of input tokens from a cache; if it is not set, the input price.
    pub cached: Option<f64>,
    /// The price of output tokens.
    pub output: f64,
}

impl Prices {
    /// The built-in prices.
    pub fn builtin() -> &'static Self {
        &SHIPPED
    }

    /// These prices, with others added or replaced, in the same format.
    pub fn with(&self, extra_toml: &str) -> Result<Self, Error> {
        let extra = Self::read(extra_toml)?;
        let mut all = self.clone();
        all.model.extend(extra.model);
        Ok(all)
    }

    /// The price of a model: that of the longest known name that its name starts with.
    pub fn price(&self, model: &str) -> Option<Price> {
        let name = plain(model);
        let known = self.model.iter().filter(|(known, _)| is_kind_of(&name, known));
        known.max_by_key(|(known, _)| known.len()).map(|(_, price)| *price)
    }

    /// The cost of a turn. A cost that the agent itself reports is more reliable.
    pub fn cost(&self, model: &str, meter: &Meter) -> Option<f64> {
        meter.usd.or_else(|| Some(self.price(model)?.of(meter)))
    }

    fn read(text: &str) -> Result<Self, Error> {
        let prices: Self = data::read(text)?;
        if prices.version != VERSION {
            return Err(Error(format!("prices of version {}; this binary reads version {VERSION}", prices.version)));
        }
        let wrong = prices.model.iter().find(|(_, price)| !price.is_one());
        match wrong {
            Some((name, _)) => Err(Error(format!("the price of `{name}` is not an amount of money"))),
            None => Ok(prices),
        }
    }
}

impl Price {
    fn is_one(&self) -> bool {
        [self.input, self.cached.unwrap_or(0.0), self.output].iter().all(|usd| usd.is_finite() && *usd >= 0.0)
    }

    fn of(&self, meter: &Meter) -> f64 {
        let cached = meter.cached_tokens.min(meter.input_tokens);
        let fresh = meter.input_tokens - cached;
        let read = fresh as f64 * self.input + cached as f64 * self.cached.unwrap_or(self.input);
        (read + meter.output_tokens as f64 * self.output) / MILLION
    }
}

/// A name without its provider: `openrouter/anthropic/claude-sonnet-4.5` and `us.anthropic.claude-sonnet-4-5-v1:0` are
/// Claude's.
fn plain(model: &str) -> String {
    let name = model.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, name)| name);
    if name.starts_with("claude") { name.replace('.', "-") } else { name.to_owned() }
}

/// Whether a name is a known one, perhaps with a date or a qualifier.
fn is_kind_of(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else { return false };
    let Some(next) = rest.strip_prefix(['-', ':', '@', '_']) else { return rest.is_empty() };
    let word = next.split(|part: char| !part.is_ascii_alphanumeric()).next().unwrap_or_default();
    let version = word.len() <= 2 && word.starts_with(|digit: char| digit.is_ascii_digit());
    !version && !SIZES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> Meter {
        Meter { input_tokens, cached_tokens, output_tokens, usd: None }
    }

    fn usd(model: &str, meter: &Meter) -> String {
        Prices::builtin().cost(model, meter).map_or("unknown".to_owned(), |usd| format!("{usd:.6}"))
    }

    #[test]
    fn what_ships_can_be_read() {
        assert!(Prices::read(BUILTIN).unwrap().model.len() > 40);
    }

    #[test]
    fn a_turn_costs_what_claude_code_says_it_does() {
        assert_eq!(usd("claude-opus-5-5", &meter(4056, 0, 1)), "0.016244");
        assert_eq!(usd("claude-opus-5-5", &meter(8212, 0, 190)), "0.036648");
        assert_eq!(usd("claude-sonnet-4-5", &meter(9503, 0, 1)), "0.028524");
    }

    #[test]
    fn what_comes_from_a_cache_costs_less() {
        assert_eq!(usd("claude-opus-5-5", &meter(1_000_000, 0, 0)), "4.000000");
        assert_eq!(usd("claude-opus-5-5", &meter(1_000_000, 1_000_000, 0)), "0.200000");
        assert_eq!(usd("claude-opus-5-5", &meter(10, 1_000_000, 0)), "0.000002");
    }

    #[test]
    fn what_the_agent_says_counts_more() {
        assert_eq!(usd("no-such-model", &Meter { usd: Some(0.5), ..meter(1, 0, 1) }), "0.500000");
    }

    #[test]
    fn names_are_known_by_the_longest_beginning() {
        let million = meter(1_000_000, 0, 0);
        for (model, expected) in [
            ("claude-opus-4-20250514", "15.000000"),
            ("claude-opus-4-5-20251101", "5.000000"),
            ("Claude-Sonnet-4.5", "3.000000"),
            ("openrouter/anthropic/claude-sonnet-4.5", "3.000000"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "3.000000"),
            ("claude-haiku-4-5@20251001", "1.000000"),
            ("gpt-5.4-mini", "0.750000"),
            ("gpt-5.4-2026-03-05", "2.500000"),
            ("gpt-5-codex", "1.250000"),
            ("gemini-2.5-pro-preview-05-06", "1.250000"),
            ("gemini-2.5-flash-lite", "0.100000"),
            ("claude-opus-4-9", "unknown"),
            ("claude-opus-6", "unknown"),
            ("gpt-5.9", "unknown"),
            ("gpt-50", "unknown"),
            ("gpt-5.1-mini", "unknown"),
            ("gpt-5:free", "unknown"),
            ("claude", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(usd(model, &million), expected, "{model}");
        }
    }

    #[test]
    fn people_set_prices_of_their_own() {
        let extra =
            "version = 1\n[model]\n'house-7b' = { input = 0.5, output = 1.0 }\n'gpt-5' = { input = 1.0, output = 2.0 }";
        let prices = Prices::builtin().with(extra).unwrap();
        assert_eq!(prices.cost("house-7b-q4", &meter(1_000_000, 1_000_000, 0)), Some(0.5));
        assert_eq!(prices.cost("gpt-5", &meter(1_000_000, 0, 1_000_000)), Some(3.0));
        assert_eq!(prices.cost("gpt-5.4", &meter(1_000_000, 0, 0)), Some(2.5));
        for (bad, expected) in [
            ("version = 9", "prices of version 9; this binary reads version 1"),
            ("version = 1\n[model]\na = { input = -1.0, output = 1.0 }", "the price of `a` is not an amount of money"),
            ("version = 1\n[model]\na = { input = 1.0 }", "missing field `output`"),
        ] {
            assert!(prices.with(bad).unwrap_err().to_string().starts_with(expected), "{bad}");
        }
    }
}
