//! Decides what a key does.
//!
//! **Invariant:** the result depends only on the screen and the key. This module sends nothing to a run; its caller
//! carries out the [`Deed`]s.

use std::collections::BTreeSet;

use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::path::StepPath;
use longhaul_core::status::RunStatus;
use longhaul_core::view::{Asked, Run};

use super::keys::Key;
use super::offer::Offer;
use super::rows::{Row, Turned};

/// What the person at the terminal is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Mode {
    #[default]
    Looking,
    /// Types a text about a step's question.
    Typing { purpose: Purpose, path: StepPath, text: String },
    /// Is asked to confirm that the run should stop.
    Stopping,
}

/// The purpose of a typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The reason for a denial.
    Reason,
    /// The answer.
    Value,
}

/// The state of the screen, apart from the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ui {
    pub(crate) cursor: Option<StepPath>,
    pub(crate) turned: Turned,
    /// Whether lines of agents scroll above the tree.
    pub(crate) follows: bool,
    pub(crate) mode: Mode,
    /// The choices that are selected so far.
    pub(crate) chosen: BTreeSet<usize>,
    /// The message about the last key.
    pub(crate) news: Option<String>,
    pub(crate) tick: usize,
}

/// The action that a key asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Deed {
    Answer(StepPath, Answer),
    /// An answer as the user typed it: JSON or text, whichever the question accepts.
    Typed(StepPath, String),
    /// Opens the value in an editor.
    Edit(StepPath),
    /// Prints the whole question.
    Read(StepPath),
    Pause,
    Unpause,
    Cancel,
    /// Hands the run to the background engine.
    Detach,
    Leave,
}

/// The parts of a run that keys need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) run: &'a Run,
    pub(crate) rows: &'a [Row<'a>],
    pub(crate) asked: &'a [Asked],
    /// How many rows a page has.
    pub(crate) page: usize,
}

impl Around<'_> {
    /// The question that keys answer: that of the step at the cursor, else the oldest.
    pub(crate) fn question(&self, ui: &Ui) -> Option<&Asked> {
        question(self.asked, ui)
    }
}

/// The question that keys answer: that of the step at the cursor, else the oldest.
pub(crate) fn question<'a>(asked: &'a [Asked], ui: &Ui) -> Option<&'a Asked> {
    let at = |path: &StepPath| asked.iter().find(|asked| asked.path == *path);
    ui.cursor.as_ref().and_then(at).or_else(|| asked.iter().min_by_key(|asked| asked.asked_at))
}

/// What a key asks for; updates the state of the screen.
pub(crate) fn press(ui: &mut Ui, key: Key, around: Around<'_>) -> Option<Deed> {
    ui.news = None;
    match std::mem::take(&mut ui.mode) {
        Mode::Looking => look(ui, key, around),
        Mode::Typing { purpose, path, text } => typing(ui, key, purpose, path, text),
        Mode::Stopping => matches!(key, Key::Letter('y' | 'Y')).then_some(Deed::Cancel),
    }
}

fn look(ui: &mut Ui, key: Key, around: Around<'_>) -> Option<Deed> {
    if let Some(asked) = around.question(ui)
        && let Some(deed) = answer(ui, key, asked)
    {
        return deed;
    }
    match key {
        Key::Up | Key::Letter('k') => walk(ui, around.rows, -1),
        Key::Down | Key::Letter('j') => walk(ui, around.rows, 1),
        Key::PageUp => walk(ui, around.rows, -step(around.page)),
        Key::PageDown => walk(ui, around.rows, step(around.page)),
        Key::Enter | Key::Letter(' ') => turn(ui, around.rows, None),
        Key::Right => turn(ui, around.rows, Some(true)),
        Key::Left => turn(ui, around.rows, Some(false)),
        Key::Letter('f') => ui.follows = !ui.follows,
        Key::Letter('p') if around.run.status == RunStatus::Paused => return Some(Deed::Unpause),
        Key::Letter('p') => return Some(Deed::Pause),
        Key::Letter('c') => ui.mode = Mode::Stopping,
        Key::Letter('b') => return Some(Deed::Detach),
        Key::Letter('q') => return Some(Deed::Leave),
        Key::Escape => ui.cursor = None,
        _ => {}
    }
    None
}

/// The answer that a key gives; `None` if the key means something else.
fn answer(ui: &mut Ui, key: Key, asked: &Asked) -> Option<Option<Deed>> {
    let offer = Offer::of(asked);
    let path = asked.path.clone();
    if let Some(value) = number(key).and_then(|at| offer.choices().get(at).map(|value| (at, value.clone()))) {
        return Some(choose(ui, &offer, path, value));
    }
    let typing = |ui: &mut Ui, purpose, path| {
        ui.mode = Mode::Typing { purpose, path, text: String::new() };
        Some(None)
    };
    match (key, &offer) {
        (Key::Letter('v'), _) => Some(Some(Deed::Read(path))),
        (Key::Letter('a'), Offer::Verdict { .. }) => Some(Some(Deed::Answer(path, Answer::Approve))),
        (Key::Letter('d'), Offer::Verdict { .. }) => typing(ui, Purpose::Reason, path),
        (Key::Letter('e'), Offer::Verdict { edits: true, .. } | Offer::Free) => Some(Some(Deed::Edit(path))),
        (Key::Letter('a'), Offer::Free) => typing(ui, Purpose::Value, path),
        (Key::Letter('a'), Offer::Many(choices)) => {
            let value = choices.iter().enumerate().filter(|(at, _)| ui.chosen.contains(at));
            let value = Json::Array(value.map(|(_, value)| value.clone()).collect());
            ui.chosen.clear();
            Some(Some(Deed::Answer(path, Answer::Value { value })))
        }
        _ => None,
    }
}

fn choose(ui: &mut Ui, offer: &Offer, path: StepPath, (at, value): (usize, Json)) -> Option<Deed> {
    if !matches!(offer, Offer::Many(_)) {
        return Some(Deed::Answer(path, Answer::Value { value }));
    }
    if !ui.chosen.remove(&at) {
        ui.chosen.insert(at);
    }
    None
}

/// The index of a digit key; `1` is the first.
fn number(key: Key) -> Option<usize> {
    let Key::Letter(letter) = key else { return None };
    usize::try_from(letter.to_digit(10)?).ok()?.checked_sub(1)
}

fn typing(ui: &mut Ui, key: Key, purpose: Purpose, path: StepPath, mut text: String) -> Option<Deed> {
    match key {
        Key::Enter => {
            let reason = Some(text.clone()).filter(|text| !text.is_empty());
            return Some(match purpose {
                Purpose::Reason => Deed::Answer(path, Answer::Deny { reason }),
                Purpose::Value => Deed::Typed(path, text),
            });
        }
        Key::Escape => return None,
        Key::Back => drop(text.pop()),
        Key::Letter(letter) => text.push(letter),
        _ => {}
    }
    ui.mode = Mode::Typing { purpose, path, text };
    None
}

fn step(page: usize) -> isize {
    isize::try_from(page.max(1)).unwrap_or(1)
}

/// Moves the cursor by `by` rows.
fn walk(ui: &mut Ui, rows: &[Row<'_>], by: isize) {
    let at = ui.cursor.as_ref().and_then(|path| rows.iter().position(|row| row.step.path == *path));
    let last = rows.len().saturating_sub(1);
    let to = match at {
        Some(at) => at.saturating_add_signed(by).min(last),
        None if by > 0 => 0,
        None => last,
    };
    ui.cursor = rows.get(to).map(|row| row.step.path.clone());
}

/// Opens or closes the row at the cursor.
fn turn(ui: &mut Ui, rows: &[Row<'_>], wanted: Option<bool>) {
    let row = ui.cursor.as_ref().and_then(|path| rows.iter().find(|row| row.step.path == *path));
    if let Some((open, row)) = row.and_then(|row| Some((row.open?, row)))
        && wanted != Some(open)
    {
        ui.turned.turn(&row.step.path);
    }
}
