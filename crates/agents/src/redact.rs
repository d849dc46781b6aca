//! Removes secrets from texts and streams.
//!
//! It recognises a secret as it is, and in the usual encodings: percent-encoding, base64 or hex (also inside a longer
//! text), JSON escapes, and line by line.
//!
//! **Invariant:** no secret passes, however a stream is cut into pieces. Bytes that could start a secret are held back
//! until the next bytes decide.

mod forms;

use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

/// The text that replaces a secret.
pub const REDACTED: &str = "•••";

/// Whether a variable or a header with this name usually holds a secret.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "AUTHORIZATION", "COOKIE"].iter().any(|word| name.contains(word))
}

/// The secrets to remove. Copies are cheap.
#[derive(Debug, Clone, Default)]
pub struct Redaction(Option<Arc<Known>>);

#[derive(Debug)]
struct Known {
    secrets: Vec<String>,
    forms: Vec<String>,
    longest: usize,
    /// `None` if there are too many secrets to search for: then nothing passes.
    finder: Option<AhoCorasick>,
}

impl Redaction {
    /// Removes these secrets, in every known form.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets: Vec<String> = secrets.into_iter().filter(|secret| !secret.is_empty()).collect();
        if secrets.is_empty() {
            return Self(None);
        }
        let mut forms: Vec<String> = secrets.iter().flat_map(|secret| forms::of(secret)).collect();
        forms.sort_unstable();
        forms.dedup();
        // The longest first, so that a secret inside another one does not leave parts of the longer one.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok();
        let longest = forms.iter().map(String::len).max().unwrap_or_default();
        Self(Some(Arc::new(Known { secrets, forms, longest, finder })))
    }

    /// These secrets, and more.
    pub fn with(&self, more: Vec<String>) -> Self {
        let known = self.0.iter().flat_map(|known| known.secrets.iter().cloned());
        if more.is_empty() { self.clone() } else { Self::new(known.chain(more)) }
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a text contains a secret.
    pub fn finds(&self, text: &str) -> bool {
        let Some(known) = &self.0 else { return false };
        known.finder.as_ref().is_none_or(|finder| finder.is_match(text))
    }

    /// A text without secrets.
    pub fn text(&self, text: String) -> String {
        let Some(known) = self.0.as_ref().filter(|_| self.finds(&text)) else { return text };
        let Some(finder) = &known.finder else { return REDACTED.to_owned() };
        let mut clean = String::with_capacity(text.len());
        finder.replace_all_with(&text, &mut clean, |_, _, clean| {
            clean.push_str(REDACTED);
            true
        });
        clean
    }
}

impl From<Vec<String>> for Redaction {
    fn from(secrets: Vec<String>) -> Self {
        Self::new(secrets)
    }
}

impl Known {
    /// The start of the last bytes that could begin a secret.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let from = bytes.len().saturating_sub(self.longest - 1);
        let could_begin = |at: &usize| {
            let end = &bytes[*at..];
            self.forms.iter().any(|form| form.len() > end.len() && form.as_bytes().starts_with(end))
        };
        (from..bytes.len()).find(could_begin).unwrap_or(bytes.len())
    }
}

/// Redacts one stream.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    secrets: Redaction,
    held: Vec<u8>,
}

impl Redactor {
    pub(crate) fn new(secrets: Redaction) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// The bytes that can pass now.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(known) = self.secrets.0.clone() else { return Cow::Borrowed(bytes) };
        self.held.extend_from_slice(bytes);
        Cow::Owned(self.release(&known, true))
    }

    /// The bytes that were held back, when nothing follows.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        match self.secrets.0.clone() {
            Some(known) => self.release(&known, false),
            None => Vec::new(),
        }
    }

    fn release(&mut self, known: &Known, more_may_come: bool) -> Vec<u8> {
        let Some(finder) = &known.finder else {
            self.held.clear();
            return Vec::new();
        };
        let mut open = if more_may_come { known.open_end(&self.held) } else { self.held.len() };
        let (mut clean, mut at) = (Vec::with_capacity(self.held.len()), 0);
        // A match that starts before the open end cannot become longer.
        for found in finder.find_iter(&self.held) {
            if found.start() >= open {
                break;
            }
            clean.extend_from_slice(&self.held[at..found.start()]);
            clean.extend_from_slice(REDACTED.as_bytes());
            at = found.end();
            if at > open {
                open = at + known.open_end(&self.held[at..]);
            }
        }
        let until = open.max(at);
        clean.extend_from_slice(&self.held[at..until]);
        self.held.drain(..until);
        clean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(secrets: &[&str]) -> Redaction {
        Redaction::new(secrets.iter().map(|secret| (*secret).to_owned()))
    }

    fn through(known: &[&str], pieces: &[&[u8]]) -> String {
        let mut redactor = Redactor::new(secrets(known));
        let mut clean = Vec::new();
        for piece in pieces {
            clean.extend_from_slice(&redactor.push(piece));
        }
        clean.extend(redactor.finish());
        String::from_utf8_lossy(&clean).into_owned()
    }

    #[test]
    fn a_secret_does_not_pass_however_the_stream_is_cut() {
        let text = b"a canary-7 b canary-7";
        for cut in 0..text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(through(&["canary-7"], &[first, second]), "a ••• b •••", "cut at {cut}");
        }
    }

    #[test]
    fn what_only_begins_like_a_secret_passes() {
        assert_eq!(through(&["canary-7"], &[b"canary", b"-8 can"]), "canary-8 can");
    }

    #[test]
    fn a_secret_that_begins_like_another_leaves_nothing_of_the_longer_one() {
        assert_eq!(through(&["secret", "secret-long"], &[b"secret", b"-long secret"]), "••• •••");
    }

    #[test]
    fn a_secret_right_after_another_does_not_pass_while_a_third_could_begin() {
        assert_eq!(through(&["ba", "abaa"], &[b"baba"]), "••••••");
    }

    #[test]
    fn without_secrets_nothing_is_held() {
        assert_eq!(through(&[], &[b"\xffa", b"b"]), "\u{fffd}ab");
    }

    #[test]
    fn a_secret_is_recognised_as_programs_write_it() {
        let secret = "p@ss w/rd\"+ü";
        let known = secrets(&[secret]);
        for written in [
            "p@ss w/rd\"+ü",
            "p@ss%20w/rd%22+%C3%BC",
            "p%40ss%20w%2Frd%22%2B%C3%BC",
            "p%40ss+w%2Frd%22%2B%C3%BC",
            "p%40ss%20w%2frd%22%2b%c3%bc",
            "p@ss w/rd\\\"+ü",
            "p@ss w/rd\\\"+\\u00fc",
            "p@ss w\\/rd\\\"+ü",
            "70407373",
        ] {
            let clean = known.text(format!("a {written} b"));
            let expected = if written == "70407373" { "a 70407373 b" } else { "a ••• b" };
            assert_eq!(clean, expected, "{written}");
        }
    }

    #[test]
    fn a_secret_is_recognised_inside_of_base64() {
        // `user:canary-42` and similar texts, as headers contain them.
        for (written, left) in [
            ("Y2FuYXJ5LTQyLXNlY3JldA==", "•••A=="),
            ("dXNlcjpjYW5hcnktNDItc2VjcmV0", "dXNlcj•••"),
            ("eDpjYW5hcnktNDItc2VjcmV0", "eDp•••"),
        ] {
            let clean = secrets(&["canary-42-secret"]).text(written.to_owned());
            assert!(clean.contains(REDACTED) && clean.len() < written.len(), "{clean} {left}");
        }
    }

    #[test]
    fn each_line_of_a_key_is_a_secret() {
        let key = "-----BEGIN KEY-----\nAAAABBBBCCCCDDDDEEEE\nshort\n-----END KEY-----\n";
        assert_eq!(secrets(&[key]).text("x AAAABBBBCCCCDDDDEEEE short".to_owned()), "x ••• short");
    }

    proptest! {
        #[test]
        fn a_stream_is_what_the_whole_text_would_be(
            pieces in prop::collection::vec("[abc]{0,6}", 0..8),
            known in prop::collection::vec("[abc]{2,5}", 1..4),
        ) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let bytes: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            prop_assert_eq!(through(&known, &bytes), secrets(&known).text(pieces.concat()));
        }
    }
}
