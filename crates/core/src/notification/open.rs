//! The open notifications of a run.

use super::texts::one_line;
use super::{Notification, NotificationKind};
use crate::decide::host_of_label;
use crate::event::{Event, QuestionKind};
use crate::explain::{moment, waits_for};
use crate::plan::{OnExceed, Outcome, Plan};
use crate::recovery::RecoveryAction;
use crate::state::{Finished, Phase, Question, State, StepInst};

/// The most notifications of one run at once. Others follow when these are over.
const OPEN_MAX: usize = 20;
/// The most characters of a text.
const TEXT_CHARS_MAX: usize = 300;
/// Steps that wait for the same reset within this time wait for the same limit.
const SAME_LIMIT_MS: i64 = 10 * 60_000;

/// Everything that people should hear about a run as it is now.
pub fn open(plan: &Plan, state: &State) -> Vec<Notification> {
    if let Some(finished) = &state.finished {
        return over(plan, state, finished).into_iter().collect();
    }
    // A person who stopped a run knows it.
    if state.is_stopped() {
        return Vec::new();
    }
    let mut found: Vec<Notification> = about_pause(plan, state).into_iter().collect();
    for step in state.waiting() {
        let Some(notification) = about_step(step) else { continue };
        if !found.iter().any(|known| known.key == notification.key) {
            found.push(notification);
        }
        if found.len() >= OPEN_MAX {
            break;
        }
    }
    found
}

/// Whether an event can open a notification.
pub fn may_begin(event: &Event) -> bool {
    matches!(
        event,
        Event::QuestionAsked { .. }
            | Event::RunFinished { .. }
            | Event::Paused { .. }
            | Event::LimitReached { .. }
            | Event::HostMissed { .. }
            | Event::RetryScheduled { recovery: Some(RecoveryAction::AwaitReset), .. }
            | Event::AttemptStarted { queued: Some(_), .. }
            | Event::AttemptReleased { .. }
    )
}

fn over(plan: &Plan, state: &State, finished: &Finished) -> Option<Notification> {
    let kind = match finished.outcome {
        Outcome::Success => NotificationKind::Success,
        Outcome::Failure => NotificationKind::Failure,
        Outcome::Cancelled => return None,
    };
    let told = if kind == NotificationKind::Failure { told(plan) } else { Vec::new() };
    let text = finished.message.as_deref().map(line).unwrap_or_default();
    let took_ms = Some((finished.at - state.started_at).max(0));
    Some(Notification { text, told, took_ms, ..about_run(kind, &finished.at.to_string(), finished.at) })
}

/// The channels of the workflow's `on_failure`.
fn told(plan: &Plan) -> Vec<String> {
    let work = plan.main().on_failure.as_ref();
    let channels = work.and_then(|work| work.params.get("channels")?.as_json()?.as_array());
    channels.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A pause that Longhaul made. A person who pauses a run knows it.
fn about_pause(plan: &Plan, state: &State) -> Option<Notification> {
    if !state.paused {
        return None;
    }
    if let Some(lost) = &state.placement.lost {
        let text = format!("the machine `{}` is silent, and the files of the run are on it", lost.host);
        let about = about_run(NotificationKind::Machine, &format!("pause:{}", lost.since), state.now);
        return Some(Notification { text: line(&text), ..about });
    }
    let asks = plan.units.iter().any(|unit| unit.limits.on_exceed == OnExceed::Ask);
    let limit = state.account.limits_reached.last().filter(|_| asks)?;
    let occurrence = state.account.limits_reached.len().to_string();
    let text = line(&format!("the limit on {limit} is reached"));
    let choices = vec![limit.clone()];
    Some(Notification { text, choices, ..about_run(NotificationKind::Budget, &occurrence, state.now) })
}

fn about_step(step: &StepInst) -> Option<Notification> {
    if let Some(question) = step.asks() {
        return Some(about_question(step, question));
    }
    match &step.phase {
        Phase::Retry { due } => about_limit(step, *due),
        // A step that waits for one machine asks a person when that machine is silent for too long.
        Phase::Queued(queued) if !queued.labels.iter().any(|label| host_of_label(label).is_some()) => {
            let text = line(&waits_for(&step.path, &queued.labels));
            let occurrence = queued.labels.join(",");
            let since = step.started_at.unwrap_or(step.since);
            let about = about_run(NotificationKind::Worker, &occurrence, since);
            Some(Notification { text, labels: queued.labels.clone(), step: Some(step.path.clone()), ..about })
        }
        _ => None,
    }
}

fn about_question(step: &StepInst, question: &Question) -> Notification {
    let kind = match question.kind {
        QuestionKind::Approval => NotificationKind::Gate,
        QuestionKind::Question => NotificationKind::Question,
        QuestionKind::Review => NotificationKind::Review,
        QuestionKind::Consent => NotificationKind::Consent,
        QuestionKind::Operator => NotificationKind::Stuck,
        QuestionKind::Machine => NotificationKind::Machine,
    };
    // Two questions of one step never have the same secret.
    let secret = question.key.as_deref().map(|key| key.chars().take(16).collect::<String>());
    let occurrence = secret.unwrap_or_else(|| format!("{}:{}", step.attempts, question.asked_at));
    Notification {
        key: format!("{kind}:{}:{occurrence}", step.path),
        step: Some(step.path.clone()),
        text: line(&question.text),
        due: question.due,
        choices: question.choices.iter().filter(|_| kind == NotificationKind::Machine).cloned().collect(),
        ..about_run(kind, "", question.asked_at)
    }
}

/// The wait for a usage limit. One reset is one notification, whatever the number of steps that wait for it.
fn about_limit(step: &StepInst, due: i64) -> Option<Notification> {
    let action = step.recovery.as_ref()?.action.as_ref()?;
    if *action != RecoveryAction::AwaitReset {
        return None;
    }
    let since = step.started_at.unwrap_or(step.since);
    let said = step.outcome.error.as_ref().map_or("the usage limit is reached", |error| error.message.as_str());
    let text = line(&format!("waits until {}: {said}", moment(due / 1000 * 1000)));
    let about = about_run(NotificationKind::Limit, &(due / SAME_LIMIT_MS).to_string(), since);
    Some(Notification { text, step: Some(step.path.clone()), due: Some(due), ..about })
}

fn about_run(kind: NotificationKind, occurrence: &str, since: i64) -> Notification {
    Notification {
        key: format!("{kind}:{occurrence}"),
        kind,
        step: None,
        text: String::new(),
        since,
        due: None,
        choices: Vec::new(),
        labels: Vec::new(),
        told: Vec::new(),
        took_ms: None,
    }
}

fn line(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}
