//! Why every unfinished step waits, in words.

use crate::decide::{agent_of_label, host_of_label, is_given, project_of_label};
use crate::duration::format_ms;
use crate::event::QuestionKind;
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::{Phase, Question, State, StepInst};

/// Why something does not continue.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Explanation {
    /// The step; `None` if it is about the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<StepPath>,
    /// In words.
    pub text: String,
}

/// Why the run and each of its unfinished steps wait. Nothing of a run that is over.
pub fn explain(plan: &Plan, state: &State) -> Vec<Explanation> {
    explain_at(plan, state, state.now)
}

/// The same, as it is at a moment: how long somebody has been silent changes although nothing happens.
pub fn explain_at(plan: &Plan, state: &State, now: i64) -> Vec<Explanation> {
    if state.is_finished() || state.started.is_none() {
        return Vec::new();
    }
    let mut found = about_run(plan, state);
    found.extend(state.waiting().map(|step| Explanation { path: Some(step.path.clone()), text: waits(now, step) }));
    found.extend(state.open_attempts().filter_map(delayed));
    found.extend(state.blocked(plan).into_iter().map(|(path, on)| {
        let on: Vec<String> = on.iter().map(|path| format!("`{path}`")).collect();
        Explanation { text: format!("`{path}` waits for {}", on.join(", ")), path: Some(path) }
    }));
    found
}

fn about_run(plan: &Plan, state: &State) -> Vec<Explanation> {
    let mut found = Vec::new();
    let mut say = |text: String| found.push(Explanation { path: None, text });
    let open = state.open_attempts().count();
    if state.cancelling {
        say(format!("the run is being cancelled; {} under way", steps(open)));
    }
    if state.paused {
        let limit = state.limits_reached.last().map_or_else(String::new, |limit| format!(" at the limit on {limit}"));
        say(match &state.missed {
            Some(missed) => format!(
                "nothing was heard of the machine `{}` since {}, and the files of the run are there; start a worker on it, or \
                 `longhaul unpause` to wait for longer, `longhaul leave` to continue elsewhere without them, `longhaul cancel` to stop",
                missed.host,
                moment(missed.since)
            ),
            None => format!("the run is paused{limit}; nothing new starts until it is told to continue"),
        });
    }
    let ready = state.ready();
    if ready > 0 && !state.paused && !state.cancelling {
        let slots = crate::decide::slots(plan);
        let set_aside = state.reserved() != crate::event::Usage::default();
        say(match (state.at_once() >= slots as usize, set_aside) {
            (true, _) => format!("{} ready, but only {slots} may run at once", steps(ready)),
            (false, true) => format!("{} ready, but what is under way may use up the rest of the budget", steps(ready)),
            (false, false) => {
                format!("{} ready, and nobody drives the run: resume it, or start a worker", steps(ready))
            }
        });
    }
    found
}

/// An attempt that waits for its machine, or for what its agent does in the background.
fn delayed(step: &StepInst) -> Option<Explanation> {
    let why = step.delayed.as_ref()?;
    let text = format!("`{}` waits: {why}; it then continues by itself", step.path);
    Some(Explanation { path: Some(step.path.clone()), text })
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step is".to_owned() } else { format!("{count} steps are") }
}

fn waits(now: i64, step: &StepInst) -> String {
    let path = &step.path;
    match &step.phase {
        Phase::Retry { due } => match step.climb.as_ref().and_then(|climb| climb.rung.as_ref()) {
            Some(rung) => format!("`{path}`: {}, at {}, attempt {}", rung.words(), moment(*due), step.attempts + 1),
            None => format!("`{path}` is tried again at {}, attempt {}", moment(*due), step.attempts + 1),
        },
        Phase::Question | Phase::Queued if step.asks().is_some() => {
            step.asks().map_or_else(String::new, |question| asks(now, path, question))
        }
        Phase::Waiting { due: Some(due), signal: None } => format!("`{path}` sleeps until {}", moment(*due)),
        Phase::Waiting { due, signal } => {
            let until = due.map_or_else(String::new, |due| format!(", until {}", moment(due)));
            format!("`{path}` waits for the signal `{}`{until}", signal.as_deref().unwrap_or_default())
        }
        Phase::Handed => handed(now, step),
        Phase::Queued => waits_for(&step.path, &step.labels),
        Phase::Question | Phase::Ready | Phase::Attempt | Phase::Inside | Phase::Judge | Phase::Done => {
            format!("`{path}` continues")
        }
    }
}

/// Who has an attempt that is handed out, and for how long nothing was heard.
fn handed(now: i64, step: &StepInst) -> String {
    let path = &step.path;
    let Some(hand) = &step.hand else {
        return format!("`{path}` is ready for whoever hosts the run to take it");
    };
    let silent = u64::try_from(now - hand.seen).unwrap_or_default();
    let silent = if silent == 0 { String::new() } else { format!(", silent for {}", format_ms(silent)) };
    let hint = hand.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("`{path}` is handed out to {}{silent}{hint}, until {}", hand.by, moment(hand.until))
}

/// What a worker must have that takes a step.
pub fn waits_for(path: &StepPath, labels: &[String]) -> String {
    let hosts = labels.iter().filter_map(|label| host_of_label(label));
    let host: String = hosts.map(|host| format!(" on `{host}`, where the files of the run are")).collect();
    let agents = labels.iter().filter_map(|label| agent_of_label(label));
    let turn: String = agents.map(|agent| format!(" that may begin another turn of {agent}")).collect();
    let folder = match labels.iter().find_map(|label| project_of_label(label)) {
        Some("") => " in a folder whose project is not known",
        Some(_) => " in a checkout of its project",
        None => "",
    };
    let host = if host.is_empty() { folder.to_owned() } else { host };
    let labels: Vec<&str> = labels.iter().map(String::as_str).filter(|label| is_given(label)).collect();
    match labels.as_slice() {
        [] => format!("`{path}` waits for a worker{turn}{host}"),
        [one] => format!("`{path}` waits for a worker with the label {one}{turn}{host}"),
        several => format!("`{path}` waits for a worker with the labels {}{turn}{host}", several.join(", ")),
    }
}

fn asks(now: i64, path: &StepPath, question: &Question) -> String {
    let what = match question.kind {
        QuestionKind::Approval => "an approval",
        QuestionKind::Question => "an answer",
        QuestionKind::Review => "a review",
        QuestionKind::Operator => "a decision",
        QuestionKind::Consent => "consent",
        QuestionKind::Machine => "a decision",
    };
    let since = u64::try_from(now - question.asked_at).unwrap_or_default();
    let until = question.due.map_or_else(String::new, |due| format!(", until {}", moment(due)));
    let since = if since == 0 { String::new() } else { format!(" ({} so far)", format_ms(since)) };
    // What a workflow asks its author knows; this nobody has written.
    let about = if question.kind == QuestionKind::Machine { format!(": {}", question.text) } else { String::new() };
    format!("`{path}` waits for {what} since {}{since}{until}{about}", moment(question.asked_at))
}

/// A moment as people write it.
pub fn moment(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |moment| moment.to_string())
}
