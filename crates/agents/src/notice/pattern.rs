//! The small language in which signatures describe a notice.
//!
//! Every character stands for itself, except `*` (anything, up to 240 characters), `#` (a number) and `(a|b|)` (one of
//! these; the last one here is empty). Patterns are compared with [`super::plain`] text, so case and typography do not
//! matter.
//!
//! **Invariant:** a pattern starts and ends at the edge of a word: `500` is not found in `line 1500`.

use super::plain::{bare, plain};

const ANYTHING_MAX: usize = 240;

/// The pattern of a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// One sequence for each choice of alternatives.
    choices: Vec<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(String),
    Anything,
    Number,
}

impl Pattern {
    /// Reads a pattern. `None` if a bracket is not closed, or if it would match anything.
    pub(super) fn read(text: &str) -> Option<Self> {
        let choices: Vec<_> = expand(text)?.iter().map(|choice| tokens(&plain(choice))).collect();
        let says_something = |tokens: &Vec<Token>| tokens.iter().any(|token| matches!(token, Token::Literal(_)));
        choices.iter().all(says_something).then_some(Self { choices })
    }

    /// Whether plain text contains it, between the edges of words.
    pub(super) fn is_in(&self, plain: &str) -> bool {
        let starts = || plain.char_indices().map(|(at, _)| at).filter(|&at| edge(plain, at));
        self.choices.iter().any(|tokens| starts().any(|at| fits(tokens, plain, at, &|end| edge(plain, end))))
    }

    /// Whether plain text is exactly this, except for marks and punctuation around it.
    pub(super) fn is_all_of(&self, plain: &str) -> bool {
        let text = bare(plain);
        self.choices.iter().any(|tokens| fits(tokens, text, 0, &|end| bare(&text[end..]).is_empty()))
    }
}

/// Every way to choose among the alternatives. Brackets do not nest.
fn expand(text: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = text.split_once('(') else { return Some(vec![text.to_owned()]) };
    let (inside, after) = rest.split_once(')')?;
    let tails = expand(after)?;
    let all = inside.split('|').flat_map(|word| tails.iter().map(move |tail| format!("{before}{word}{tail}")));
    Some(all.collect())
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    for next in text.chars() {
        match (next, out.last_mut()) {
            ('*', _) => out.push(Token::Anything),
            ('#', _) => out.push(Token::Number),
            (other, Some(Token::Literal(literal))) => literal.push(other),
            (other, _) => out.push(Token::Literal(other.to_string())),
        }
    }
    out
}

/// Whether a word ends or starts at this place, or there is none.
fn edge(text: &str, at: usize) -> bool {
    let word = |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
    !(word(text[..at].chars().next_back()) && word(text[at..].chars().next()))
}

fn fits(tokens: &[Token], text: &str, at: usize, ends: &dyn Fn(usize) -> bool) -> bool {
    let Some((first, rest)) = tokens.split_first() else { return ends(at) };
    match first {
        Token::Literal(literal) => text[at..].starts_with(literal) && fits(rest, text, at + literal.len(), ends),
        Token::Number => match number(&text[at..]) {
            0 => false,
            length => fits(rest, text, at + length, ends),
        },
        Token::Anything => {
            let places = text[at..].char_indices().map(|(offset, _)| at + offset).chain([text.len()]);
            places.take(ANYTHING_MAX + 1).any(|place| fits(rest, text, place, ends))
        }
    }
}

/// The length of the number at the start: digits, with dots and commas between them.
fn number(text: &str) -> usize {
    let end = text.find(|next: char| !(next.is_ascii_digit() || next == '.' || next == ',')).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ',']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        Pattern::read(pattern).unwrap().is_in(&plain(text))
    }

    fn whole(pattern: &str, text: &str) -> bool {
        Pattern::read(pattern).unwrap().is_all_of(&plain(text))
    }

    #[test]
    fn words_are_found_whole() {
        assert!(found("500", "status 500."));
        assert!(!found("500", "line 1500"));
        assert!(!found("rate_limit", "rate_limit_error"));
        assert!(found("(rate|usage) limit", "the USAGE  limit"));
        assert!(found("limit of # tokens", "a limit of 40,000 tokens"));
    }

    #[test]
    fn a_whole_text_has_nothing_before_or_after() {
        assert!(whole("usage limit reached|#", "✗ Usage limit reached|1760000000."));
        assert!(!whole("usage limit reached", "The usage limit reached us late"));
        assert!(whole("limit reached(| · resets *)", "Limit reached ∙ resets 3am"));
        assert!(whole("limit reached(| · resets *)", "Limit reached"));
    }

    #[test]
    fn anything_has_an_end() {
        assert!(!whole("api error: *", &format!("API Error: {}", "x".repeat(ANYTHING_MAX + 1))));
        assert!(whole("api error: *", &format!("API Error: {}", "x".repeat(ANYTHING_MAX))));
    }

    #[test]
    fn a_pattern_that_would_fit_anything_is_none() {
        for bad in ["*", "", "(|limit)", "(open"] {
            assert_eq!(Pattern::read(bad), None, "{bad}");
        }
    }
}
