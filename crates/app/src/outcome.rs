//! The outcome of a command, as data and as a sentence.

use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use longhaul_runtime::{Applied, Follow};
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of a command that was applied.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommandOutcome {
    /// The run it changed.
    pub run: String,
    /// `approved`, `denied`, `edited`, `answered`, `skipped`, `signalled`, `told`, `changed`, `cancelled`, `paused`, `unpaused`, `stopped`, `resumed`, `restarted`, `abandoned`.
    pub outcome: String,
    /// The step that the command is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The name of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    /// The event that records it; 0 while it is only stored.
    pub seq: u64,
    /// How the run continues: `continues`, `needs_engine`, `waits`, `paused`, `stopped`, `client`, `succeeded`, `failed`,
    /// `cancelled`, `stored`.
    pub then: String,
    /// Why the run ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The outcome in one or two sentences.
    pub text: String,
}

impl CommandOutcome {
    /// Builds the outcome of an applied command.
    pub fn of(applied: &Applied) -> Self {
        Self {
            run: applied.run.to_string(),
            outcome: applied.what.to_owned(),
            step: applied.step.as_ref().map(ToString::to_string),
            by: applied.by.clone(),
            at: applied.at,
            seq: applied.seq,
            then: applied.then.word().to_owned(),
            message: message(&applied.then).map(str::to_owned),
            text: sentence(applied),
        }
    }
}

fn message(then: &Follow) -> Option<&str> {
    match then {
        Follow::Finished { message, .. } => message.as_deref(),
        _ => None,
    }
}

/// Describes the outcome of a command in one or two sentences.
pub fn sentence(applied: &Applied) -> String {
    let Applied { run, what, then, .. } = applied;
    let done = if *what == "changed" { "The limits are changed".to_owned() } else { capital(what) };
    match (*what, then) {
        (_, Follow::Stored) => format!("Stored. No engine has applied it yet; longhaul status {run} shows when it is."),
        ("told", then) => format!("Told. {}", heard(run, then)),
        ("changed", Follow::Finished { .. }) => {
            format!("The limits are changed. The run is over; start it again with: longhaul retry {run}")
        }
        ("changed", Follow::Paused) => {
            format!("The limits are changed. The run stays paused; continue with: longhaul unpause {run}")
        }
        ("paused", Follow::Paused) => "Paused. Nothing new starts.".to_owned(),
        (_, Follow::Paused) => format!("{done}. The run is paused; continue with: longhaul unpause {run}"),
        ("stopped", Follow::Stopped) => {
            format!("Stopped. No engine continues it; continue with: longhaul resume {run}")
        }
        (_, Follow::Stopped) => format!("{done}. The run is stopped; continue with: longhaul resume {run}"),
        ("cancelled", Follow::Continues) => "Cancelled. The engine stops what is running.".to_owned(),
        ("cancelled", Follow::Finished { .. }) => "Cancelled. The run is over.".to_owned(),
        (_, Follow::Continues) => format!("{done}. The run continues."),
        (_, Follow::NeedsEngine) => {
            format!("{done}. No engine is running it; continue with: longhaul resume {run}")
        }
        (_, Follow::Waits) => format!("{done}. The run waits; longhaul status {run} shows for what."),
        (_, Follow::Client) => format!("{done}. The client continues with the next steps."),
        (_, Follow::Finished { outcome, message }) => {
            let why = message.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            format!("{done}. The run {}{why}.", ended(*outcome))
        }
    }
}

/// When the agent hears what it was told.
fn heard(run: &RunId, then: &Follow) -> String {
    let next = "The agent hears it with its next turn";
    match then {
        Follow::NeedsEngine => format!("{next}. No engine is running it; continue with: longhaul resume {run}"),
        Follow::Waits => format!("{next}. The run waits; longhaul status {run} shows for what."),
        Follow::Paused => format!("{next}. The run is paused; continue with: longhaul unpause {run}"),
        Follow::Stopped => format!("{next}. The run is stopped; continue with: longhaul resume {run}"),
        Follow::Continues | Follow::Client | Follow::Finished { .. } | Follow::Stored => {
            format!("{next}; if it answers before that, it gets another turn.")
        }
    }
}

fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "succeeded",
        Outcome::Failure => "failed",
        Outcome::Cancelled => "was cancelled",
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(what: &'static str, then: Follow) -> String {
        let run = RunId::new("run-1").unwrap();
        sentence(&Applied { run, what, step: None, by: Some("kim".to_owned()), at: 0, seq: 3, then })
    }

    #[test]
    fn an_outcome_says_what_was_done_and_what_follows() {
        assert_eq!(said("approved", Follow::Continues), "Approved. The run continues.");
        let alone = "Approved. No engine is running it; continue with: longhaul resume run-1";
        assert_eq!(said("approved", Follow::NeedsEngine), alone);
        let over = Follow::Finished { outcome: Outcome::Failure, message: Some("denied: too risky".to_owned()) };
        assert_eq!(said("denied", over), "Denied. The run failed: denied: too risky.");
        let over = Follow::Finished { outcome: Outcome::Cancelled, message: None };
        assert_eq!(said("cancelled", over), "Cancelled. The run is over.");
        assert_eq!(said("paused", Follow::Paused), "Paused. Nothing new starts.");
        assert_eq!(
            said("approved", Follow::Paused),
            "Approved. The run is paused; continue with: longhaul unpause run-1"
        );
    }

    #[test]
    fn the_data_of_an_outcome_names_who_and_when() {
        let run = RunId::new("run-1").unwrap();
        let then = Follow::Finished { outcome: Outcome::Failure, message: Some("denied".to_owned()) };
        let applied = Applied {
            run,
            what: "denied",
            step: Some("go".parse().unwrap()),
            by: Some("kim".to_owned()),
            at: 7,
            seq: 3,
            then,
        };
        let data = serde_json::to_value(CommandOutcome::of(&applied)).unwrap();
        let expected = serde_json::json!({"run": "run-1", "outcome": "denied", "step": "go", "by": "kim", "at": 7, "seq": 3,
            "then": "failed", "message": "denied", "text": "Denied. The run failed: denied."});
        assert_eq!(data, expected);
    }
}
