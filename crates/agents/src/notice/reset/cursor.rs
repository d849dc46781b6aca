//! The position in a text while a time is read.

use jiff::civil::Time;

/// The plain text that is still unread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

/// The words before a time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lead {
    /// Whether there was an `at`: after it a bare number is an hour.
    pub(super) at: bool,
}

/// Words that say nothing about the time.
const FILLERS: [&str; 19] = [
    "at",
    "on",
    "in",
    "after",
    "for",
    "about",
    "around",
    "approximately",
    "again",
    "your",
    "the",
    "is",
    "be",
    "will",
    "limit",
    "limits",
    "quota",
    "access",
    "by",
];

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// Skips words that say nothing about the time.
    pub(super) fn lead(&mut self) -> Lead {
        let mut lead = Lead::default();
        loop {
            self.rest = self.rest.trim_start_matches([' ', ':', '=', '"', '\'', '(', ',', '@', '~', '·', '-']);
            let word = self.peek_word();
            if !FILLERS.contains(&word) {
                return lead;
            }
            lead.at |= word == "at";
            self.skip(word.len());
        }
    }

    /// Reads with `read`, and goes back to the start if that fails.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = *self;
        let found = read(&mut ahead)?;
        *self = ahead;
        Some(found)
    }

    pub(super) fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ',', '.']);
    }

    pub(super) fn peek_word(&self) -> &'a str {
        let end = self.rest.find(|next: char| !next.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    pub(super) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        self.skip(word.len());
        word
    }

    pub(super) fn digits(&mut self) -> &'a str {
        self.until(|next| !next.is_ascii_digit())
    }

    /// The text before the first such character.
    pub(super) fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (found, rest) = self.rest.split_at(end);
        self.rest = rest;
        found
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest.strip_prefix(text);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    /// Whether the sentence ends here.
    pub(super) fn at_end(&self) -> bool {
        let rest = self.rest.trim_start_matches(['.', ',', ';', ')', '"', '\'', '}', ']']);
        rest.is_empty() || (rest.len() < self.rest.len() && rest.starts_with(' '))
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    /// `3pm`, `3:05 pm`, `15:00`, `noon`, `midnight`; a bare `9` only if an hour is expected.
    pub(super) fn time(&mut self, hour_will_do: bool) -> Option<Time> {
        match self.peek_word() {
            "midnight" => return self.named_time("midnight", 0),
            "noon" => return self.named_time("noon", 12),
            _ => {}
        }
        let hour: i8 = self.digits().parse().ok()?;
        let minute: Option<i8> = if self.eat(":") { Some(self.digits().parse().ok()?) } else { None };
        let second: i8 = if minute.is_some() && self.eat(":") { self.digits().parse().ok()? } else { 0 };
        let hour = match self.attempt(Self::half) {
            Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
            Some(_) => return None,
            None if minute.is_some() || (hour_will_do && !self.rest.starts_with(char::is_alphanumeric)) => hour,
            None => return None,
        };
        Time::new(hour, minute.unwrap_or(0), second, 0).ok()
    }

    fn named_time(&mut self, word: &str, hour: i8) -> Option<Time> {
        self.skip(word.len());
        Time::new(hour, 0, 0, 0).ok()
    }

    /// The half of the day, as hours to add.
    fn half(&mut self) -> Option<i8> {
        self.eat(" ");
        let dotted = self.eat("a.m.").then_some(0).or_else(|| self.eat("p.m.").then_some(12));
        dotted.or_else(|| match self.word() {
            "am" => Some(0),
            "pm" => Some(12),
            _ => None,
        })
    }
}
