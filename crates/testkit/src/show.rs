//! Shows an event in one line for people.

use longhaul_core::Json;
use longhaul_core::duration::format_ms;
use longhaul_core::event::{Answer, End, Ended, Envelope, Event, Failure, QuestionKind, Skip};
use longhaul_core::plan::Outcome;

/// `+10s build@1 failed transient: no network`; times count from `zero`.
pub fn line(envelope: &Envelope, zero: i64) -> String {
    format!("{} {}", when(envelope.at, zero), what(&envelope.event, zero))
}

pub(crate) fn when(at: i64, zero: i64) -> String {
    format!("+{}", format_ms(u64::try_from(at - zero).unwrap_or_default()))
}

fn what(event: &Event, zero: i64) -> String {
    match event {
        Event::RunStarted(started) if started.task.is_empty() => "run started".to_owned(),
        Event::RunStarted(started) => format!("run started: {}", started.task),
        Event::AttemptStarted { path, attempt, hosted: true, .. } => format!("{path}@{attempt} handed out"),
        Event::AttemptStarted { path, attempt, queued: Some(labels), .. } => {
            format!("{path}@{attempt} waits for a worker with {labels:?}")
        }
        Event::AttemptStarted { path, attempt, hints, .. } if !hints.is_empty() => {
            format!("{path}@{attempt} started with hints {hints:?}")
        }
        Event::AttemptStarted { path, attempt, .. } => format!("{path}@{attempt} started"),
        Event::HostedClaimed { path, attempt, by, until } => {
            format!("{path}@{attempt} taken by {by} until {}", when(*until, zero))
        }
        Event::HeartbeatSeen { path, attempt, hint, .. } => {
            format!(
                "{path}@{attempt} shows a sign of life{}",
                hint.as_ref().map_or_else(String::new, |hint| format!(": {hint}"))
            )
        }
        Event::AttemptClaimed { path, attempt, worker, .. } => format!("{path}@{attempt} taken by {worker}"),
        Event::AttemptReleased { path, attempt } => format!("{path}@{attempt} waits for a worker again"),
        Event::HostMissed { host, .. } => format!("nothing is heard of {host}"),
        Event::HostSeen { host } => format!("{host} is there again"),
        Event::HostSettled { host } => format!("the files are on {host}"),
        Event::HostLeft { host, carried: Some(carried), .. } => {
            format!("{host} is given up; its files are made again from {}", carried.commit)
        }
        Event::HostLeft { host, .. } => format!("{host} is given up"),
        Event::FilesRebuilt { path, attempt, host, commit } => {
            format!("{path}@{attempt} has its files on {host} from {commit}")
        }
        Event::CarryFailed { path, attempt, why, .. } => format!("{path}@{attempt}: its files were not sent: {why}"),
        Event::Imported { .. } => "brought back".to_owned(),
        Event::HostedReturned { path, attempt } => format!("{path}@{attempt} given back"),
        Event::AttemptAdopted { path, attempt } => format!("{path}@{attempt} was found still at work"),
        Event::AttemptDelayed { path, attempt, why } => match why {
            Some(why) => format!("{path}@{attempt} waits for its machine: {why}"),
            None => format!("{path}@{attempt} waits for its machine no longer"),
        },
        Event::ToolDenied { path, attempt, tool } => format!("{path}@{attempt} may not use {tool}"),
        Event::SessionSeen { path, attempt, session, .. } => format!("{path}@{attempt} has session {}", session.id),
        Event::FilesKept { path, attempt, name } => format!("{path}@{attempt} keeps its files as {name}"),
        Event::FilesRestored { path, attempt, name, left } => {
            format!("{path}@{attempt} has its files back from {name}; what they were is {left}")
        }
        Event::AttemptSucceeded { path, attempt, result } => {
            format!("{path}@{attempt} succeeded{}", value(Some(&result.output)))
        }
        Event::AttemptFailed { path, attempt, error, .. } => format!("{path}@{attempt} failed {}", failure(error)),
        Event::AttemptStopped { path, attempt, .. } => format!("{path}@{attempt} stopped"),
        Event::RetryScheduled { path, attempt, due, recovery } => {
            let how = recovery.as_ref().map_or_else(String::new, |action| format!(": {}", action.words()));
            format!("{path}@{attempt} is due at {}{how}", when(*due, zero))
        }
        Event::StepSkipped { path, why } => format!("{path} skipped ({})", skip(*why)),
        Event::ItemsFound { path, items } => format!("{path} found {}", Json::from(items.clone())),
        Event::BodyOpened { path, index, bound } if bound.is_empty() => format!("{path}[{index}] opened"),
        Event::BodyOpened { path, index, bound } => {
            let bound: serde_json::Map<String, Json> = bound.clone().into_iter().collect();
            format!("{path}[{index}] opened with {}", Json::Object(bound))
        }
        Event::QuestionAsked { path, kind, text, choices, due, .. } => {
            let kind = match kind {
                QuestionKind::Approval => "approval",
                QuestionKind::Question => "question",
                QuestionKind::Review => "review",
                QuestionKind::Operator => "operator",
                QuestionKind::Consent => "consent",
                QuestionKind::Machine => "machine",
            };
            let choices = if choices.is_empty() { String::new() } else { format!(" [{}]", choices.join(", ")) };
            let due = due.map_or_else(String::new, |due| format!(" until {}", when(due, zero)));
            format!("{path} asks ({kind}): {text}{choices}{due}")
        }
        Event::Approved { path, given, needed, .. } => format!("{path} approved: {given} of {needed}"),
        Event::Answered { path, answer, .. } => format!("{path} answered: {}", said(answer)),
        Event::Consented { path, rule } => format!("{path} may: {rule}"),
        Event::HintGiven { path, text, .. } => format!("{path} told: {text}"),
        Event::BudgetChanged { change, .. } => format!("budget {}", serde_json::to_value(change).unwrap_or_default()),
        Event::ConsentRevoked { .. } => "consent revoked".to_owned(),
        Event::WaitStarted { path, due, signal } => {
            let signal = signal.as_ref().map_or_else(String::new, |signal| format!(" for `{signal}`"));
            let due = due.map_or_else(String::new, |due| format!(" until {}", when(due, zero)));
            format!("{path} waits{signal}{due}")
        }
        Event::TimerFired { timer } => format!("timer {timer}"),
        Event::Signalled { name, data, .. } => format!("signal {name}{}", value(Some(data))),
        Event::SignalRefused { name, why } => format!("signal {name} dropped: {why}"),
        Event::StepEnded { path, end } => format!("{path} {}", ended(end)),
        Event::Routed { path, to } => format!("{path} goes to {to}"),
        Event::Rewound { path, to } => format!("{path} goes back to {to}"),
        Event::LimitReached { limit, path: None } => format!("limit reached: {limit}"),
        Event::LimitReached { limit, path: Some(path) } => format!("{path} limit reached: {limit}"),
        Event::UnitStopped { path, why } => format!("{path} is ended: {why}"),
        Event::Refused { what, why } => format!("refused {what}: {why}"),
        Event::CancelRequested { reason, .. } => {
            format!("cancel requested{}", reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}")))
        }
        Event::Paused { by } => format!("paused{}", by.as_ref().map_or_else(String::new, |by| format!(" by {by}"))),
        Event::RunStopped { by } => {
            format!("stopped{}", by.as_ref().map_or_else(String::new, |by| format!(" by {by}")))
        }
        Event::RunResumed { .. } => "resumed".to_owned(),
        Event::PlanReplaced(replaced) => format!(
            "plan replaced; kept {:?}, again {:?}, dropped {:?}",
            replaced.kept, replaced.again, replaced.dropped
        ),
        Event::ResultKept { path, was: Some(was) } => format!("{path} keeps the result of {was}"),
        Event::ResultKept { path, was: None } => format!("{path} keeps its result"),
        Event::Reopened { from, .. } => {
            format!("reopened{}", from.as_ref().map_or_else(String::new, |from| format!(" from {from}")))
        }
        Event::OnFailureStarted { attempt } => format!("on_failure@{attempt} started"),
        Event::OnFailureEnded { attempt, error } => {
            let error = error.as_ref().map_or_else(String::new, |error| format!(", {}", failure(error)));
            format!("on_failure@{attempt} ended{error}")
        }
        Event::RunFinished { outcome, message, outputs } => {
            let outcome = match outcome {
                Outcome::Success => "succeeded",
                Outcome::Failure => "failed",
                Outcome::Cancelled => "cancelled",
            };
            let message = message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
            let outputs: serde_json::Map<String, Json> = outputs.clone().into_iter().collect();
            let outputs = if outputs.is_empty() { String::new() } else { value(Some(&Json::Object(outputs))) };
            format!("run {outcome}{message}{outputs}")
        }
        // Nothing more is to be said about it than its name.
        other => other.name().replace('_', " "),
    }
}

fn ended(end: &End) -> String {
    let mut text = match end.status {
        Ended::Succeeded => "succeeded",
        Ended::Failed => "failed",
        Ended::Skipped => "skipped",
        Ended::Cancelled => "cancelled",
    }
    .to_owned();
    let flags = [(end.tolerated, " (tolerated)"), (end.defaulted, " (defaulted)"), (end.degraded, " (degraded)")];
    for (flag, word) in flags {
        text.push_str(if flag { word } else { "" });
    }
    text.push_str(&value(end.output.as_ref()));
    if !end.names.is_empty() {
        let names: serde_json::Map<String, Json> = end.names.clone().into_iter().collect();
        text.push_str(&format!(" setting {}", Json::Object(names)));
    }
    if let Some(choice) = &end.choice {
        text.push_str(&format!(" choosing {choice}"));
    }
    if let Some((_, Some(message))) = &end.verdict {
        text.push_str(&format!(": {message}"));
    }
    if let Some(error) = &end.error {
        text.push_str(&format!(", {}", failure(error)));
    }
    text
}

fn value(value: Option<&Json>) -> String {
    value.filter(|value| !value.is_null()).map_or_else(String::new, |value| format!(" {value}"))
}

fn failure(error: &Failure) -> String {
    format!("{}: {}", error.class.word(), error.message)
}

fn skip(why: Skip) -> &'static str {
    match why {
        Skip::When => "when",
        Skip::RunIf => "run_if",
        Skip::Route => "not chosen",
        Skip::Denied => "denied",
        Skip::Upstream => "upstream failed",
        Skip::Cancelled => "cancelled",
    }
}

fn said(answer: &Answer) -> String {
    match answer {
        Answer::Approve => "approve".to_owned(),
        Answer::Deny { reason } => {
            format!("deny{}", reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})")))
        }
        Answer::Edit { value } => format!("edit {value}"),
        Answer::Value { value } => format!("{value}"),
        Answer::Skip => "skip".to_owned(),
        Answer::TimedOut => "nothing".to_owned(),
    }
}
