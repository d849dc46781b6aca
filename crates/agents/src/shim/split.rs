//! Splits a stream of bytes into lines.
//!
//! **Invariant:** it holds at most the longest allowed line and the last piece; every line says where in the stream the
//! next one starts.

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLine {
    /// The line without its end. Broken characters are replaced; of a line that is too long, only the start is kept.
    pub text: String,
    /// Where the next line starts, in bytes from the start of the output: a reader that continues here misses nothing.
    pub end: u64,
}

/// A stream that is being split.
#[derive(Debug)]
pub(super) struct Split {
    line_bytes_max: usize,
    buffer: Vec<u8>,
    /// Where the next line starts, in the buffer and in the stream.
    at: usize,
    at_in_stream: u64,
    /// Up to where no line end was found.
    searched: usize,
    /// How many bytes of the line were dropped because it is too long.
    dropped: u64,
}

impl Split {
    pub(super) fn new(from: u64, line_bytes_max: usize) -> Self {
        Self { line_bytes_max, buffer: Vec::new(), at: 0, at_in_stream: from, searched: 0, dropped: 0 }
    }

    /// Adds bytes of the stream. Call [`Self::next`] until it returns nothing before the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.at);
        self.searched -= self.at;
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line.
    pub(super) fn next(&mut self) -> Option<OutputLine> {
        let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(found) = found else {
            self.drop_excess();
            return None;
        };
        let end = self.searched + found;
        Some(self.take(end, 1))
    }

    /// The last line without a line end, when nothing follows.
    pub(super) fn finish(&mut self) -> Option<OutputLine> {
        let end = self.buffer.len();
        (end > self.at).then(|| self.take(end, 0))
    }

    fn drop_excess(&mut self) {
        let keep = self.buffer.len().min(self.at + self.line_bytes_max);
        self.dropped += (self.buffer.len() - keep) as u64;
        self.buffer.truncate(keep);
        self.searched = keep;
    }

    fn take(&mut self, end: usize, separator: usize) -> OutputLine {
        let line = &self.buffer[self.at..end];
        let shown = &line[..line.len().min(self.line_bytes_max)];
        let text = String::from_utf8_lossy(shown).into_owned();
        self.at_in_stream += (line.len() + separator) as u64 + self.dropped;
        (self.at, self.searched, self.dropped) = (end + separator, end + separator, 0);
        OutputLine { text, end: self.at_in_stream }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(from: u64, max: usize, pieces: &[&[u8]]) -> Vec<(String, u64)> {
        let mut split = Split::new(from, max);
        let mut lines = Vec::new();
        for piece in pieces {
            split.push(piece);
            lines.extend(std::iter::from_fn(|| split.next()));
        }
        lines.extend(split.finish());
        lines.into_iter().map(|line| (line.text, line.end)).collect()
    }

    fn lines(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
        expected.iter().map(|(text, end)| ((*text).to_owned(), *end)).collect()
    }

    #[test]
    fn lines_come_whole_however_they_are_cut_and_the_last_need_not_end() {
        let expected = lines(&[("ab", 13), ("", 14), ("cd", 16)]);
        assert_eq!(split(10, 9, &[b"ab\n\ncd"]), expected);
        assert_eq!(split(10, 9, &[b"a", b"b", b"\n", b"\nc", b"d"]), expected);
    }

    #[test]
    fn a_line_that_is_too_long_has_only_its_beginning_and_the_rest_is_counted() {
        let expected = lines(&[("abc", 8), ("x", 10)]);
        assert_eq!(split(0, 3, &[b"abcdefg\nx\n"]), expected);
        assert_eq!(split(0, 3, &[b"ab", b"cd", b"ef", b"g\nx\n"]), expected);
        assert_eq!(split(0, 3, &[b"abcd", b"efg"]), lines(&[("abc", 7)]));
    }

    #[test]
    fn broken_characters_are_replaced() {
        assert_eq!(split(0, 9, &[b"a\xFFb\n\xC3"]), lines(&[("a\u{FFFD}b", 4), ("\u{FFFD}", 5)]));
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let mut split = Split::new(0, 100);
        for _ in 0..1000 {
            split.push(&[b'x'; 50]);
            assert_eq!(split.next(), None);
            assert!(split.buffer.len() <= 150);
        }
        assert_eq!(split.finish().unwrap().end, 50_000);
    }

    proptest! {
        #[test]
        fn who_reads_on_from_the_end_of_any_line_sees_the_rest(
            pieces in prop::collection::vec("[ab\n]{0,20}", 0..10),
            max in 1usize..30,
        ) {
            let whole = pieces.concat();
            let bytes: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
            let all = split(0, max, &bytes);
            for (done, (_, end)) in all.iter().enumerate() {
                let rest = &whole.as_bytes()[usize::try_from(*end).unwrap()..];
                prop_assert_eq!(&split(*end, max, &[rest]), &all[done + 1..]);
            }
            let shown: Vec<String> = whole.lines().map(|line| line[..line.len().min(max)].to_owned()).collect();
            prop_assert_eq!(all.into_iter().map(|(text, _)| text).collect::<Vec<_>>(), shown);
        }
    }
}
