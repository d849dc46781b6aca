//! Draws a run as lines, from its state.
//!
//! **Invariant:** a frame never has more lines or columns than the terminal, however small it is.

use std::collections::HashMap;

use longhaul_core::path::StepPath;
use longhaul_core::status::{Awaited, RunStatus, StepStatus};
use longhaul_core::view::{Asked, Run, Standing, StandingWord, StepView};

use super::act::{self, Mode, Purpose, Ui};
use super::line::{Line, Tone};
use super::offer::{Offer, words};
use super::rows::{Row, rows};
use crate::{numbers, ui as term, width};

/// The most lines of a question that are shown below the tree.
const QUESTION_ROWS_MAX: usize = 6;

/// The lines that say how many rows are hidden. A very small terminal does not show them.
const MARGIN: usize = 2;

/// Longer lines are hard to read.
const WIDEST: usize = 140;

/// The known state of a run.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) run: Run,
    pub(crate) standing: Standing,
    pub(crate) steps: Vec<StepView>,
    pub(crate) asked: Vec<Asked>,
    /// The last line of each agent.
    pub(crate) said: HashMap<StepPath, String>,
    /// The word for what leaving the screen does.
    pub(crate) leaving: &'static str,
}

/// The lines of a run.
pub(crate) fn frame(seen: &Seen, ui: &Ui, columns: usize, height: usize) -> Vec<Line> {
    let columns = columns.min(WIDEST);
    let below = below(seen, ui, columns);
    let room = height.saturating_sub(2 + below.len());
    let mut lines = vec![head(seen, columns)];
    lines.extend(tree(seen, ui, columns, room));
    lines.extend(below);
    lines.truncate(height.saturating_sub(1).max(1));
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

/// The last frame, which stays on the terminal: it shows no keys.
pub(crate) fn last(seen: &Seen, ui: &Ui, columns: usize, height: usize) -> Vec<Line> {
    let columns = columns.min(WIDEST);
    let mut lines = vec![head(seen, columns)];
    lines.extend(tree(seen, &Ui { cursor: None, ..ui.clone() }, columns, height.saturating_sub(2)));
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

/// How many rows the tree has room for.
pub(crate) fn page(seen: &Seen, ui: &Ui, columns: usize, height: usize) -> usize {
    height.saturating_sub(2 + below(seen, ui, columns).len()).max(1)
}

/// Workflow, run, status; then what it used.
fn head(seen: &Seen, columns: usize) -> Line {
    let run = &seen.run;
    let (tone, mark) = match run.status {
        RunStatus::Succeeded => (Tone::Good, "✓"),
        RunStatus::Failed => (Tone::Bad, "✗"),
        RunStatus::Paused => (Tone::Bold, "‖"),
        RunStatus::Waiting => (Tone::Bold, "?"),
        RunStatus::Stopped => (Tone::Bold, "■"),
        RunStatus::Cancelled => (Tone::Dim, "■"),
        _ => (Tone::Alive, "▶"),
    };
    let waits = match (run.waiting_for.is_empty(), run.status) {
        (true, _) => String::new(),
        (false, RunStatus::Waiting) => format!(" for {}", Awaited::join(&run.waiting_for)),
        (false, _) => format!(", and waits for {}", Awaited::join(&run.waiting_for)),
    };
    let message = run.message.as_ref().map_or_else(String::new, |message| format!(": {}", message.replace('\n', " ")));
    let left = Line::of(tone, mark).with(Tone::Bold, &format!(" {}", run.workflow));
    let left =
        left.with(Tone::Dim, &format!(" {}  ", seen.name)).with(tone, &format!("{}{waits}{message}", status(seen)));
    let amounts = numbers::columns(&run.usage).into_iter().chain([numbers::span(run.duration_ms)]);
    let right = Line::of(Tone::Bold, &amounts.collect::<Vec<_>>().join("  "));
    both(left, right, columns)
}

/// The status in the headline; who stopped the run, or that it has no engine.
fn status(seen: &Seen) -> &str {
    match seen.standing.is {
        StandingWord::Stopped => &seen.standing.text,
        StandingWord::NoEngine => seen.standing.is.for_people(),
        _ => seen.run.status.word(),
    }
}

/// One line at the left, one at the right; if both do not fit, the left one is cut.
fn both(left: Line, right: Line, columns: usize) -> Line {
    let space = columns.saturating_sub(right.width());
    if right.width() == 0 || space < columns / 3 {
        return left.cut(columns);
    }
    left.cut(space.saturating_sub(1)).fit(space).and(right)
}

/// As many rows as fit: around the cursor, else around the running steps.
fn tree(seen: &Seen, ui: &Ui, columns: usize, room: usize) -> Vec<Line> {
    let rows = rows(&seen.steps, &ui.turned);
    let name = rows.iter().map(|row| row.left(0).width()).max().unwrap_or(0).min(columns * 9 / 20);
    let line = |row: &Row<'_>| {
        let middle = row.middle(&seen.said);
        let left = row.left(ui.tick);
        let left = if middle.width() == 0 { left } else { left.fit(name).with(Tone::Plain, "  ").and(middle) };
        let line = both(left, row.right(), columns);
        let chosen = ui.cursor.as_ref() == Some(&row.step.path);
        if chosen { line.fit(columns).toned(Tone::Chosen) } else { line }
    };
    if rows.len() <= room {
        return rows.iter().map(line).collect();
    }
    let (from, to) = window(&rows, ui, room);
    let told = |count: usize, word: &str| {
        (count > 0 && room > MARGIN).then(|| Line::of(Tone::Dim, &format!("  … {count} {word}")))
    };
    let shown = rows[from..to].iter().map(line);
    let lines = told(from, "above").into_iter().chain(shown).chain(told(rows.len() - to, "below"));
    lines.take(room).collect()
}

/// The first and the last visible row, if not all fit.
fn window(rows: &[Row<'_>], ui: &Ui, room: usize) -> (usize, usize) {
    let size = if room > MARGIN { room - MARGIN } else { room };
    let chosen = ui.cursor.as_ref().and_then(|path| rows.iter().position(|row| row.step.path == *path));
    let busy = || {
        rows.iter().position(|row| {
            matches!(row.step.status, StepStatus::Running | StepStatus::Waiting) && row.open != Some(true)
        })
    };
    let middle = chosen.or_else(busy).unwrap_or(rows.len());
    let from = middle.saturating_sub(size / 2).min(rows.len().saturating_sub(size));
    (from, (from + size).min(rows.len()))
}

/// The question, the message about the last key, and the help for keys.
fn below(seen: &Seen, ui: &Ui, columns: usize) -> Vec<Line> {
    let asked = act::question(&seen.asked, ui);
    let mut lines = asked.map(|asked| question(asked, seen.asked.len(), ui, columns)).unwrap_or_default();
    lines.extend(ui.news.as_ref().map(|news| Line::of(Tone::Bold, &format!("  {news}"))));
    lines.push(match &ui.mode {
        Mode::Typing { purpose, text, .. } => typed(*purpose, text, columns),
        Mode::Stopping => Line::of(Tone::Bad, "  cancel this run? y: yes, any other key: no"),
        Mode::Looking => keys(asked, seen, ui, columns),
    });
    lines
}

fn question(asked: &Asked, all: usize, ui: &Ui, columns: usize) -> Vec<Line> {
    let more = if all > 1 { format!("  (1 of {all} that ask)") } else { String::new() };
    let name = format!("  ? {}{more}", asked.path);
    let mut lines = vec![Line::of(Tone::Bold, &name)];
    let text = width::wrap(&asked.text, columns.saturating_sub(4));
    let cut = text.len() > QUESTION_ROWS_MAX;
    lines.extend(text.iter().take(QUESTION_ROWS_MAX).map(|line| Line::of(Tone::Plain, &format!("    {line}"))));
    if cut {
        lines.push(Line::of(Tone::Dim, &format!("    … {} more lines; v prints them", text.len() - QUESTION_ROWS_MAX)));
    }
    lines.extend(asked.progress().map(|progress| Line::of(Tone::Dim, &format!("    {progress}"))));
    let offer = Offer::of(asked);
    let many = matches!(offer, Offer::Many(_));
    for (at, value) in offer.choices().iter().enumerate() {
        let mark = match (many, ui.chosen.contains(&at)) {
            (false, _) => "",
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
        };
        lines.push(Line::of(Tone::Plain, &format!("    {} {mark}{}", at + 1, words(value))));
    }
    lines
}

fn typed(purpose: Purpose, text: &str, columns: usize) -> Line {
    let word = match purpose {
        Purpose::Reason => "why not? (may stay empty)",
        Purpose::Value => "answer",
    };
    let head = format!("  {word}: ");
    // The end of a long input is shown, because the user types there.
    let room = columns.saturating_sub(width::of(&head) + 2);
    let mut shown = text;
    while width::of(shown) > room {
        shown = shown.get(shown.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    Line::of(Tone::Bold, &head).with(Tone::Plain, shown).with(Tone::Chosen, " ")
}

/// The help for keys: as many as fit, the most useful first.
fn keys(asked: Option<&Asked>, seen: &Seen, ui: &Ui, columns: usize) -> Line {
    let mut keys: Vec<(&str, &str)> = match asked.map(Offer::of) {
        Some(Offer::Verdict { edits: true, .. }) => vec![("a", "approve"), ("d", "deny"), ("e", "edit"), ("v", "view")],
        Some(Offer::Verdict { .. }) => vec![("a", "approve"), ("d", "deny")],
        Some(Offer::One(_)) => vec![("1-9", "answer")],
        Some(Offer::Many(_)) => vec![("1-9", "choose"), ("a", "answer")],
        Some(Offer::Free) => vec![("a", "answer"), ("e", "editor")],
        None => Vec::new(),
    };
    keys.extend([
        ("q", seen.leaving),
        ("↑↓", "choose"),
        ("⏎", "open"),
        ("f", if ui.follows { "unfollow" } else { "follow" }),
        ("p", if seen.run.status == RunStatus::Paused { "continue" } else { "pause" }),
        ("c", "cancel"),
    ]);
    if seen.leaving == "stop" {
        keys.push(("b", "background"));
    }
    let mut line = Line::of(Tone::Plain, "  ");
    for (key, does) in keys {
        let next = line.clone().with(Tone::Bold, key).with(Tone::Dim, &format!(" {does}  "));
        if next.width() > columns {
            break;
        }
        line = next;
    }
    line
}

/// The whole text of a question, for printing.
pub(crate) fn whole(asked: &Asked, columns: usize) -> Vec<Line> {
    let text = width::wrap(&asked.text, columns.saturating_sub(2));
    let shown = asked.output.as_ref().map(term::readable);
    let shown = shown.iter().flat_map(|text| text.lines()).flat_map(|line| pieces(line, columns.saturating_sub(2)));
    let head = Line::of(Tone::Bold, &format!("? {}", asked.path));
    let body = text.into_iter().map(|line| Line::of(Tone::Plain, &format!("  {line}")));
    std::iter::once(head).chain(body).chain(shown.map(|line| Line::of(Tone::Dim, &format!("  {line}")))).collect()
}

/// A line in pieces that fit, each with the spaces at its beginning.
fn pieces(line: &str, columns: usize) -> Vec<String> {
    let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
    let inner = columns.saturating_sub(indent.len()).max(10);
    let pieces = width::wrap(line, inner);
    pieces.into_iter().map(|piece| format!("{indent}{piece}")).collect()
}
