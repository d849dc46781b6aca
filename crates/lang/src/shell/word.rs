//! A word of a command: its literal text, and the values in it.
//!
//! **Invariant:** each [`VALUE`] in the text of a word has a mark, in the same order.

use std::ops::Range;

/// Marks the place of a value in a text.
pub(super) const VALUE: char = '\0';
/// Marks a place in a text whose content is not known here.
pub(super) const UNKNOWN: char = '\u{1}';
/// The most values that are followed from one place to another.
const MARKS_MAX: usize = 200;

/// A value, and its way to its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The template, or the variable with its value.
    pub(super) range: Range<usize>,
    /// Whether it comes from a variable of the shell.
    pub(super) held: bool,
    /// Whether a program printed it, and so may have changed it.
    pub(super) printed: bool,
}

impl Mark {
    /// A template.
    pub(super) fn here(range: Range<usize>) -> Self {
        Self { range, held: false, printed: false }
    }
}

/// A word.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) marks: Vec<Mark>,
    /// The place of the word.
    pub(super) range: Range<usize>,
}

impl Word {
    /// Adds a value.
    pub(super) fn value(&mut self, mark: Mark) {
        self.text.push(VALUE);
        self.marks.push(mark);
    }

    /// Adds values from elsewhere.
    pub(super) fn values(&mut self, marks: &[Mark]) {
        for mark in few(marks) {
            self.value(mark.clone());
        }
    }

    /// A word that consists of values only.
    pub(super) fn of(marks: &[Mark]) -> Self {
        let mut word = Self::default();
        word.values(marks);
        word
    }

    /// Whether all of it is literal text.
    pub(super) fn is_literal(&self) -> bool {
        !self.text.contains([VALUE, UNKNOWN])
    }

    /// Whether it starts with a value, and so possibly with any character.
    pub(super) fn starts_with_value(&self) -> bool {
        self.text.starts_with(VALUE)
    }

    /// The values from a byte of the text on.
    pub(super) fn marks_from(&self, at: usize) -> &[Mark] {
        let before = self.text.get(..at).unwrap_or_default().matches(VALUE).count();
        self.marks.get(before..).unwrap_or_default()
    }

    /// The values before a byte of the text.
    pub(super) fn marks_before(&self, at: usize) -> &[Mark] {
        let before = self.text.get(..at).unwrap_or_default().matches(VALUE).count();
        self.marks.get(..before).unwrap_or_default()
    }

    /// The word from a byte of its text on.
    pub(super) fn from(&self, at: usize) -> Self {
        let text = self.text.get(at..).unwrap_or_default().to_owned();
        Self { text, marks: self.marks_from(at).to_vec(), range: self.range.clone() }
    }

    /// The word with values in place of each `text`.
    pub(super) fn with(&self, text: &str, marks: &[Mark]) -> Self {
        if text.is_empty() || !self.text.contains(text) {
            return self.clone();
        }
        let mut word = Self::default();
        let mut own = self.marks.iter();
        for (number, part) in self.text.split(text).enumerate() {
            if number > 0 {
                word.values(marks);
            }
            for c in part.chars() {
                match c {
                    VALUE => word.values(own.next().map(std::slice::from_ref).unwrap_or_default()),
                    c => word.text.push(c),
                }
            }
        }
        word
    }
}

/// The first values, up to the limit.
pub(super) fn few(marks: &[Mark]) -> &[Mark] {
    marks.get(..MARKS_MAX).unwrap_or(marks)
}
