//! Turns the bytes that a terminal sends into keys.
//!
//! **Invariant:** any bytes give keys or nothing, never an error; a sequence that arrives in two parts is put together
//! again.

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Enter,
    Escape,
    Back,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
}

/// Collects bytes into keys.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    /// The keys that these bytes complete. An incomplete sequence waits for the next bytes.
    pub(crate) fn keys(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.rest.extend(bytes);
        let mut keys = Vec::new();
        while let Some((used, key)) = first(&self.rest) {
            self.rest.drain(..used);
            keys.extend(key);
        }
        keys
    }

    /// Nothing followed: an escape that looked like the start of a sequence was a key.
    pub(crate) fn settle(&mut self) -> Option<Key> {
        let escape = self.rest == [0x1b];
        self.rest.clear();
        escape.then_some(Key::Escape)
    }
}

/// The length of the first key in bytes, and the key if we use it; `None` while the sequence is incomplete.
fn first(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let one = *bytes.first()?;
    match one {
        0x1b => sequence(bytes),
        b'\r' | b'\n' => Some((1, Some(Key::Enter))),
        0x7f | 0x08 => Some((1, Some(Key::Back))),
        0x00..=0x1f => Some((1, None)),
        _ => letter(bytes),
    }
}

/// `ESC [ A` and similar sequences; an escape before other bytes is a key of its own.
fn sequence(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    match bytes.get(1)? {
        b'[' | b'O' => {}
        _ => return Some((1, Some(Key::Escape))),
    }
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte))? + 2;
    let key = match &bytes[2..=end] {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"C" => Some(Key::Right),
        b"D" => Some(Key::Left),
        b"5~" => Some(Key::PageUp),
        b"6~" => Some(Key::PageDown),
        _ => None,
    };
    Some((end + 1, key))
}

fn letter(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let length = match bytes.first()? {
        0x00..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Some((1, None)),
    };
    let whole = bytes.get(..length)?;
    let letter = std::str::from_utf8(whole).ok().and_then(|text| text.chars().next());
    Some((length, letter.filter(|letter| !letter.is_control()).map(Key::Letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_put_together_from_whatever_pieces_come() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.keys(b"a\x1b[Ab\x1b"), [Key::Letter('a'), Key::Up, Key::Letter('b')]);
        assert_eq!(decoder.keys(b"[6"), []);
        assert_eq!(decoder.keys(b"~\r\x7f"), [Key::PageDown, Key::Enter, Key::Back]);
        assert_eq!(decoder.keys(b"\xe6\xa4"), []);
        assert_eq!(decoder.keys(b"\x9c\xff\x01"), [Key::Letter('検')]);
        assert_eq!(decoder.keys(b"\x1b[1;5Cx\x1bq"), [Key::Letter('x'), Key::Escape, Key::Letter('q')]);
    }

    #[test]
    fn an_escape_alone_is_one_once_nothing_follows() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.keys(b"\x1b"), []);
        assert_eq!(decoder.settle(), Some(Key::Escape));
        assert_eq!(decoder.settle(), None);
    }
}
