//! Explains in words why each unfinished step waits.

use crate::decide::{agent_of_label, host_of_label, is_given, project_of_label};
use crate::duration::format_ms;
use crate::event::QuestionKind;
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::{Phase, Question, QueuedAttempt, State, StepInst};
use crate::view;

/// Why something does not continue.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Explanation {
    /// The step; `None` if it is about the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<StepPath>,
    /// The reason, in words.
    pub text: String,
}

/// Why the run and each of its unfinished steps wait. Empty for a finished run.
pub fn explain(plan: &Plan, state: &State) -> Vec<Explanation> {
    explain_at(plan, state, state.now)
}

/// The same at a given time: the time since a client's last sign of life changes although no event happens.
pub fn explain_at(plan: &Plan, state: &State, now: i64) -> Vec<Explanation> {
    if state.is_finished() || state.started.is_none() {
        return Vec::new();
    }
    let mut found = about_run(plan, state);
    found.extend(state.waiting().map(|step| {
        let progress = view::progress(plan, state, step).map_or_else(String::new, |progress| format!(": {progress}"));
        Explanation { path: Some(step.path.clone()), text: format!("{}{progress}", waits(now, step)) }
    }));
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
        say(format!("the run is being cancelled; {} still running", steps(open)));
    }
    if let Some(stop) = state.stopped.as_ref().filter(|_| !state.cancelling) {
        let by = stop.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        say(format!(
            "the run was stopped{by} at {}; no engine continues it until `longhaul resume`",
            moment(stop.at / 1000 * 1000)
        ));
    }
    if state.paused {
        say(match &state.placement.lost {
            Some(missed) => format!(
                "the machine `{}` has been silent since {}, and the files of the run are on it; start a worker on it, or use \
                 `longhaul unpause` to wait longer, `longhaul machines abandon` to continue on another machine without them, \
                 `longhaul cancel` to end the run",
                missed.host,
                moment(missed.since)
            ),
            None => match state.paused_at_limit() {
                Some(limit @ ("usd" | "tokens" | "steps" | "duration")) => format!(
                    "the run is paused at the limit on {limit}; `longhaul budget` raises the limit, `longhaul unpause` drops it"
                ),
                Some(limit) => format!("the run is paused at the limit on {limit}; `longhaul unpause` drops the limit"),
                None => "the run is paused; no new step starts until `longhaul unpause`".to_owned(),
            },
        });
    }
    let ready = state.ready();
    if ready > 0 && !state.paused && state.stopped.is_none() && !state.cancelling {
        let slots = crate::decide::permits(plan);
        let set_aside = state.reserved() != crate::event::Usage::default();
        say(match (state.at_once() >= slots as usize, set_aside) {
            (true, _) => format!("{} ready, but only {slots} may run at once", steps(ready)),
            (false, true) => format!("{} ready, but the running steps may use up the rest of the budget", steps(ready)),
            (false, false) => {
                format!(
                    "{} ready, but no engine is running this run; use `longhaul resume`, or start a worker",
                    steps(ready)
                )
            }
        });
    }
    found
}

/// An attempt that waits for its machine, or for background work of its agent.
fn delayed(step: &StepInst) -> Option<Explanation> {
    let why = step.delayed()?;
    let text = format!("`{}` waits: {why}; it then continues by itself", step.path);
    Some(Explanation { path: Some(step.path.clone()), text })
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step is".to_owned() } else { format!("{count} steps are") }
}

fn waits(now: i64, step: &StepInst) -> String {
    let path = &step.path;
    match &step.phase {
        Phase::Retry { due } => match step.recovery.as_ref().and_then(|recovery| recovery.action.as_ref()) {
            Some(action) => format!("`{path}`: {}, at {}, attempt {}", action.words(), moment(*due), step.attempts + 1),
            None => format!("`{path}` is tried again at {}, attempt {}", moment(*due), step.attempts + 1),
        },
        Phase::Question(question) | Phase::Queued(QueuedAttempt { question: Some(question), .. }) => {
            asks(now, path, question)
        }
        Phase::Waiting { due: Some(due), signal: None } => format!("`{path}` sleeps until {}", moment(*due)),
        Phase::Waiting { due, signal } => {
            let until = due.map_or_else(String::new, |due| format!(", until {}", moment(due)));
            format!("`{path}` waits for the signal `{}`{until}", signal.as_deref().unwrap_or_default())
        }
        Phase::Hosted(_) => hosted(now, step),
        Phase::Queued(queued) => waits_for(&step.path, &queued.labels),
        Phase::Ready | Phase::Attempt(_) | Phase::Inside | Phase::Judge | Phase::Done => {
            format!("`{path}` continues")
        }
    }
}

/// The client that holds a hosted attempt, and the time since its last sign of life.
fn hosted(now: i64, step: &StepInst) -> String {
    let path = &step.path;
    let Some(lease) = step.lease() else {
        return format!("`{path}` waits for an MCP client to take it");
    };
    let silent = u64::try_from(now - lease.seen).unwrap_or_default();
    let silent = if silent == 0 { String::new() } else { format!(", silent for {}", format_ms(silent)) };
    let hint = lease.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("`{path}` is handed out to {}{silent}{hint}, until {}", lease.by, moment(lease.until))
}

/// The labels that a worker needs for a step.
pub fn waits_for(path: &StepPath, labels: &[String]) -> String {
    let hosts = labels.iter().filter_map(|label| host_of_label(label));
    let host: String = hosts.map(|host| format!(" on `{host}`, where the files of the run are")).collect();
    let agents = labels.iter().filter_map(|label| agent_of_label(label));
    let turn: String = agents.map(|agent| format!(" that may start another turn of {agent}")).collect();
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
    // The author of a workflow knows its questions. This one comes from Longhaul, so its text is shown.
    let about = if question.kind == QuestionKind::Machine { format!(": {}", question.text) } else { String::new() };
    format!("`{path}` waits for {what} since {}{since}{until}{about}", moment(question.asked_at))
}

/// A time as people write it.
pub fn moment(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |moment| moment.to_string())
}
