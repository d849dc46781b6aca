//! The summary of a run for lists. It is stored beside the events, so that lists load no run.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::waiting_for;
use super::standing::{Standing, standing};
use crate::Json;
use crate::explain::explain;
use crate::notification::{self, Notification, one_line};
use crate::origin::Origin;
use crate::plan::Plan;
use crate::state::State;
use crate::status::{Awaited, RunStatus};

/// How many characters of a task lists show.
const TASK_CHARS_MAX: usize = 200;
/// How many outputs, and how many characters of each, a summary holds.
const OUTPUTS_MAX: usize = 8;
const OUTPUT_CHARS_MAX: usize = 120;

/// The line of a run in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Summary")]
pub struct RunLine {
    /// The start of the text it was started with.
    pub task: String,
    /// The number of steps that succeeded.
    pub done: u64,
    /// The time of the start.
    pub started_at: i64,
    /// Its cost so far, in US dollars.
    pub usd: f64,
    /// The reason of its outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time at which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// The things that it waits for, each once.
    #[serde(default, deserialize_with = "of_today", skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<String>,
    /// The first sentence of why it does not continue, if no step is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// Translates words of earlier versions. Unknown words stay as they are.
fn of_today<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let words: Vec<String> = Deserialize::deserialize(from)?;
    let today = |word: String| word.parse::<Awaited>().map_or(word, |awaited| awaited.to_string());
    Ok(words.into_iter().map(today).collect())
}

/// The line of a run, with counts and its owner. Earlier versions wrote fewer fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// The line in lists.
    #[serde(flatten)]
    pub line: RunLine,
    /// Tokens, read and written.
    pub tokens: u64,
    /// The number of started attempts.
    pub attempts: u64,
    /// The number of open questions; `None` if an earlier version wrote this.
    pub asks: Option<u64>,
    /// The user or program that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
    /// Whether a client makes the turns of its agents. Such a run needs no engine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_hosted: bool,
    /// Where it stands, as far as the journal knows; `None` if an earlier version wrote this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What people should hear about it now.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "readable")]
    pub notifications: Vec<Notification>,
    /// Its outputs in one line, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<String>,
    /// The commit that holds the files that it left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether it cost at least this much, because some cost is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl Brief {
    /// Where a run with this status stands, as far as the journal knows.
    pub fn standing_of(&self, status: &str) -> Standing {
        let of_row = || Standing::of_row(status, self.line.waits.as_deref(), self.line.message.as_deref());
        // A run that could not be read was ended without its summary.
        let is_over = status.parse().is_ok_and(RunStatus::is_over);
        let known = self.standing.clone().filter(|standing| !is_over || standing.is.word() == status);
        known.unwrap_or_else(of_row)
    }
}

/// Leaves out what another version wrote and this one cannot read.
fn readable<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Notification>, D::Error> {
    let written: Vec<Json> = Deserialize::deserialize(from)?;
    Ok(written.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

/// The summary of a run.
pub fn brief(run: &str, plan: &Plan, state: &State) -> Brief {
    let (started, finished) = (state.started.as_ref(), state.finished.as_ref());
    let is_still = state.open_attempts().next().is_none() && finished.is_none();
    let line = RunLine {
        task: started.map(|started| started.task.chars().take(TASK_CHARS_MAX).collect()).unwrap_or_default(),
        done: state.succeeded,
        started_at: state.started_at,
        usd: state.account.usage.usd,
        message: finished.and_then(|finished| finished.message.clone()),
        ended_at: finished.map(|finished| finished.at),
        waiting_for: waiting_for(state).iter().map(Awaited::to_string).collect(),
        waits: if is_still { first_reason(plan, state) } else { None },
    };
    Brief {
        line,
        tokens: state.account.usage.input_tokens + state.account.usage.output_tokens,
        attempts: state.tried,
        asks: Some(if finished.is_some() { 0 } else { state.questions().count() as u64 }),
        owner: started.and_then(|started| started.owner.clone()),
        is_hosted: state.is_hosted(),
        standing: Some(standing(run, plan, state)),
        notifications: notification::open(plan, state),
        outputs: finished.filter(|finished| !finished.outputs.is_empty()).map(|finished| in_a_line(&finished.outputs)),
        commit: state.placement.carried.as_ref().map(|carried| carried.commit.clone()).filter(|_| finished.is_some()),
        at_least: !state.account.usage.is_all(),
    }
}

/// Outputs as `name: value, …`, without the long ones in full.
fn in_a_line(outputs: &IndexMap<String, Json>) -> String {
    let value = |value: &Json| match value {
        Json::String(text) => one_line(text, OUTPUT_CHARS_MAX),
        Json::Array(items) if items.len() > 3 => format!("{} items", items.len()),
        Json::Object(fields) if fields.len() > 3 => format!("{} fields", fields.len()),
        other => one_line(&start_of(other), OUTPUT_CHARS_MAX),
    };
    let shown = outputs.iter().take(OUTPUTS_MAX).map(|(name, of)| format!("{}: {}", one_line(name, 40), value(of)));
    one_line(&shown.collect::<Vec<_>>().join(", "), 2 * OUTPUT_CHARS_MAX)
}

/// The start of a value as JSON. A large value is not written in full.
fn start_of(value: &Json) -> String {
    let mut start = [0; 4 * OUTPUT_CHARS_MAX];
    let mut rest = &mut start[..];
    // A full buffer is an error, and ends the writing.
    let _ = serde_json::to_writer(&mut rest, value);
    let left = rest.len();
    let written = start.len() - left;
    String::from_utf8_lossy(&start[..written]).into_owned()
}

/// Only for a run that waits or is paused: between two steps there is no reason to show.
fn first_reason(plan: &Plan, state: &State) -> Option<String> {
    let stands = matches!(state.status_in(plan), RunStatus::Waiting | RunStatus::Paused | RunStatus::Stopped);
    stands.then(|| explain(plan, state).into_iter().next())?.map(|why| why.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_versions_stay_readable() {
        let written = r#"{"task":"t","done":1,"started_at":2,"usd":0.5,"waiting_for":["host","oracle","timer"]}"#;
        let line: RunLine = serde_json::from_str(written).unwrap();
        assert_eq!(line.waiting_for, ["client", "oracle", "timer"]);
    }
}
