//! An e-mail as text: headers, an empty line, the body.
//!
//! **Invariant:** every line ends with CRLF and is shorter than 998 bytes. No value can add a header.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use uuid::Uuid;

/// Bytes of text in one encoded word. So a line has at most 76 characters, including `Subject: `.
const WORD_BYTES: usize = 39;
/// Bytes of text in one line of base64.
const LINE_BYTES: usize = 57;
/// Mail servers may cut longer lines.
const LINE_BYTES_MAX: usize = 900;

/// The e-mail to send.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) from: String,
    pub(super) to: Vec<String>,
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) at_ms: i64,
    /// The name of the message, if it may be sent twice. Equal names give equal ids.
    pub(super) id: Option<String>,
}

impl Letter {
    /// The whole e-mail, or why it is refused.
    pub(super) fn text(&self) -> Result<String, String> {
        if self.to.is_empty() {
            return Err("no recipient is named".to_owned());
        }
        self.to.iter().chain([&self.from]).try_for_each(|address| checked(address))?;
        if self.subject.chars().any(char::is_control) {
            return Err("the title has a line break or another control character".to_owned());
        }
        let date = Timestamp::from_millisecond(self.at_ms).unwrap_or_default();
        let date = DateTimePrinter::new().timestamp_to_string(&date).unwrap_or_default();
        let (encoding, body) = body(&self.text);
        let headers = [
            format!("From: {}", self.from),
            format!("To: {}", self.to.join(",\r\n ")),
            format!("Subject: {}", encoded(&self.subject)),
            format!("Date: {date}"),
            format!("Message-ID: <{}@longhaul>", self.message_id()),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=utf-8".to_owned(),
            format!("Content-Transfer-Encoding: {encoding}"),
            "Auto-Submitted: auto-generated".to_owned(),
        ];
        Ok(format!("{}\r\n\r\n{body}", headers.join("\r\n")))
    }

    fn message_id(&self) -> String {
        let hash = |id: &String| blake3::hash(id.as_bytes()).to_hex()[..32].to_owned();
        self.id.as_ref().map_or_else(|| Uuid::new_v4().to_string(), hash)
    }
}

/// Checks that an address can stand in a header, in an SMTP command and in the arguments of a program.
fn checked(address: &str) -> Result<(), String> {
    let plain = address.chars().all(|c| c.is_ascii_graphic() && !"<>()[]\\,;:\"".contains(c));
    let parts = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    match plain && parts && !address.starts_with('-') && address.len() <= 254 {
        true => Ok(()),
        false => Err(format!("{address:?} is not an address; write it as name@host")),
    }
}

/// The value of a header. RFC 2047 encodes it if it is not plain text.
fn encoded(text: &str) -> String {
    let plain = text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if plain && text.len() <= LINE_BYTES_MAX && !text.contains("=?") {
        return text.to_owned();
    }
    let words = pieces(text, WORD_BYTES).map(|piece| format!("=?utf-8?B?{}?=", base64(piece.as_bytes())));
    words.collect::<Vec<_>>().join("\r\n ")
}

/// Splits a text into pieces of at most `bytes_max` bytes, without cutting a character.
fn pieces(text: &str, bytes_max: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(bytes_max));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The body and its encoding. It stays readable if possible.
fn body(text: &str) -> (&'static str, String) {
    let text = text.replace("\r\n", "\n");
    let plain = |line: &str| {
        line.len() <= LINE_BYTES_MAX && line.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
    };
    if text.split('\n').all(plain) {
        let whole = text.strip_suffix('\n').unwrap_or(&text);
        return ("7bit", whole.split('\n').map(|line| format!("{line}\r\n")).collect());
    }
    let lines = text.as_bytes().chunks(LINE_BYTES).map(|bytes| format!("{}\r\n", base64(bytes)));
    ("base64", lines.collect())
}

/// Encodes bytes as base64 (RFC 4648).
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let quartet = |three: &[u8]| {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let letter = move |i: usize| char::from(LETTERS[(bits >> (18 - 6 * i) & 63) as usize]);
        let used = three.len() + 1;
        (0..4).map(move |i| if i < used { letter(i) } else { '=' })
    };
    bytes.chunks(3).flat_map(quartet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(subject: &str, text: &str) -> Letter {
        let (from, to) = ("a@example.org".to_owned(), vec!["b@example.org".to_owned()]);
        Letter { from, to, subject: subject.to_owned(), text: text.to_owned(), at_ms: 0, id: None }
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let known = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        known.iter().for_each(|(text, coded)| assert_eq!(base64(text.as_bytes()), *coded));
    }

    #[test]
    fn plain_text_stays_readable() {
        let text = letter("Done", "one\n.two\n").text().unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(headers.contains("\r\nSubject: Done\r\n"), "{headers}");
        assert!(headers.contains("\r\nDate: Thu, 1 Jan 1970 00:00:00 -0000\r\n"), "{headers}");
        assert_eq!(body, "one\r\n.two\r\n");
    }

    #[test]
    fn other_text_is_encoded_without_cutting_characters() {
        let subject = "größer ".repeat(30);
        let text = letter(&subject, &"ü".repeat(2000)).text().unwrap();
        assert!(text.is_ascii());
        assert!(text.split("\r\n").all(|line| line.len() <= 76 && !line.contains('\n')), "{text}");
        assert!(text.contains("Subject: =?utf-8?B?Z3LDtsOfZXIg"), "{text}");
    }

    #[test]
    fn a_subject_that_looks_encoded_is_encoded() {
        assert_eq!(encoded("=?utf-8?B?Zm9v?="), "=?utf-8?B?PT91dGYtOD9CP1ptOXY/PQ==?=");
    }

    #[test]
    fn a_bare_carriage_return_does_not_stay_in_the_text() {
        assert_eq!(body("a\rb").0, "base64");
    }

    #[test]
    fn no_value_opens_a_header_of_its_own() {
        assert!(letter("x\r\nBcc: c@example.org", "").text().unwrap_err().contains("control character"));
        for address in ["b@c\r\nBcc: d@e", "b@c> NOTIFY", "-oQ/tmp@x", "b@c d@e", "", "b", "@c", "ü@c"] {
            let letter = Letter { to: vec![address.to_owned()], ..letter("x", "") };
            assert!(letter.text().is_err(), "{address}");
        }
    }
}
