//! What the parser objects to, in words that say what to do.

use granit_parser::{ErrorKind, ScanError};

use super::super::weight::too_deep;
use super::Part;
use crate::diagnostic::Diagnostic;

/// A finding for what the parser stopped at.
pub(super) fn explain(part: &Part<'_>, error: &ScanError) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(part.text.len()).min(part.text.len());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(part.span(word(part.text, at)));
    }
    let guess = unspaced_colon(part.text, at, error.kind()).or_else(|| unclosed_before(part.text, at, error.kind()));
    let mistake = guess.unwrap_or_else(|| mistake(error.kind(), part.text, at));
    Diagnostic::error("LH0101", part.span(word(part.text, mistake.at)), mistake.message)
        .label(mistake.label)
        .help(mistake.help)
}

struct Mistake {
    at: usize,
    message: &'static str,
    label: &'static str,
    help: String,
}

impl Mistake {
    fn new(at: usize, words: [&'static str; 3]) -> Self {
        let [message, label, help] = words;
        Self { at, message, label, help: help.to_owned() }
    }
}

/// A colon without a space turns its line into text, which the parser notices one line later.
fn unspaced_colon(text: &str, at: usize, kind: &ErrorKind) -> Option<Mistake> {
    use ErrorKind as K;
    let late = matches!(
        kind,
        K::MappingValueNotAllowed | K::SimpleKeyExpected | K::InvalidSimpleKey | K::ExpectedBlockMappingKey
    );
    let before = text.get(..at).filter(|_| late)?;
    let this_line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let previous_end = before.get(..this_line)?.trim_end().len();
    let previous = before.get(..previous_end)?.rfind('\n').map_or(0, |newline| newline + 1);
    [previous, this_line].into_iter().find_map(|line| {
        let rest = text.get(line..)?.lines().next()?;
        let content = rest.trim_start_matches([' ', '-']);
        let name = content.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|name| *name > 0)?;
        let after = content.get(name..)?.strip_prefix(':')?;
        let joined = after.starts_with(|c: char| !c.is_whitespace() && c != '/');
        let words = ["there is no space after a colon", "a space is missing here", ""];
        let help = format!("write `{}: {}`", content.get(..name)?, after.trim());
        let place = line + rest.len() - content.len() + name;
        (joined && !after.contains(": ")).then(|| Mistake { help, ..Mistake::new(place, words) })
    })
}

/// A bracket or quote that is never closed swallows the next lines until one of them does not fit.
fn unclosed_before(text: &str, at: usize, kind: &ErrorKind) -> Option<Mistake> {
    let (marks, words): (&[char], _) = match kind {
        ErrorKind::InvalidColonPlacement => (
            &['[', '{'],
            ["a bracket is not closed", "opened here", "close it before the next key, or put the text in quotes"],
        ),
        ErrorKind::InvalidQuotedScalarIndent => (
            &['"', '\''],
            ["a quote is not closed", "opened here", "close it on its line, or indent the lines that continue it"],
        ),
        _ => return None,
    };
    text.get(..at)?.rfind(marks).map(|place| Mistake::new(place, words))
}

fn mistake(kind: &ErrorKind, text: &str, at: usize) -> Mistake {
    use ErrorKind as K;
    let words = match kind {
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabAtBlockScalarStart
        | K::TabInPlainScalar
        | K::InvalidBlockEntryWhitespace
        | K::InvalidMappingValueWhitespace => {
            let line = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
            let tab = text.get(line..).and_then(|rest| rest.find('\t')).map_or(at, |tab| line + tab);
            let words =
                ["a tab is used to indent", "this is a tab", "indent with spaces; YAML does not allow tabs there"];
            return Mistake::new(tab, words);
        }
        K::UnknownQuotedScalarEscape
        | K::InvalidQuotedScalarHexEscape
        | K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidUnicodeEscape => return bad_escape(text, at),
        K::MappingValueNotAllowed | K::InvalidColonPlacement => [
            "a colon stands where no key can be",
            "this colon",
            "if it is part of a text, put the whole text in quotes; if it ends a key, check the indentation",
        ],
        K::UnclosedQuotedScalar | K::DocumentIndicatorInQuotedScalar => {
            ["a quote is not closed", "opened here", "add the closing quote"]
        }
        K::UnclosedFlowCollection { .. }
        | K::UnexpectedEofFlowSequence
        | K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping => {
            ["a bracket is not closed", "opened here", "add the closing bracket, or put the text in quotes"]
        }
        K::MismatchedFlowCollectionEnd { .. } => {
            ["a bracket is closed by one of another kind", "opened here", "close `[` with `]` and `{` with `}`"]
        }
        K::MisplacedFlowCollectionEnd => {
            ["a bracket is closed that was never opened", "this one", "remove it, or put the text in quotes"]
        }
        K::ExpectedFlowMappingSeparator | K::ExpectedFlowSequenceSeparator => {
            ["a comma or a closing bracket is missing", "before this", "separate the values with commas"]
        }
        K::InvalidTrailingDoubleQuotedScalar | K::InvalidTrailingSingleQuotedScalar => [
            "text continues after a closing quote",
            "this is outside of the quotes",
            "put the quotes around the whole text",
        ],
        K::UnexpectedCharacter { .. } => ["a text cannot start with this character", "here", "put the text in quotes"],
        K::InvalidIndentation
        | K::InvalidBlockScalarIndent
        | K::InvalidQuotedScalarIndent
        | K::InvalidFlowScalarIndent
        | K::ExpectedBlockMappingKey
        | K::ExpectedBlockSequenceEntry => [
            "this line does not fit the lines above it",
            "indented differently, or not a key",
            "give all keys of a mapping and all dashes of a list the same indentation; quote a text that starts with a bracket",
        ],
        K::SimpleKeyExpected | K::InvalidSimpleKey => [
            "this line is neither a key nor part of the value above",
            "a key ends with `: `",
            "add the colon, or indent it",
        ],
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection => [
            "a list item starts where no list can be",
            "this dash",
            "start the list on a line of its own, or put the text in quotes",
        ],
        K::CommentInterceptedScalar => [
            "a comment stands in the middle of a text",
            "this comment",
            "put it on a line before the text; if `#` belongs to the text, quote it",
        ],
        K::CommentNotSeparated => {
            ["a comment needs a space before it", "this `#`", "add a space; if `#` belongs to the text, quote it"]
        }
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => {
            ["text stands on the line of a `|` or `>`", "here", "start the text on the next line, indented"]
        }
        K::MissingAnchorOrAliasName => {
            ["an `&` or `*` needs a name", "here", "if it belongs to the text, put the text in quotes"]
        }
        _ => ["this is not valid YAML", "here", "check quotes, brackets, colons and indentation around this place"],
    };
    Mistake::new(at, words)
}

/// The parser points at the opening quote; the escape is somewhere after it.
fn bad_escape(text: &str, at: usize) -> Mistake {
    let words = [
        "a backslash is followed by something it cannot escape",
        "not an escape",
        "write `\\\\` for a backslash, or use single quotes",
    ];
    let rest = text.get(at..).unwrap_or_default();
    let mut from = 0;
    while let Some(backslash) = rest.get(from..).and_then(|more| more.find('\\')).map(|found| from + found) {
        let sequence = rest.get(backslash + 1..).unwrap_or_default();
        let Some(escaped) = sequence.chars().next().filter(|c| is_escape(*c, sequence)) else {
            return Mistake::new(at + backslash, words);
        };
        from = backslash + 1 + escaped.len_utf8();
    }
    Mistake::new(at, words)
}

fn is_escape(c: char, sequence: &str) -> bool {
    let hex = |digits: usize| sequence.get(1..=digits).is_some_and(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
    match c {
        'x' => hex(2),
        // Halves of a pair are judged together by the parser; the first one that stands alone is meant.
        'u' => hex(4) && !sequence.get(1..5).is_some_and(|code| half_alone(code, sequence)),
        'U' => hex(8),
        c => "0abtnvfre \"/\\N_LP\t\n\r".contains(c),
    }
}

fn half_alone(code: &str, sequence: &str) -> bool {
    let value = u32::from_str_radix(code, 16).unwrap_or_default();
    let low = |text: &str| text.strip_prefix("\\u").and_then(|code| u32::from_str_radix(code.get(..4)?, 16).ok());
    let followed = low(sequence.get(5..).unwrap_or_default()).is_some_and(|next| (0xdc00..0xe000).contains(&next));
    (0xd800..0xdc00).contains(&value) && !followed
}

/// The word at a place, or one character, or the last character before the end.
fn word(text: &str, at: usize) -> std::ops::Range<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let first = rest.chars().next().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
    at..at + length.clamp(first, 60.max(first)).min(floor(rest, 60))
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
