//! Behaviours that other systems' workflows rely on. The plan names the behaviour; only this file and the dialects know whose it is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::plan::Backoff;
use crate::recovery::Rules;

const SECOND: u64 = 1000;

/// A behaviour that differs from ours, for workflows that were written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// A name that is not set reads as empty text, with a warning, instead of failing the step.
    LenientNames,
    /// Values print as Python prints them.
    PythonText,
    /// A run may be started with inputs that the workflow does not declare.
    OpenInputs,
    /// Agents recover with the counts of the `AGENT_*` settings, counted again for each turn, and answers are read from the first
    /// brace to the last.
    #[serde(alias = "workhorse-ladder", alias = "workhorse_ladder")]
    CountedRecovery,
    /// The first complete object of an agent's answer is its value.
    #[serde(alias = "valet-answers")]
    FirstObject,
}

impl Compat {
    /// The behaviour with this name, also by the name that earlier versions wrote.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(Value::String(name.to_owned())).ok()
    }
}

/// The recovery numbers of a workhorse graph, with its `AGENT_*` settings.
pub fn counted_recovery(settings: &Map<String, Value>) -> Rules {
    let number = |name: &str, usual: u64| number(settings, name).unwrap_or(usual);
    let count = |name: &str, usual: u64| u32::try_from(number(name, usual)).unwrap_or(u32::MAX);
    let ms = |name: &str, usual: f64| millis(settings, name, usual);
    let word = settings.get("AGENT_USE_DEFAULT_OUTPUTS").and_then(Value::as_str).unwrap_or("true");
    Rules {
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

fn number(settings: &Map<String, Value>, name: &str) -> Option<u64> {
    settings.get(name)?.as_str()?.trim().parse().ok()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn millis(settings: &Map<String, Value>, name: &str, usual: f64) -> u64 {
    let read = settings.get(name).and_then(Value::as_str).and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = read.filter(|seconds| seconds.is_finite()).unwrap_or(usual).clamp(0.0, 1e10);
    (seconds * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_earlier_versions_are_read() {
        for (name, compat) in [
            ("workhorse-ladder", Compat::CountedRecovery),
            ("counted-recovery", Compat::CountedRecovery),
            ("valet-answers", Compat::FirstObject),
            ("first-object", Compat::FirstObject),
            ("lenient-names", Compat::LenientNames),
        ] {
            assert_eq!(Compat::named(name), Some(compat), "{name}");
        }
        assert_eq!(Compat::named("other"), None);
    }
}
