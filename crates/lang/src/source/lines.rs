//! Lines and columns of a file.
//!
//! **Invariant:** every lookup costs the same, so that a file with ten thousand mistakes, or one very long line, is
//! reported as fast as any other.

use std::ops::Range;

/// The most bytes between two marks.
const STRIDE: usize = 512;

/// A byte whose line and column are known, both from 1.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: usize,
    line: usize,
    column: usize,
}

/// Marks in a text: at the start of each line, and in long lines every few hundred bytes.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    marks: Vec<Mark>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let mut here = Mark { at: 0, line: 1, column: 1 };
        let mut marks = vec![here];
        let mut last = 0;
        for (at, c) in text.char_indices() {
            let next = at + c.len_utf8();
            here = match c {
                '\n' => Mark { at: next, line: here.line + 1, column: 1 },
                _ => Mark { at: next, column: here.column + 1, ..here },
            };
            if c == '\n' || next - last >= STRIDE {
                marks.push(here);
                last = next;
            }
        }
        Self { marks }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(super) fn find(&self, text: &str, at: usize) -> (usize, usize) {
        let at = boundary(text, at);
        let after = self.marks.partition_point(|mark| mark.at <= at);
        let Some(mark) = self.marks.get(after.saturating_sub(1)) else { return (1, 1) };
        let between = text.get(mark.at..at).unwrap_or_default();
        (mark.line, mark.column + between.chars().count())
    }

    /// The range of the line that contains a byte, without its line break.
    pub(super) fn line_around(&self, text: &str, at: usize) -> Range<usize> {
        let (line, _) = self.find(text, at);
        let first = self.marks.partition_point(|mark| mark.line < line);
        let next = self.marks.partition_point(|mark| mark.line <= line);
        let start = self.marks.get(first).map_or(0, |mark| mark.at);
        let end = self.marks.get(next).map_or(text.len(), |mark| mark.at - 1);
        start..end.max(start)
    }
}

/// The last character boundary at or before a byte.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_count_characters() {
        let find = |at| Lines::of("é: x\nab").find("é: x\nab", at);
        assert_eq!([find(0), find(1), find(3), find(7), find(99)], [(1, 1), (1, 1), (1, 3), (2, 2), (2, 3)]);
    }

    #[test]
    fn a_line_is_given_without_its_break() {
        let text = "ab\n\ncd";
        let line = |at| text.get(Lines::of(text).line_around(text, at)).unwrap();
        assert_eq!([line(0), line(2), line(3), line(4), line(9)], ["ab", "ab", "", "cd", "cd"]);
    }

    proptest! {
        #[test]
        fn counting_from_the_start_gives_the_same(text in "(é|a{300}|\n){0,12}", at in 0usize..4000) {
            let end = boundary(&text, at);
            let before = &text[..end];
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let counted = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
            let lines = Lines::of(&text);
            prop_assert_eq!(lines.find(&text, at), counted);
            let stop = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
            prop_assert_eq!(lines.line_around(&text, at), start..stop);
        }
    }
}
