//! Keeps a part of an output in memory: its start and its end.
//!
//! **Invariant:** no more than twice `keep_bytes` are held, however much goes through.

/// A part of an output, and its total size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The whole output if it fits, else its start.
    pub head: Vec<u8>,
    /// The end of the output, if it did not fit.
    pub tail: Vec<u8>,
    /// The size of the output in bytes.
    pub total: u64,
    /// How many bytes are not in the file either, because the file was full.
    pub dropped: u64,
}

impl Captured {
    /// Whether bytes between head and tail are missing.
    pub fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// The output as text, with a line that says how much is missing.
    pub fn text_lossy(&self) -> String {
        if !self.is_cut() {
            return String::from_utf8_lossy(&[&self.head[..], &self.tail[..]].concat()).into_owned();
        }
        // A character that the cut splits is left out.
        let (head, tail) = (without_broken_end(&self.head), without_broken_start(&self.tail));
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{newline}… {left_out} bytes left out …\n{tail}")
    }
}

fn without_broken_end(bytes: &[u8]) -> &[u8] {
    let last = bytes.utf8_chunks().last();
    let broken = last.map_or(0, |chunk| chunk.invalid().len());
    // The longest character has four bytes; a cut leaves at most three of them.
    if broken < 4 { &bytes[..bytes.len() - broken] } else { bytes }
}

fn without_broken_start(bytes: &[u8]) -> &[u8] {
    let continuing = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &bytes[continuing..]
}

/// Collects an output piece by piece.
#[derive(Debug)]
pub(super) struct Keeper {
    keep_bytes: usize,
    head: Vec<u8>,
    /// It is shortened from time to time, not after each piece: copying whole slices is cheap.
    tail: Vec<u8>,
    total: u64,
}

impl Keeper {
    pub(super) fn new(keep_bytes: usize) -> Self {
        Self { keep_bytes, head: Vec::new(), tail: Vec::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let fits_whole = self.total + bytes.len() as u64 <= self.keep_bytes as u64;
        self.total += bytes.len() as u64;
        if fits_whole {
            self.head.extend_from_slice(bytes);
        } else {
            self.push_cut(bytes);
        }
    }

    fn push_cut(&mut self, bytes: &[u8]) {
        let head_max = self.keep_bytes / 2;
        let spilled = self.head.split_off(self.head.len().min(head_max));
        let (more_head, rest) = bytes.split_at(bytes.len().min(head_max - self.head.len()));
        self.head.extend_from_slice(more_head);
        self.push_tail(&spilled);
        self.push_tail(rest);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.tail_max())..];
        if self.tail.len() + bytes.len() > 2 * self.tail_max() {
            self.cut_tail(self.tail_max() - bytes.len());
        }
        self.tail.extend_from_slice(bytes);
    }

    fn tail_max(&self) -> usize {
        self.keep_bytes - self.keep_bytes / 2
    }

    fn cut_tail(&mut self, keep: usize) {
        self.tail.drain(..self.tail.len().saturating_sub(keep));
    }

    pub(super) fn finish(mut self, dropped: u64) -> Captured {
        self.cut_tail(self.tail_max());
        Captured { head: self.head, tail: self.tail, total: self.total, dropped }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(keep_bytes: usize, pieces: &[&[u8]]) -> Captured {
        let mut keeper = Keeper::new(keep_bytes);
        pieces.iter().for_each(|piece| keeper.push(piece));
        keeper.finish(0)
    }

    #[test]
    fn what_fits_is_whole_in_the_head() {
        let all = captured(6, &[b"abc", b"def"]);
        assert_eq!((&all.head[..], &all.tail[..], all.total), (&b"abcdef"[..], &b""[..], 6));
        assert_eq!(all.text_lossy(), "abcdef");
    }

    #[test]
    fn one_byte_more_cuts_out_the_middle() {
        let cut = captured(6, &[b"abc", b"defg"]);
        assert_eq!((&cut.head[..], &cut.tail[..], cut.total), (&b"abc"[..], &b"efg"[..], 7));
        assert_eq!(cut.text_lossy(), "abc\n… 1 bytes left out …\nefg");
    }

    #[test]
    fn broken_text_is_shown_and_a_character_at_the_cut_is_not() {
        assert_eq!(captured(64, &[b"a\xFFb\xC3"]).text_lossy(), "a\u{FFFD}b\u{FFFD}");
        // `é` has two bytes: the head ends with its first, the tail starts with its second.
        let cut = captured(6, &["abéxxxéyz".as_bytes()]);
        assert_eq!(cut.text_lossy(), "ab\n… 7 bytes left out …\nyz");
    }

    #[test]
    fn keeping_nothing_still_counts() {
        let none = captured(0, &[b"abc"]);
        assert_eq!((none.total, none.text_lossy().as_str()), (3, "… 3 bytes left out …\n"));
    }

    proptest! {
        #[test]
        fn head_and_tail_are_the_ends_however_it_comes(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            keep_bytes in 0usize..100,
        ) {
            let whole = pieces.concat();
            let got = captured(keep_bytes, &pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
            prop_assert_eq!(got.total, whole.len() as u64);
            prop_assert!(whole.starts_with(&got.head) && whole.ends_with(&got.tail));
            prop_assert_eq!(got.head.len() + got.tail.len(), whole.len().min(keep_bytes));
            got.text_lossy();
        }
    }
}
