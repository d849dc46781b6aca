//! The report as sections of lines, before a format is chosen.

use super::{Digest, DigestRun, DigestWaiting};
use crate::duration::format_ms;
use crate::notification::{Zone, counted, one_line};

/// The most entries of a section. Totals and JSON have all of them.
const ENTRIES_MAX: usize = 50;
/// The most characters of a line that a run or a person wrote.
const CHARS_MAX: usize = 200;

/// The parts of a report.
pub(super) struct Sections {
    pub(super) title: String,
    pub(super) headline: String,
    pub(super) sections: Vec<Section>,
}

pub(super) struct Section {
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
    /// How many more entries there are.
    pub(super) more: usize,
}

pub(super) struct Entry {
    pub(super) head: String,
    pub(super) lines: Vec<String>,
    pub(super) command: Option<String>,
}

pub(super) fn of(digest: &Digest, zone: &Zone) -> Sections {
    let sections = vec![
        section("Needs you", &digest.waiting, |waiting| waits(waiting, zone)),
        section("Failed", &digest.failed, |run| over(run, zone)),
        section("Succeeded", &digest.succeeded, |run| over(run, zone)),
        section("Cancelled", &digest.cancelled, |run| over(run, zone)),
        section("Stopped", &digest.stopped, |run| over(run, zone)),
        section("Without an engine", &digest.no_engine, |run| over(run, zone)),
        section("Running or waiting", &digest.running, |run| over(run, zone)),
        section("Next", &digest.planned, |planned| Entry {
            head: format!("{} {}", zone.moment(planned.at), clean(&planned.what)),
            lines: Vec::new(),
            command: None,
        }),
    ];
    Sections {
        title: format!(
            "{}, {} to {}",
            digest.project.as_deref().map_or_else(|| "Longhaul".to_owned(), clean),
            zone.moment(digest.since),
            zone.moment(digest.until)
        ),
        headline: headline(digest),
        sections: sections.into_iter().filter(|section| !section.entries.is_empty()).collect(),
    }
}

pub(super) fn headline(digest: &Digest) -> String {
    let totals = &digest.totals;
    if digest.is_empty() {
        return "No run finished, and none is open.".to_owned();
    }
    let still = totals.open.saturating_sub(totals.needs_you + totals.stopped + totals.no_engine);
    let counts = [
        (totals.needs_you, "need you"),
        (totals.failed, "failed"),
        (totals.succeeded, "succeeded"),
        (totals.cancelled, "cancelled"),
        (totals.stopped, "stopped"),
        (totals.no_engine, "without an engine"),
        (still, "running or waiting"),
    ];
    let counts = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(usize::try_from(*count).unwrap_or(usize::MAX), what));
    let runs = if totals.runs == 1 { "1 run".to_owned() } else { format!("{} runs", totals.runs) };
    let at_least = if totals.at_least { "at least " } else { "" };
    let cost =
        if totals.usd > 0.0 || totals.at_least { format!("; {at_least}${:.2}", totals.usd) } else { String::new() };
    format!("{runs}: {}{cost}", counts.collect::<Vec<_>>().join(", "))
}

fn section<T>(title: &str, all: &[T], entry: impl Fn(&T) -> Entry) -> Section {
    Section {
        title: if all.len() > 1 { format!("{title} ({})", all.len()) } else { title.to_owned() },
        entries: all.iter().take(ENTRIES_MAX).map(entry).collect(),
        more: all.len().saturating_sub(ENTRIES_MAX),
    }
}

fn waits(waiting: &DigestWaiting, zone: &Zone) -> Entry {
    let step = waiting.step.as_ref().map(|step| format!(" {step}")).unwrap_or_default();
    let head = format!("{}{step} ({}), {}", waiting.run, clean(&waiting.workflow), waiting.kind);
    let since = format!("since {}", zone.moment(waiting.since));
    let lines = [clean(&waiting.text), since].into_iter().filter(|line| !line.is_empty()).collect();
    Entry { head, lines, command: Some(waiting.command.clone()) }
}

fn over(run: &DigestRun, zone: &Zone) -> Entry {
    let task = clean(&run.task);
    let task = if task.is_empty() { String::new() } else { format!(": {task}") };
    let cost = if run.usd > 0.0 { format!(", ${:.2}", run.usd) } else { String::new() };
    let time = format_ms(u64::try_from(run.duration_ms / 1000 * 1000).unwrap_or_default());
    let steps = if run.steps == 1 { "1 step".to_owned() } else { format!("{} steps", run.steps) };
    let ended = run.ended_at.map(|at| format!("ended {}, ", zone.moment(at))).unwrap_or_default();
    let mut lines = vec![format!("{ended}{steps}, {time}{cost}")];
    lines.extend(run.why.as_ref().map(|why| clean(why)));
    lines.extend(run.since.map(|since| format!("since {}", zone.moment(since))));
    lines.extend(run.until.map(|until| format!("until {}", zone.moment(until))));
    lines.extend(run.outputs.as_ref().map(|outputs| format!("outputs: {}", clean(outputs))));
    lines.extend(run.commit.as_ref().map(|commit| format!("files: commit {}", clean(commit))));
    Entry { head: format!("{} ({}){task}", run.run, clean(&run.workflow)), lines, command: run.command.clone() }
}

fn clean(text: &str) -> String {
    one_line(text, CHARS_MAX)
}
