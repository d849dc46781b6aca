//! Notifications in words. All of it is plain text; channels escape what they need to.

use super::{NotificationKind, NotifyRules, OpenNotification};
use crate::decide::is_given;
use crate::duration::format_ms;
use crate::view::Standing;

/// The most lines of a message about several notifications.
const LINES_MAX: usize = 30;

/// A text as one line without control characters, cut after `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    // Characters that hide or turn text are control characters too.
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for word in
        text.split(|c: char| c.is_whitespace() || c.is_control() || is_hidden(c)).filter(|word| !word.is_empty())
    {
        for c in (if line.is_empty() { "" } else { " " }).chars().chain(word.chars()) {
            if length == max {
                line.push('…');
                return line;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

/// The command to type.
pub fn command(pending: &OpenNotification) -> String {
    let (run, about) = (&pending.run, &pending.notification);
    let step = about.step.as_ref().map(|step| quoted(&step.to_string())).unwrap_or_default();
    match about.kind {
        NotificationKind::Gate | NotificationKind::Consent | NotificationKind::Review => {
            format!("longhaul approve {run} {step}")
        }
        NotificationKind::Question => format!("longhaul answer {run} {step} VALUE"),
        NotificationKind::Stuck => format!("longhaul answer {run} {step} retry|skip|fail"),
        NotificationKind::Machine if about.step.is_some() => {
            format!("longhaul answer {run} {step} {}", about.choices.join("|"))
        }
        NotificationKind::Budget => {
            Standing::raising(run.as_str(), about.choices.first().map(String::as_str).unwrap_or_default())
        }
        NotificationKind::Worker => worker(&about.labels),
        NotificationKind::Failure => format!("longhaul retry {run}"),
        NotificationKind::Success => format!("longhaul outputs {run}"),
        NotificationKind::Machine | NotificationKind::Limit => format!("longhaul status {run}"),
    }
}

fn worker(labels: &[String]) -> String {
    let given: Vec<&str> = labels.iter().map(String::as_str).filter(|label| is_given(label)).collect();
    let labels = if given.is_empty() { String::new() } else { format!(" --labels {}", quoted(&given.join(","))) };
    format!("longhaul worker{labels}")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_/.,:@".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// What happened, in a few words.
fn what(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Gate => "needs your approval",
        NotificationKind::Question => "has a question for you",
        NotificationKind::Review => "needs your review",
        NotificationKind::Consent => "needs your consent",
        NotificationKind::Stuck => "cannot continue, and needs your decision",
        NotificationKind::Budget => "is paused at a limit",
        NotificationKind::Machine => "waits for a machine that is silent",
        NotificationKind::Worker => "waits for a worker that is not there",
        NotificationKind::Limit => "waits for a usage limit",
        NotificationKind::Failure => "failed",
        NotificationKind::Success => "succeeded",
    }
}

/// One notification as a line, with the command to type.
pub fn line(pending: &OpenNotification) -> String {
    let about = &pending.notification;
    let step = about.step.as_ref().map(|step| format!(" {step}")).unwrap_or_default();
    let text = if about.text.is_empty() { String::new() } else { format!(": {}", about.text) };
    let name = one_line(&pending.workflow, 60);
    format!("{}{step} ({name}) {}{text}; {}", pending.run, what(about.kind), command(pending))
}

pub(super) fn title(pending: &OpenNotification, again: bool) -> String {
    let again = if again { "Reminder: " } else { "" };
    format!("{again}{} {} {}", one_line(&pending.workflow, 60), pending.run, what(pending.notification.kind))
}

/// A message about one notification.
pub(super) fn single(pending: &OpenNotification, rules: &NotifyRules) -> String {
    let about = &pending.notification;
    let mut lines = Vec::new();
    if !about.text.is_empty() {
        lines.push(about.text.clone());
    }
    let task = one_line(&pending.task, 120);
    if !task.is_empty() {
        lines.push(format!("Task: {task}"));
    }
    if let Some(step) = &about.step {
        lines.push(format!("Step: {step}"));
    }
    if let Some(due) = about.due {
        lines.push(format!("Until: {}", rules.zone.moment(due)));
    }
    if let Some(took) = about.took_ms.and_then(|took| u64::try_from(took / 1000 * 1000).ok()) {
        lines.push(format!("Duration: {}", format_ms(took)));
    }
    lines.push(command(pending));
    lines.extend(link(pending, rules));
    lines.join("\n")
}

/// The page of the run in the dashboard.
pub(super) fn link(pending: &OpenNotification, rules: &NotifyRules) -> Option<String> {
    rules.link.as_ref().map(|link| format!("{}/runs/{}", link.trim_end_matches('/'), pending.run))
}

pub(super) fn title_of_several(several: &[&OpenNotification], again: bool) -> String {
    let again = if again { "Reminder: " } else { "" };
    let count = |kind: NotificationKind| several.iter().filter(|one| one.notification.kind == kind).count();
    let people = several.iter().filter(|one| one.notification.kind.is_for_person()).count();
    let (failed, done) = (count(NotificationKind::Failure), count(NotificationKind::Success));
    let waiting = count(NotificationKind::Limit);
    let parts = [(people, "need you"), (failed, "failed"), (done, "succeeded"), (waiting, "wait for a usage limit")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(number, what)| counted(*number, what)).collect();
    format!("{again}Longhaul: {}", parts.join(", "))
}

/// `1 needs you`, `2 need you`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    match what.split_once(' ') {
        Some((verb @ ("need" | "wait"), rest)) if number == 1 => format!("1 {verb}s {rest}"),
        _ => format!("{number} {what}"),
    }
}

/// A message about several notifications.
pub(super) fn several(several: &[&OpenNotification], rules: &NotifyRules) -> String {
    let mut lines: Vec<String> = several.iter().take(LINES_MAX).map(|pending| line(pending)).collect();
    if several.len() > LINES_MAX {
        lines.push(format!("and {} more; longhaul runs lists them", several.len() - LINES_MAX));
    }
    lines.extend(rules.link.clone());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_line_without_tricks() {
        assert_eq!(one_line("  a\n\tb\u{1b}[31m c\0d ", 100), "a b [31m c d");
        assert_eq!(one_line("pay \u{202e}moc.live", 100), "pay moc.live");
        assert_eq!(one_line(&"ä".repeat(500), 4), "ääää…");
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("ab cd", 3), "ab …");
    }

    #[test]
    fn steps_with_brackets_are_quoted() {
        assert_eq!((quoted("a/b"), quoted("each[2]/ask#2")), ("a/b".to_owned(), "'each[2]/ask#2'".to_owned()));
        assert_eq!(worker(&["gpu".to_owned(), "host:x".to_owned()]), "longhaul worker --labels gpu");
    }
}
