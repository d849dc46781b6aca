//! Shows the steps of a run as rows of a tree.
//!
//! Finished steps are closed, and running steps are open. Of a loop, only open rounds are shown; a counter stands for
//! the finished ones. The user can open and close every row.

use std::collections::{BTreeSet, HashMap, HashSet};

use longhaul_core::event::Usage;
use longhaul_core::path::StepPath;
use longhaul_core::status::{Awaited, StepStatus};
use longhaul_core::view::StepView;
use longhaul_lang::diagnostic::plain;

use super::line::{Line, Tone};
use crate::numbers;

const SPINNER: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The rows that the user opened or closed by hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turned(HashSet<StepPath>);

impl Turned {
    /// Opens a closed row, or closes an open one.
    pub(crate) fn turn(&mut self, path: &StepPath) {
        if !self.0.remove(path) {
            self.0.insert(path.clone());
        }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Row<'s> {
    pub(crate) step: &'s StepView,
    depth: usize,
    /// For a row with contents: whether they are shown.
    pub(crate) open: Option<bool>,
    /// The number of the item or round, if the row shows it.
    index: Option<u32>,
}

/// The visible rows.
pub(crate) fn rows<'s>(steps: &'s [StepView], turned: &Turned) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    steps.iter().for_each(|step| add(&mut rows, step, 0, None, turned));
    rows
}

fn add<'s>(rows: &mut Vec<Row<'s>>, step: &'s StepView, depth: usize, index: Option<u32>, turned: &Turned) {
    let is_turned = turned.0.contains(&step.path);
    let usual = !is_over(step) || step.status == StepStatus::Failed;
    let open = (!step.steps.is_empty()).then_some(usual != is_turned);
    rows.push(Row { step, depth, open, index });
    if open != Some(true) {
        return;
    }
    let hidden = if is_turned { BTreeSet::new() } else { finished(step) };
    for inner in &step.steps {
        let round = round(step, inner);
        if round.is_none_or(|round| !hidden.contains(&round)) {
            add(rows, inner, depth + 1, round.filter(|_| step.kind != "parallel"), turned);
        }
    }
}

/// The item or round of a step that another step belongs to.
fn round(of: &StepView, inner: &StepView) -> Option<u32> {
    inner.path.segments().get(of.path.segments().len() - 1)?.index
}

/// Finished items and rounds. One with a failed step counts only after the whole loop is over. If all are finished, the
/// last one stays visible.
fn finished(step: &StepView) -> BTreeSet<u32> {
    let rounds: BTreeSet<u32> = step.steps.iter().filter_map(|inner| round(step, inner)).collect();
    let is_done = |number: &u32| {
        let mut inside = step.steps.iter().filter(|inner| round(step, inner) == Some(*number));
        inside.all(|inner| is_over(inner) && (inner.status != StepStatus::Failed || is_over(step)))
    };
    let mut done: BTreeSet<u32> = rounds.iter().copied().filter(is_done).collect();
    if done.len() == rounds.len()
        && let Some(last) = rounds.last()
    {
        done.remove(last);
    }
    done
}

fn is_over(step: &StepView) -> bool {
    step.status.is_over()
}

impl Row<'_> {
    /// The mark, the name and the counter.
    pub(crate) fn left(&self, tick: usize) -> Line {
        let (tone, mark) = mark(self.step, tick);
        let name = match self.step.path.segments().last() {
            Some(last) if last.visit > 1 => format!("{} ({})", last.id, ordinal(last.visit)),
            Some(last) => last.id.to_string(),
            None => String::new(),
        };
        let arrow = match self.open {
            Some(false) => "▸ ",
            Some(true) => "▾ ",
            None => "",
        };
        let index = self.index.map_or_else(String::new, |index| format!("[{index}] "));
        let item = self.step.item.as_ref().filter(|_| self.index.is_some()).map(|item| format!("{item} "));
        let tone_of_name =
            if is_over(self.step) || self.step.status == StepStatus::Pending { Tone::Dim } else { Tone::Plain };
        let line = Line::of(Tone::Plain, &"  ".repeat(self.depth + 1)).with(tone, mark);
        let line = line.with(Tone::Dim, &format!(" {arrow}{index}")).with(tone_of_name, &item.unwrap_or_default());
        let line = match &self.step.name {
            Some(shown) => line.with(tone_of_name, &plain(shown)).with(Tone::Dim, &format!(" {name}")),
            None => line.with(tone_of_name, &name),
        };
        line.with(Tone::Dim, &self.counter())
    }

    fn counter(&self) -> String {
        let rounds: BTreeSet<u32> = self.step.steps.iter().filter_map(|inner| round(self.step, inner)).collect();
        match (self.step.kind.as_str(), rounds.len(), self.step.items) {
            ("for_each", _, Some(all)) => format!("  {} of {all}", self.done(&rounds)),
            ("parallel", lanes, _) if lanes > 0 => format!("  {lanes} lanes"),
            (_, 0, _) => String::new(),
            (_, 1, _) => "  1 round".to_owned(),
            (_, rounds, _) => format!("  {rounds} rounds"),
        }
    }

    fn done(&self, rounds: &BTreeSet<u32>) -> usize {
        let inside = |number: u32| self.step.steps.iter().filter(move |inner| round(self.step, inner) == Some(number));
        rounds.iter().filter(|number| inside(**number).all(is_over)).count()
    }

    /// The text in the middle: what the step does or waits for.
    pub(crate) fn middle(&self, said: &HashMap<StepPath, String>) -> Line {
        let step = self.step;
        if let Some(error) = step.error.as_ref().filter(|_| step.status != StepStatus::Succeeded) {
            return Line::of(Tone::Bad, first_line(&error.message));
        }
        if let Some(why) = step.skipped {
            return Line::of(Tone::Dim, why.words());
        }
        if let Some(what) = step.waiting_for {
            let recovery = step.recovery.as_ref().map_or_else(String::new, |how| format!(": {how}"));
            return Line::of(Tone::Bold, &format!("waits for {}{recovery}", awaited(what)));
        }
        let line = said.get(&step.path).filter(|_| step.status == StepStatus::Running);
        if let Some(line) = line {
            return Line::of(Tone::Dim, line);
        }
        let again = if step.attempts > 1 { format!("{} attempts", step.attempts) } else { String::new() };
        Line::of(Tone::Dim, &again)
    }

    /// The tokens, the money and the time.
    pub(crate) fn right(&self) -> Line {
        if self.step.status == StepStatus::Pending || self.step.skipped.is_some() {
            return Line::default();
        }
        let used = total(self.step);
        let parts = numbers::columns(&used).into_iter().chain([numbers::span(self.step.duration_ms)]);
        Line::of(Tone::Dim, &parts.collect::<Vec<_>>().join("  "))
    }
}

/// The usage of a step and everything inside it.
fn total(step: &StepView) -> Usage {
    let mut all = step.usage;
    step.steps.iter().for_each(|inner| all += total(inner));
    all
}

fn mark(step: &StepView, tick: usize) -> (Tone, &'static str) {
    match step.status {
        StepStatus::Succeeded => (Tone::Good, "✓"),
        StepStatus::Failed => (Tone::Bad, "✗"),
        StepStatus::Skipped => (Tone::Dim, "–"),
        StepStatus::Cancelled => (Tone::Dim, "■"),
        StepStatus::Running => (Tone::Alive, SPINNER.get(tick % SPINNER.len()).unwrap_or(&"*")),
        StepStatus::Waiting if step.waiting_for.is_some_and(Awaited::is_person) => (Tone::Bold, "?"),
        StepStatus::Waiting => (Tone::Bold, "…"),
        _ => (Tone::Dim, "·"),
    }
}

fn awaited(what: Awaited) -> &'static str {
    match what {
        Awaited::Approval => "your approval",
        Awaited::Question => "an answer",
        Awaited::Operator => "a person to decide",
        Awaited::Timer => "a time",
        Awaited::Event => "a signal",
        Awaited::Client => "its client",
        Awaited::Worker => "a worker",
        Awaited::Machine => "its machine",
    }
}

fn ordinal(number: u32) -> String {
    match number {
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        number => format!("{number}th"),
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
