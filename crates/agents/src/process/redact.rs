//! Takes secrets out of a stream of bytes.
//!
//! **Invariant:** a secret does not pass, however the stream is cut into pieces. What could be the beginning of one is held back
//! until it is known.

use std::borrow::Cow;

/// What stands in place of a secret.
const REDACTED: &[u8] = "•••".as_bytes();

/// One stream on its way.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// The longest first, so that one inside another leaves nothing of that.
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Redactor {
    pub(super) fn new(secrets: &[String]) -> Self {
        let mut secrets: Vec<Vec<u8>> = secrets.iter().map(|secret| secret.clone().into_bytes()).collect();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets, held: Vec::new() }
    }

    /// What can be let pass now.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.secrets.is_empty() {
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        Cow::Owned(self.release(true))
    }

    /// What was held back, now that nothing follows.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.release(false)
    }

    fn release(&mut self, more_may_come: bool) -> Vec<u8> {
        let mut clean = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let begins = |secret: &&Vec<u8>| secret.len() > rest.len() && secret.starts_with(rest);
            if more_may_come && self.secrets.iter().any(|secret| begins(&secret)) {
                break;
            }
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    clean.extend_from_slice(REDACTED);
                    at += secret.len();
                }
                None => {
                    clean.push(rest[0]);
                    at += 1;
                }
            }
        }
        self.held.drain(..at);
        clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(secrets: &[&str], pieces: &[&[u8]]) -> String {
        let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let mut redactor = Redactor::new(&secrets);
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
    fn without_secrets_nothing_is_held() {
        assert_eq!(through(&[], &[b"\xffa", b"b"]), "\u{fffd}ab");
    }
}
