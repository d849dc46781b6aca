//! Formats the events of a run for people, one line per event.

use longhaul_core::event::{
    Amount, Answer, BudgetChange, End, Ended, Envelope, Event, PlanReplaced, QuestionKind, Usage,
};
use longhaul_core::explain::waits_for;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Outcome;
use longhaul_core::policy;
use longhaul_core::view;

use crate::ui;

/// An event as a line; `None` if people do not need to see it. The line contains no control characters except our own
/// colours.
pub(crate) fn line(run: &RunId, envelope: &Envelope) -> Option<String> {
    Some(match &told(&envelope.event) {
        Event::RunStarted(started) => format!("{} {} {}", ui::bold("▶"), ui::bold(&started.workflow), ui::dim(run)),
        Event::AttemptStarted { path, hosted: true, .. } => format!("  ◇ {path} can be taken by the client of the run"),
        Event::HostedClaimed { path, by, .. } => format!("  ▸ {path} {}", ui::dim(format!("taken by {by}"))),
        Event::HeartbeatSeen { path, hint: Some(hint), .. } => format!("  {}", ui::dim(format!("… {path}: {hint}"))),
        Event::HostedReturned { path, .. } => format!("  ■ {path} was given back, and can be taken again"),
        Event::AttemptStarted { path, attempt, queued: Some(labels), .. } => {
            let again = if *attempt > 1 { ui::dim(format!(", attempt {attempt}")) } else { String::new() };
            format!("  ◇ {}{again}", waits_for(path, labels).replace('`', ""))
        }
        Event::AttemptStarted { path, attempt, host, .. } => {
            begun(path, *attempt, host.as_deref().map(|host| format!("on {}", machine(host))))
        }
        Event::AttemptClaimed { path, attempt, worker, .. } => begun(path, *attempt, Some(format!("by {worker}"))),
        Event::AttemptReleased { path, .. } => {
            format!("  ◇ {path} waits for a worker again: its worker is gone")
        }
        Event::HostSettled { host } => format!("  ▸ the files of the run are on `{host}`"),
        Event::HostMissed { host, .. } => {
            format!(
                "  ■ nothing is heard of `{host}`, where the files of the run are; longhaul status says what can be done"
            )
        }
        Event::HostSeen { host } => format!("  ▸ `{host}` is back"),
        Event::HostLeft { host, carried: Some(carried), .. } => {
            let commit: String = carried.commit.chars().take(10).collect();
            format!("  ▸ continues without `{host}`, with the files as of commit {commit}")
        }
        Event::HostLeft { host, .. } => format!("  ▸ continues without the files on `{host}`"),
        Event::FilesRebuilt { path, host, commit, .. } => {
            let commit: String = commit.chars().take(10).collect();
            format!("  ▸ {path}: the files of the run are on `{host}` now, as of commit {commit}")
        }
        Event::AttemptDelayed { path, why: Some(why), .. } => {
            format!("  … {path} waits: {why}; it then continues by itself")
        }
        Event::AttemptDelayed { path, why: None, .. } => format!("  ▸ {path} {}", ui::dim("continues")),
        Event::ToolDenied { path, tool, .. } => {
            format!("  ! {path}: its agent called the tool `{tool}`, which it may not use, and continued without it")
        }
        Event::CarryFailed { path, why, .. } => {
            format!("  ! {path}: its files could not be sent to the remote: {why}")
        }
        Event::Imported { .. } => "  ▸ brought back from an archive".to_owned(),
        Event::AttemptAdopted { path, .. } => format!("  ▸ {path} {}", ui::dim("kept running")),
        Event::FilesRestored { path, left, .. } => {
            format!("  ↶ {path}: its files are restored; `git show {left}` shows what was discarded")
        }
        Event::AttemptSucceeded { path, .. } => format!("  {} {path}", ui::good("✓")),
        Event::AttemptFailed { path, error, .. } => format!("  {} {path}: {}", ui::bad("✗"), error.message),
        Event::AttemptStopped { path, .. } => format!("  ■ {path} was stopped, and starts again"),
        Event::RetryScheduled { path, due, recovery, .. } if *due > envelope.at || recovery.is_some() => {
            let pause = longhaul_core::duration::format_ms(u64::try_from(due - envelope.at).unwrap_or(0));
            let pause = if *due > envelope.at { format!(", in {pause}") } else { String::new() };
            let how = recovery
                .as_ref()
                .map_or_else(|| "tried again".to_owned(), longhaul_core::recovery::RecoveryAction::words);
            format!("  ↻ {path}: {how}{pause}")
        }
        Event::StepSkipped { path, why } => format!("  {}", ui::dim(format!("– {path} skipped ({})", why.words()))),
        Event::QuestionAsked { path, kind, text, choices, .. } => {
            question(run, &path.to_string(), *kind, text, choices)
        }
        Event::Answered { path, answer, by, caller, comment, .. } => {
            let who = caller.as_ref().map(|caller| caller.who.to_string()).or_else(|| by.clone());
            let who = who.map_or_else(String::new, |who| format!(" by {who}"));
            let instead =
                if caller.as_ref().is_some_and(|caller| caller.overrides) { ", who was not asked" } else { "" };
            let comment = comment.as_ref().map_or_else(String::new, |comment| format!(": {comment}"));
            format!("  ● {path}: {}{who}{instead}{comment}", answered(answer))
        }
        Event::Approved { path, given, needed, by, caller, comment, .. } => {
            let who = caller.as_ref().map(|caller| caller.who.to_string()).or_else(|| by.clone());
            let comment = comment.as_ref().map_or_else(String::new, |comment| format!(": {comment}"));
            format!("  ● {path}: approved by {} ({given} of {needed}){comment}", who.unwrap_or_default())
        }
        Event::HintGiven { path, text, by } => {
            format!("  ● {path}: told{}: {text}", by.as_ref().map_or_else(String::new, |by| format!(" by {by}")))
        }
        Event::BudgetChanged { change, by } => {
            let by = by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
            format!("  ● limits changed{by}: {}", limits(change))
        }
        Event::ConsentRevoked { .. } => "  ! its consent was revoked; risky steps ask from now on".to_owned(),
        Event::WaitStarted { path, signal: Some(signal), .. } => format!("  … {path} waits for the signal {signal}"),
        Event::WaitStarted { path, .. } => format!("  … {path} sleeps"),
        // A failed step with a verdict ends the run; the last event reports that.
        Event::StepEnded { path, end } if end.status == Ended::Failed && end.tolerated && end.verdict.is_none() => {
            format!("  {}", ui::dim(format!("– {path} failed, and the run continues")))
        }
        // Refused before it started, so no attempt has reported the reason.
        Event::StepEnded { path, end: End { error: Some(error), .. } }
            if error.message.starts_with(policy::REFUSAL) =>
        {
            format!("  {} {path}: {}", ui::bad("✗"), error.message)
        }
        Event::Rewound { to, .. } => format!("  ↶ back to {to}"),
        Event::LimitReached { limit, path } => {
            let whose = path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
            format!("  ! {whose}the limit on {limit} was reached")
        }
        Event::SignalRefused { name, why } => format!("  ! the signal {name} was dropped: {why}"),
        Event::Refused { what, why } => format!("  ! {what} refused: {why}"),
        Event::CancelRequested { reason, .. } => {
            format!("  ■ cancel{}", reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}")))
        }
        Event::Paused { .. } => "  ‖ paused".to_owned(),
        Event::Unpaused { .. } => "  ▶ continues".to_owned(),
        Event::RunStopped { by } => {
            format!("  ■ stopped{}", by.as_ref().map_or_else(String::new, |by| format!(" by {}", ui::clean(by))))
        }
        Event::RunResumed { .. } => "  ▶ resumed".to_owned(),
        Event::Reopened { .. } => "  ↻ starts again; finished steps are kept".to_owned(),
        Event::PlanReplaced(replaced) => replaced_line(replaced),
        Event::ResultKept { path, was } => {
            let was = was.as_ref().map_or_else(String::new, |was| format!(" (was {was})"));
            format!("  {}", ui::dim(format!("= {path}{was} keeps its result")))
        }
        Event::RunFinished { outcome, message, .. } => finished(run, *outcome, message.as_deref()),
        Event::OnFailureEnded { error: Some(error), .. } => {
            format!("  ! `on_failure` failed: {}", error.message)
        }
        _ => return None,
    })
}

/// The line about another plan.
fn replaced_line(replaced: &PlanReplaced) -> String {
    let by = replaced.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    let (kept, again) = (ui::count(replaced.kept.len(), "step"), ui::count(replaced.again.len(), "step"));
    format!("  ↻ continues with a changed workflow{by}: {kept} kept, {again} again")
}

/// The line about the start of an attempt: its number, if it is not the first, and its place, if there are several.
fn begun(path: &StepPath, attempt: u32, place: Option<String>) -> String {
    let number = (attempt > 1).then(|| format!("attempt {attempt}"));
    let details: Vec<String> = number.into_iter().chain(place).collect();
    let details = if details.is_empty() { String::new() } else { format!(" {}", ui::dim(details.join(" "))) };
    format!("  ▸ {path}{details}")
}

/// The machine of a checkout. Its folder there is too long for a line.
fn machine(host: &str) -> &str {
    host.split(':').next().unwrap_or(host)
}

/// The event with control characters removed from every text that others wrote.
fn told(event: &Event) -> Event {
    let mut event = event.clone();
    let clean = |text: &mut String| *text = ui::clean(text);
    match &mut event {
        Event::AttemptFailed { error, .. } | Event::OnFailureEnded { error: Some(error), .. } => {
            clean(&mut error.message)
        }
        Event::QuestionAsked { text, choices, .. } => {
            clean(text);
            choices.iter_mut().for_each(clean);
        }
        Event::Answered { comment, answer, .. } => {
            comment.iter_mut().for_each(clean);
            if let Answer::Deny { reason: Some(reason) } = answer {
                clean(reason);
            }
        }
        Event::Approved { comment, .. } => comment.iter_mut().for_each(clean),
        Event::HostedClaimed { by, .. } => clean(by),
        Event::HintGiven { text, by, .. } => {
            clean(text);
            by.iter_mut().for_each(clean);
        }
        Event::BudgetChanged { by: Some(by), .. } => clean(by),
        Event::PlanReplaced(replaced) => replaced.by.iter_mut().for_each(clean),
        Event::HeartbeatSeen { hint: Some(text), .. }
        | Event::AttemptDelayed { why: Some(text), .. }
        | Event::ToolDenied { tool: text, .. }
        | Event::CarryFailed { why: text, .. }
        | Event::SignalRefused { why: text, .. }
        | Event::Refused { why: text, .. }
        | Event::CancelRequested { reason: Some(text), .. }
        | Event::RunFinished { message: Some(text), .. } => clean(text),
        _ => {}
    }
    event
}

/// Changed limits, in words.
fn limits(change: &BudgetChange) -> String {
    let whole = |amount: Amount<u64>, words: &dyn Fn(u64) -> String| match amount {
        Amount::To(limit) => words(limit),
        Amount::By(more) => format!("{} more", words(more)),
    };
    let money = |amount: Amount<f64>| match amount {
        Amount::To(usd) => format!("${usd:.2}"),
        Amount::By(usd) => format!("${usd:.2} more"),
    };
    let parts = [
        change.usd.map(money),
        change.tokens.map(|amount| whole(amount, &|n| format!("{n} tokens"))),
        change.steps.map(|amount| whole(amount, &|n| format!("{n} steps"))),
        change.duration_ms.map(|amount| whole(amount, &longhaul_core::duration::format_ms)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The usage of the attempt that an event ends.
pub(crate) fn used(event: &Event) -> Option<Usage> {
    match event {
        Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } => result.usage,
        Event::AttemptStopped { usage, .. } => *usage,
        _ => None,
    }
}

fn question(run: &RunId, path: &str, kind: QuestionKind, text: &str, choices: &[String]) -> String {
    let how = how_to_answer(run, path, kind, choices);
    let choices = if choices.is_empty() { String::new() } else { format!(" [{}]", choices.join(", ")) };
    format!("  {} {path}: {text}{choices}\n      {}", ui::bold("?"), ui::dim(how))
}

/// The command that answers a question.
pub(crate) fn how_to_answer(run: &RunId, path: &str, kind: QuestionKind, choices: &[String]) -> String {
    view::answer_command(run.as_str(), path, kind, choices)
}

fn answered(answer: &Answer) -> String {
    match answer {
        Answer::Approve => "approved".to_owned(),
        Answer::Deny { reason } => reason.as_ref().map_or("denied".to_owned(), |reason| format!("denied: {reason}")),
        Answer::Edit { .. } => "edited".to_owned(),
        Answer::Value { value } => format!("answered {value}"),
        Answer::Skip => "skipped".to_owned(),
        Answer::TimedOut => "nobody answered in time".to_owned(),
    }
}

fn finished(run: &RunId, outcome: Outcome, message: Option<&str>) -> String {
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    match outcome {
        Outcome::Success => format!("{} {run} succeeded{message}", ui::good("✓")),
        Outcome::Failure => {
            format!("{} {run} failed{message}\n  {}", ui::bad("✗"), ui::dim(format!("longhaul retry {run}")))
        }
        Outcome::Cancelled => format!("■ {run} cancelled{message}"),
    }
}
