//! What every reader writes down about a turn while it continues.
//!
//! **Invariant:** whatever a program prints, a reader keeps no more of it than the answer, what went wrong, and a few
//! kilobytes of talk that is no event.

use super::summary;
use crate::contract::{Ending, Entry, Exit, Meter, Trouble};

/// Of talk that is no event, this much is kept.
const STRAY_BYTES_MAX: usize = 4096;

/// What is known about a turn so far.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What will be told at the end.
    pub(super) ending: Ending,
    /// Why the program tries again at the moment. It counts only if nothing comes after it.
    pub(super) trying_again: Option<Trouble>,
    model: Option<String>,
    stray: String,
    answered: bool,
    /// What it had answered before it continued. It counts if no other answer comes.
    earlier: Option<(String, Trouble)>,
}

impl Notes {
    /// The session, each time more is known about it.
    pub(super) fn session(&mut self, id: &str, model: Option<String>) -> Option<Entry> {
        let known = self.ending.session.as_deref() == Some(id) && (model.is_none() || model == self.model);
        if known || id.is_empty() {
            return None;
        }
        self.ending.session = Some(id.to_owned());
        self.model = model.clone();
        Some(Entry::Session { id: id.to_owned(), model })
    }

    /// A line that is no event: programs say so what keeps them from working at all.
    pub(super) fn stray(&mut self, line: &str) -> Vec<Entry> {
        let line = summary::line(line);
        if line.is_empty() {
            return Vec::new();
        }
        if self.stray.len() + line.len() < STRAY_BYTES_MAX {
            add_line(&mut self.stray, &line);
        }
        vec![Entry::Notice { text: line }]
    }

    /// A tool that was not allowed.
    pub(super) fn deny(&mut self, name: &str) -> Entry {
        self.ending.denied.push(name.to_owned());
        Entry::Denied { name: name.to_owned() }
    }

    /// The agent calls it an error.
    pub(super) fn fail(&mut self, message: &str) {
        self.ending.trouble.is_error = true;
        add_line(&mut self.ending.trouble.message, message);
    }

    /// What this turn has used, out of what its session has.
    pub(super) fn used_in_all(&mut self, total: Meter, before: Meter) -> Entry {
        self.ending.session_total = Some(total);
        self.used(less(total, before))
    }

    /// What this turn has used.
    pub(super) fn used(&mut self, meter: Meter) -> Entry {
        self.ending.used = Some(meter);
        Entry::Usage { meter }
    }

    /// The answer is complete, or the agent has given up.
    pub(super) fn over(&mut self) -> Entry {
        self.answered = true;
        Entry::Result
    }

    /// The agent works again after an answer.
    pub(super) fn goes_on(&mut self) -> Entry {
        self.answered = false;
        self.ending.finished = false;
        let text = std::mem::take(&mut self.ending.text);
        let trouble = std::mem::take(&mut self.ending.trouble);
        let (question, compacted) = (trouble.question.clone(), trouble.compacted);
        self.ending.trouble = Trouble { question, compacted, ..Trouble::default() };
        self.earlier = Some((text, trouble));
        Entry::GoesOn
    }

    /// What it had answered before it continued.
    pub(super) fn earlier_answer(&self) -> Option<String> {
        self.earlier.as_ref().map(|(text, _)| text.clone()).filter(|text| !text.is_empty())
    }

    /// Whether it has answered, and does not work again.
    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// What is left. If the program never came to an end of its own, the last it said about itself counts.
    pub(super) fn into_ending(mut self, exit: &Exit) -> Ending {
        let ended_early = !self.answered && (exit.signal.is_some() || exit.ended.is_some());
        self.ending.at_least |= ended_early && self.ending.used.is_some();
        self.fall_back();
        let trouble = &mut self.ending.trouble;
        if let Some(last) = self.trying_again.filter(|_| !self.answered && !trouble.is_error) {
            *trouble = Trouble { is_error: false, question: trouble.question.take(), ..last };
        }
        if trouble.message.is_empty() && exit.code != Some(0) {
            trouble.message = self.stray;
        }
        self.ending
    }

    /// Without another answer the one before is the last.
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

/// One more line, unless it was said already.
pub(super) fn add_line(text: &mut String, line: &str) {
    if line.is_empty() || text.lines().any(|known| known == line) || text == line {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// What a total has more than another.
pub(super) fn less(total: Meter, before: Meter) -> Meter {
    Meter {
        input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
        cached_tokens: total.cached_tokens.saturating_sub(before.cached_tokens),
        output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
        usd: total.usd.map(|usd| (usd - before.usd.unwrap_or_default()).max(0.0)),
    }
}

/// Two meters together; money is known if either knows some.
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

/// The larger one, number by number.
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
