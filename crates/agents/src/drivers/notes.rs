//! Collects what every reader notes about a turn.
//!
//! **Invariant:** whatever a program prints, a reader keeps only the answer, the problem, and a few kilobytes of lines
//! that are not events.

use super::summary;
use crate::contract::{AgentTrouble, Ending, Exit, Meter, TranscriptEntry};

/// The most bytes of lines that are not events.
const STRAY_BYTES_MAX: usize = 4096;

/// The known state of a turn.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The report for the end of the turn.
    pub(super) ending: Ending,
    /// Why the program is retrying now. It counts only if nothing follows.
    pub(super) trying_again: Option<AgentTrouble>,
    model: Option<String>,
    stray: String,
    answered: bool,
    /// The answer before the agent continued. It counts if no other answer follows.
    earlier: Option<(String, AgentTrouble)>,
}

impl Notes {
    /// The entry about the session, each time more is known about it.
    pub(super) fn session(&mut self, id: &str, model: Option<String>) -> Option<TranscriptEntry> {
        let known = self.ending.session.as_deref() == Some(id) && (model.is_none() || model == self.model);
        if known || id.is_empty() {
            return None;
        }
        self.ending.session = Some(id.to_owned());
        self.model = model.clone();
        Some(TranscriptEntry::Session { id: id.to_owned(), model })
    }

    /// Notes a line that is not an event: programs often print in this way what stops them from working.
    pub(super) fn stray(&mut self, line: &str) -> Vec<TranscriptEntry> {
        let line = summary::line(line);
        if line.is_empty() {
            return Vec::new();
        }
        if self.stray.len() + line.len() < STRAY_BYTES_MAX {
            add_line(&mut self.stray, &line);
        }
        vec![TranscriptEntry::Notice { text: line }]
    }

    /// A tool that was not allowed.
    pub(super) fn deny(&mut self, name: &str) -> TranscriptEntry {
        self.ending.denied.push(name.to_owned());
        TranscriptEntry::Denied { name: name.to_owned() }
    }

    /// Notes an error that the agent reports.
    pub(super) fn fail(&mut self, message: &str) {
        self.ending.trouble.is_error = true;
        add_line(&mut self.ending.trouble.message, message);
    }

    /// Notes the usage of this turn: the total of the session, minus the amount before.
    pub(super) fn used_in_all(&mut self, total: Meter, before: Meter) -> TranscriptEntry {
        self.ending.session_total = Some(total);
        self.used(less(total, before))
    }

    /// Notes the usage of this turn.
    pub(super) fn used(&mut self, meter: Meter) -> TranscriptEntry {
        self.ending.used = Some(meter);
        TranscriptEntry::Usage { meter }
    }

    /// Notes that the answer is complete, or that the agent has given up.
    pub(super) fn over(&mut self) -> TranscriptEntry {
        self.answered = true;
        TranscriptEntry::Result
    }

    /// Notes that the agent continues after an answer.
    pub(super) fn goes_on(&mut self) -> TranscriptEntry {
        self.answered = false;
        self.ending.finished = false;
        let text = std::mem::take(&mut self.ending.text);
        let trouble = std::mem::take(&mut self.ending.trouble);
        let (question, compacted) = (trouble.question.clone(), trouble.compacted);
        self.ending.trouble = AgentTrouble { question, compacted, ..AgentTrouble::default() };
        self.earlier = Some((text, trouble));
        TranscriptEntry::GoesOn
    }

    /// The answer before the agent continued.
    pub(super) fn earlier_answer(&self) -> Option<String> {
        self.earlier.as_ref().map(|(text, _)| text.clone()).filter(|text| !text.is_empty())
    }

    /// Whether it has answered and has not continued.
    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// The report. If the program did not end by itself, its last message about itself counts.
    pub(super) fn into_ending(mut self, exit: &Exit) -> Ending {
        let ended_early = !self.answered && (exit.signal.is_some() || exit.ended.is_some());
        self.ending.at_least |= ended_early && self.ending.used.is_some();
        self.fall_back();
        let trouble = &mut self.ending.trouble;
        if let Some(last) = self.trying_again.filter(|_| !self.answered && !trouble.is_error) {
            *trouble = AgentTrouble { is_error: false, question: trouble.question.take(), ..last };
        }
        if trouble.message.is_empty() && exit.code != Some(0) {
            trouble.message = self.stray;
        }
        self.ending
    }

    /// Without another answer, the earlier one is the last.
    fn fall_back(&mut self) {
        let Some((text, trouble)) = self.earlier.take().filter(|_| !self.answered) else { return };
        if self.ending.text.is_empty() {
            self.ending.text = text;
        }
        if !self.ending.trouble.is_error && self.trying_again.is_none() {
            self.ending.trouble = trouble;
        }
    }
}

/// Adds a line, unless the text already contains it.
pub(super) fn add_line(text: &mut String, line: &str) {
    if line.is_empty() || text.lines().any(|known| known == line) || text == line {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// The difference of two amounts.
pub(super) fn less(total: Meter, before: Meter) -> Meter {
    Meter {
        input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
        cached_tokens: total.cached_tokens.saturating_sub(before.cached_tokens),
        output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
        usd: total.usd.map(|usd| (usd - before.usd.unwrap_or_default()).max(0.0)),
    }
}

/// The sum of two amounts; the money is known if either is.
pub(super) fn sum(one: Meter, other: Meter) -> Meter {
    let usd = match (one.usd, other.usd) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
    };
    Meter {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        usd,
    }
}

/// The larger value of each number.
pub(super) fn most(one: Meter, other: Meter) -> Meter {
    let usd = match (one.usd, other.usd) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    };
    Meter {
        input_tokens: one.input_tokens.max(other.input_tokens),
        cached_tokens: one.cached_tokens.max(other.cached_tokens),
        output_tokens: one.output_tokens.max(other.output_tokens),
        usd,
    }
}
