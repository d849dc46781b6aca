//! Where a run stands, in a word and a line. Every interface shows this.
//!
//! The word and the line follow from the journal. Whether an engine is there does not: [`Standing::attended`] adds it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::QuestionKind;
use crate::explain::explain;
use crate::plan::{Outcome, Plan};
use crate::recovery::RecoveryAction;
use crate::state::{Finished, Phase, State, StepInst};
use crate::status::RunStatus;
use crate::words::words;

/// How many characters of a question or a reason lists show.
const TEXT_CHARS_MAX: usize = 200;

words! {
    /// Where a run stands, in a word.
    StandingWord {
        /// It waits for other runs of its concurrency group.
        Queued = "queued",
        /// Something of it is running, or is about to start.
        Running = "running",
        /// It waits until a person answers or decides.
        NeedsYou = "needs_you",
        /// It waits for a time, a limit, a signal, a worker or a client, and continues by itself.
        Waiting = "waiting",
        /// A person paused it: no new step starts.
        Paused = "paused",
        /// A person stopped it: no engine continues it.
        Stopped = "stopped",
        /// It could continue, but no engine is running it.
        NoEngine = "no_engine",
        /// It is over, and ended well.
        Succeeded = "succeeded",
        /// It is over, and ended badly.
        Failed = "failed",
        /// It is over: somebody cancelled it.
        Cancelled = "cancelled",
    }
}

impl StandingWord {
    /// The word for people: `needs you`.
    pub fn for_people(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::NoEngine => "no engine",
            other => other.word(),
        }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// In a word.
    pub is: StandingWord,
    /// In a line: the question, the reason, the steps that are running.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The person who stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Since when it is stopped, or asks: milliseconds since 1970, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The time at which it continues by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The step that asks, or that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The command to type next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The command that answers a question.
pub fn answer_command(run: &str, path: &str, kind: QuestionKind, choices: &[String]) -> String {
    match kind {
        QuestionKind::Approval | QuestionKind::Consent => {
            format!("longhaul approve {run} {path}   or   longhaul deny {run} {path}")
        }
        QuestionKind::Question => format!("longhaul answer {run} {path} VALUE"),
        QuestionKind::Review => format!("longhaul approve {run} {path}, deny, or edit {run} {path} VALUE"),
        QuestionKind::Operator => format!("longhaul answer {run} {path} retry|skip|fail"),
        QuestionKind::Machine => format!("longhaul answer {run} {path} {}", choices.join("|")),
    }
}

/// Where a run stands, as far as its journal knows.
pub fn standing(run: &str, plan: &Plan, state: &State) -> Standing {
    if let Some(finished) = &state.finished {
        return ended(run, finished);
    }
    if state.cancelling {
        return Standing::of(StandingWord::Running, "it is being cancelled");
    }
    if let Some(stop) = &state.stopped {
        let whom = stop.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        // The time is in `since`: every interface shows it in the zone of its reader.
        let stopped =
            Standing::of(StandingWord::Stopped, format!("stopped{whom}")).with(format!("longhaul resume {run}"));
        return Standing { by: stop.by.clone(), since: Some(stop.at), ..stopped };
    }
    if state.paused {
        return paused(run, plan, state);
    }
    asking(run, state).unwrap_or_else(|| moving(plan, state))
}

fn ended(run: &str, finished: &Finished) -> Standing {
    let text = finished.message.as_deref().unwrap_or_default();
    match finished.outcome {
        Outcome::Success => Standing::of(StandingWord::Succeeded, text),
        Outcome::Failure => Standing::of(StandingWord::Failed, text).with(format!("longhaul retry {run}")),
        Outcome::Cancelled => Standing::of(StandingWord::Cancelled, text),
    }
}

/// A limit or a lost machine pauses a run to ask. A person who pauses a run knows it.
fn paused(run: &str, plan: &Plan, state: &State) -> Standing {
    let asks = !state.account.limits_reached.is_empty() || state.placement.lost.is_some();
    let word = if asks { StandingWord::NeedsYou } else { StandingWord::Paused };
    let limit = state.paused_at_limit().filter(|_| state.placement.lost.is_none());
    let command = limit.map_or_else(|| format!("longhaul unpause {run}"), |limit| Standing::raising(run, limit));
    Standing::of(word, first_reason(plan, state)).with(command)
}

/// The oldest open question.
fn asking(run: &str, state: &State) -> Option<Standing> {
    let (step, question) = state.questions().min_by_key(|(_, question)| question.asked_at)?;
    let path = step.path.to_string();
    let about = step.outcome.error.as_ref().filter(|_| question.kind == QuestionKind::Operator);
    let text = match about {
        Some(error) if !question.text.contains(&error.message) => format!("{} ({})", question.text, error.message),
        _ => question.text.clone(),
    };
    let command = answer_command(run, &path, question.kind, &question.choices);
    let asks = Standing::of(StandingWord::NeedsYou, text).with(command);
    Some(Standing { since: Some(question.asked_at), until: question.due, step: Some(path), ..asks })
}

/// A run that needs no person.
fn moving(plan: &Plan, state: &State) -> Standing {
    match state.status_in(plan) {
        RunStatus::Queued => Standing::of(StandingWord::Queued, "it waits for other runs of its group"),
        RunStatus::Waiting => waiting(plan, state),
        _ => {
            let steps: Vec<String> = state.open_attempts().take(3).map(|step| step.path.to_string()).collect();
            Standing::of(StandingWord::Running, steps.join(", "))
        }
    }
}

/// A run of which every step waits: the first one that continues by itself, or the first one.
fn waiting(plan: &Plan, state: &State) -> Standing {
    let due = |step: &StepInst| match &step.phase {
        Phase::Retry { due } | Phase::Waiting { due: Some(due), .. } => Some(*due),
        _ => None,
    };
    let first = state.waiting().filter_map(|step| Some((due(step)?, step))).min_by_key(|(due, _)| *due);
    match first {
        Some((due, step)) => {
            let waits = Standing::of(StandingWord::Waiting, why(step));
            Standing { until: Some(due), step: Some(step.path.to_string()), ..waits }
        }
        None => Standing::of(StandingWord::Waiting, first_reason(plan, state)),
    }
}

/// Why a step waits for a time.
fn why(step: &StepInst) -> String {
    let path = &step.path;
    match &step.phase {
        Phase::Retry { .. } => {
            let failed =
                step.outcome.error.as_ref().map_or_else(String::new, |error| format!(" after: {}", error.message));
            let action =
                step.recovery.as_ref().and_then(|recovery| recovery.action.as_ref()).map(RecoveryAction::words);
            format!("`{path}`: {}{failed}", action.unwrap_or_else(|| "it is tried again".to_owned()))
        }
        Phase::Waiting { signal: Some(signal), .. } => format!("`{path}` waits for the signal `{signal}`"),
        _ => format!("`{path}` sleeps"),
    }
}

fn first_reason(plan: &Plan, state: &State) -> String {
    explain(plan, state).into_iter().next().map(|why| why.text).unwrap_or_default()
}

impl Standing {
    fn of(is: StandingWord, text: impl AsRef<str>) -> Self {
        Self { is, text: one_line(text.as_ref()), by: None, since: None, until: None, step: None, command: None }
    }

    fn with(self, command: String) -> Self {
        Self { command: Some(command), ..self }
    }

    /// The command that raises a limit. A limit that no command raises can only be dropped.
    pub fn raising(run: &str, limit: &str) -> String {
        match limit {
            "usd" => format!("longhaul budget {run} --usd +5"),
            "tokens" => format!("longhaul budget {run} --tokens +100000"),
            "steps" => format!("longhaul budget {run} --steps +50"),
            "duration" => format!("longhaul budget {run} --duration +2h"),
            _ => format!("longhaul unpause {run}"),
        }
    }

    /// A standing from the words that a row of an earlier version has.
    pub fn of_row(status: &str, waits: Option<&str>, message: Option<&str>) -> Self {
        let word = status.parse().unwrap_or(StandingWord::Running);
        Self::of(word, waits.or(message).unwrap_or_default())
    }

    /// Adds whether an engine is there for the run. Without one, a run that would continue does not.
    pub fn attended(self, run: &str, is_attended: bool) -> Self {
        let moves = matches!(self.is, StandingWord::Running | StandingWord::Queued | StandingWord::Waiting);
        if is_attended || !moves {
            return self;
        }
        let text = match self.text.as_str() {
            "" => "no engine is running it".to_owned(),
            text => format!("no engine is running it; {text}"),
        };
        let command = format!("longhaul resume {run}");
        Self { is: StandingWord::NoEngine, text: one_line(&text), command: Some(command), ..self }
    }

    /// The line for people, without times: `needs you: Deploy?`, `stopped by ana`.
    pub fn line(&self) -> String {
        let word = self.is.for_people();
        match self.text.as_str() {
            "" => word.to_owned(),
            // The text begins with the word, or says it.
            text if matches!(self.is, StandingWord::Stopped | StandingWord::NoEngine) => text.to_owned(),
            text => format!("{word}: {text}"),
        }
    }
}

/// A text in one line of bounded length, without control characters.
fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let mut line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(TEXT_CHARS_MAX) {
        line.truncate(at);
        line.push('…');
    }
    line
}
