//! Shows all runs as a table, and decides what keys do there.
//!
//! **Invariant:** both parts are pure functions; this module sends nothing to a run.

use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::status::{Awaited, RunStatus};
use longhaul_core::view::{Run, Standing, StandingWord};

use super::keys::Key;
use super::line::{Line, Tone};
use crate::{numbers, ui as term, width};

/// The widest that the id of a run and the name of a workflow get.
const ID_MAX: usize = 16;
const WORKFLOW_MAX: usize = 18;

/// A run in the table.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) standing: Standing,
    /// The steps that ask a person.
    pub(crate) asking: Vec<StepPath>,
}

/// The state of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) cursor: Option<RunId>,
    /// The run whose stop must be confirmed.
    pub(crate) stopping: Option<RunId>,
    pub(crate) news: Option<String>,
}

/// The action that a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Open(RunId),
    Approve(RunId, StepPath),
    Pause(RunId),
    Unpause(RunId),
    Cancel(RunId),
    Leave,
}

/// The lines of the table.
pub(crate) fn frame(entries: &[Entry], place: &Place, columns: usize, height: usize) -> Vec<Line> {
    let below = below(place, columns);
    let room = height.saturating_sub(2 + below.len());
    let id = entries.iter().map(|entry| width::of(entry.id.as_str())).max().unwrap_or(0).min(ID_MAX);
    let workflow = entries.iter().map(|entry| width::of(&entry.run.workflow)).max().unwrap_or(0).min(WORKFLOW_MAX);
    let at = entries.iter().position(|entry| Some(&entry.id) == place.cursor.as_ref()).unwrap_or(0);
    let from = at.saturating_sub(room / 2).min(entries.len().saturating_sub(room));
    let mut lines = vec![head(entries)];
    for entry in entries.iter().skip(from).take(room) {
        let line = line(entry, id, workflow, columns);
        let chosen = Some(&entry.id) == place.cursor.as_ref();
        lines.push(if chosen { line.fit(columns).toned(Tone::Chosen) } else { line });
    }
    lines.extend(below);
    lines.truncate(height.saturating_sub(1).max(1));
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

fn head(entries: &[Entry]) -> Line {
    if entries.is_empty() {
        return Line::of(Tone::Dim, "no runs yet; `longhaul run WORKFLOW` starts one");
    }
    let count = |statuses: &[RunStatus]| entries.iter().filter(|entry| statuses.contains(&entry.run.status)).count();
    let (busy, waiting) = (
        count(&[RunStatus::Running, RunStatus::Queued]),
        count(&[RunStatus::Waiting, RunStatus::Paused, RunStatus::Stopped]),
    );
    let head = format!("{}, {busy} at work, {waiting} waiting", term::count(entries.len(), "run"));
    Line::of(Tone::Bold, &head)
}

fn line(entry: &Entry, id: usize, workflow: usize, columns: usize) -> Line {
    let run = &entry.run;
    let (tone, mark) = match run.status {
        RunStatus::Succeeded => (Tone::Good, "✓"),
        RunStatus::Failed => (Tone::Bad, "✗"),
        RunStatus::Waiting => (Tone::Bold, "?"),
        RunStatus::Paused => (Tone::Bold, "‖"),
        RunStatus::Stopped => (Tone::Bold, "■"),
        RunStatus::Running => (Tone::Alive, "▶"),
        RunStatus::Cancelled => (Tone::Dim, "■"),
        _ => (Tone::Dim, "·"),
    };
    let right = numbers::columns(&run.usage).into_iter().skip_while(|part| !part.starts_with('$'));
    let right: Vec<String> = right.chain([format!("{:>6}", numbers::span(run.duration_ms))]).collect();
    let right = Line::of(Tone::Dim, &right.join("  "));
    let left = Line::of(tone, &format!("{mark} {:<10}", entry.standing.is.for_people()))
        .with(Tone::Plain, &width::fit(entry.id.as_str(), id));
    let left =
        left.with(Tone::Plain, &format!("  {}  ", width::fit(&run.workflow, workflow))).with(Tone::Dim, &about(entry));
    let space = columns.saturating_sub(right.width() + 1);
    left.cut(space).fit(space + 1).and(right)
}

/// The current step, what the run waits for, or how it ended.
fn about(entry: &Entry) -> String {
    let run = &entry.run;
    if let Some(step) = entry.asking.first() {
        let more = if entry.asking.len() > 1 { format!(" and {} more", entry.asking.len() - 1) } else { String::new() };
        return format!("{step}{more} asks");
    }
    if matches!(entry.standing.is, StandingWord::Stopped | StandingWord::NoEngine) {
        return entry.standing.text.clone();
    }
    if let Some(message) = &run.message {
        return message.replace('\n', " ");
    }
    let current: Vec<String> = run.current.iter().map(ToString::to_string).collect();
    match (current.is_empty(), run.waiting_for.is_empty()) {
        (false, _) => current.join(", "),
        (true, false) => format!("for {}", Awaited::join(&run.waiting_for)),
        (true, true) => run.task.lines().next().unwrap_or_default().to_owned(),
    }
}

fn below(place: &Place, columns: usize) -> Vec<Line> {
    if let Some(run) = &place.stopping {
        return vec![Line::of(Tone::Bad, &format!("  cancel {run}? y: yes, any other key: no"))];
    }
    let keys = [("⏎", "open"), ("q", "quit"), ("↑↓", "choose"), ("a", "approve"), ("p", "pause"), ("c", "cancel")];
    let mut line = Line::of(Tone::Plain, "  ");
    for (key, does) in keys {
        let next = line.clone().with(Tone::Bold, key).with(Tone::Dim, &format!(" {does}  "));
        if next.width() <= columns {
            line = next;
        }
    }
    let news = place.news.as_ref().map(|news| Line::of(Tone::Bold, &format!("  {news}")));
    news.into_iter().chain([line]).collect()
}

/// What a key asks for; updates the state of the table.
pub(crate) fn press(place: &mut Place, key: Key, entries: &[Entry]) -> Option<Wish> {
    place.news = None;
    if let Some(run) = place.stopping.take() {
        return matches!(key, Key::Letter('y' | 'Y')).then_some(Wish::Cancel(run));
    }
    let at = entries.iter().position(|entry| Some(&entry.id) == place.cursor.as_ref()).unwrap_or(0);
    let entry = entries.get(at);
    let id = entry.map(|entry| entry.id.clone());
    match key {
        Key::Letter('q') | Key::Escape => return Some(Wish::Leave),
        Key::Up | Key::Letter('k') => go(place, entries, at.saturating_sub(1)),
        Key::Down | Key::Letter('j') => go(place, entries, at + 1),
        Key::PageUp => go(place, entries, at.saturating_sub(10)),
        Key::PageDown => go(place, entries, at + 10),
        Key::Enter | Key::Right => return id.map(Wish::Open),
        Key::Letter('c') => place.stopping = id,
        Key::Letter('p') if entry.is_some_and(|entry| entry.run.status == RunStatus::Paused) => {
            return id.map(Wish::Unpause);
        }
        Key::Letter('p') => return id.map(Wish::Pause),
        Key::Letter('a') => return approve(place, entry?),
        _ => {}
    }
    None
}

/// Approves only if the run asks a single question; otherwise the user must open the run first.
fn approve(place: &mut Place, entry: &Entry) -> Option<Wish> {
    match entry.asking.as_slice() {
        [one] => return Some(Wish::Approve(entry.id.clone(), one.clone())),
        [] => place.news = Some(format!("{} asks nothing", entry.id)),
        _ => place.news = Some("several steps ask: open the run, and choose one".to_owned()),
    }
    None
}

fn go(place: &mut Place, entries: &[Entry], to: usize) {
    place.cursor = entries.get(to.min(entries.len().saturating_sub(1))).map(|entry| entry.id.clone());
}
