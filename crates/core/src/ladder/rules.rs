//! How high each part of the ladder is: our own numbers, or workhorse's with its `AGENT_*` settings.

use serde_json::{Map, Value};

use crate::plan::{Backoff, Retry};

const SECOND: u64 = 1000;
const HOUR: u64 = 3600 * SECOND;

/// The numbers of a ladder. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Corrections in the same conversation.
    pub repairs: u32,
    /// Further tries of what will probably work later.
    pub pauses: u32,
    /// The pauses before them.
    pub backoff: Backoff,
    /// Whether pauses are drawn out a little, each step by another bit.
    pub jitter: bool,
    /// Whether tries and waits are counted again for each thing that is said.
    pub per_turn: bool,
    /// Waits for a limit.
    pub waits: u32,
    /// Added to a reset that is known.
    pub margin_ms: u64,
    /// Waited where no reset is known.
    pub unknown_ms: u64,
    /// No wait for a known reset is longer.
    pub wait_max_ms: u64,
    /// How often a conversation is shortened.
    pub compactions: u32,
    /// How often a prompt is put in another way.
    pub framings: u32,
    /// The pause before the first of these; the n-th is n times as long.
    pub framing_ms: u64,
    /// No such pause is longer.
    pub framing_max_ms: u64,
    /// Whether every error but a few is answered by putting the prompt in another way.
    pub reframes_errors: bool,
    /// Whether the declared default may be used at the end.
    pub defaults: bool,
}

impl Rules {
    /// Our own.
    pub fn native(retry: Option<&Retry>) -> Self {
        let usual = Backoff { first_ms: 15 * SECOND, factor: 2.0, max_ms: 300 * SECOND };
        Self {
            repairs: 3,
            pauses: retry.map_or(4, |retry| retry.max),
            backoff: retry.map_or(usual, |retry| retry.backoff),
            jitter: retry.is_none(),
            per_turn: false,
            waits: 200,
            margin_ms: 15 * SECOND,
            unknown_ms: HOUR,
            wait_max_ms: 8 * 24 * HOUR,
            compactions: 2,
            framings: 1,
            framing_ms: 0,
            framing_max_ms: 0,
            reframes_errors: false,
            defaults: true,
        }
    }

    /// workhorse's, as its settings say.
    pub fn workhorse(settings: &Map<String, Value>) -> Self {
        let number = |name: &str, usual: u64| number(settings, name).unwrap_or(usual);
        let count = |name: &str, usual: u64| u32::try_from(number(name, usual)).unwrap_or(u32::MAX);
        let ms = |name: &str, usual: f64| millis(settings, name, usual);
        let word = settings.get("AGENT_USE_DEFAULT_OUTPUTS").and_then(Value::as_str).unwrap_or("true");
        Self {
            repairs: count("AGENT_MAX_OUTPUT_RETRIES", 2),
            pauses: count("AGENT_MAX_INVOKE_RETRIES", 4),
            backoff: Backoff {
                first_ms: ms("AGENT_INVOKE_BACKOFF_BASE_S", 15.0),
                factor: 2.0,
                max_ms: ms("AGENT_INVOKE_BACKOFF_CAP_S", 300.0),
            },
            jitter: false,
            per_turn: true,
            waits: count("AGENT_MAX_CAP_WAITS", 48),
            margin_ms: ms("AGENT_CAP_WAIT_MARGIN_S", 120.0),
            unknown_ms: ms("AGENT_CAP_DEFAULT_WAIT_S", 3600.0),
            wait_max_ms: ms("AGENT_CAP_MAX_WAIT_S", 691_200.0),
            compactions: count("AGENT_MAX_COMPACT_ATTEMPTS", 2),
            framings: count("AGENT_MAX_REPHRASE_ATTEMPTS", 3),
            framing_ms: 10 * SECOND,
            framing_max_ms: 60 * SECOND,
            reframes_errors: true,
            defaults: word.eq_ignore_ascii_case("true"),
        }
    }

    /// The pause before the next try, drawn out by `seed`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the longest pause before")]
    pub(crate) fn pause_ms(&self, tries: u32, seed: u64) -> u64 {
        let factor = self.backoff.factor.max(1.0).powi(i32::try_from(tries).unwrap_or(i32::MAX));
        let ms = (self.backoff.first_ms as f64 * factor).min(self.backoff.max_ms as f64) as u64;
        if self.jitter { ms + ms / 100 * (seed % 21) } else { ms }
    }

    /// The pause before the prompt is put in another way for the n-th time.
    pub(crate) fn framing_pause_ms(&self, framing: u32) -> u64 {
        self.framing_ms.saturating_mul(u64::from(framing)).min(self.framing_max_ms)
    }

    /// When to come back after a limit, so long after it ends.
    pub(crate) fn reset_at(&self, now: i64, known: Option<i64>, margin_ms: u64) -> i64 {
        let span = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        match known {
            Some(at) => {
                let wait = at.saturating_sub(now).clamp(0, span(self.wait_max_ms));
                now.saturating_add(wait).saturating_add(span(margin_ms))
            }
            None => now.saturating_add(span(self.unknown_ms)),
        }
    }
}

fn number(settings: &Map<String, Value>, name: &str) -> Option<u64> {
    settings.get(name)?.as_str()?.trim().parse().ok()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn millis(settings: &Map<String, Value>, name: &str, usual: f64) -> u64 {
    let read = settings.get(name).and_then(Value::as_str).and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = read.filter(|seconds| seconds.is_finite()).unwrap_or(usual).clamp(0.0, 1e10);
    (seconds * 1000.0) as u64
}
