//! Rewrites the engine's syntax errors for authors of workflows.
//!
//! The engine names the token that it expected next. It helps more to name the unfinished part, or the syntax of
//! another language, so those come first.

use std::ops::Range;

use minijinja::Error;
use minijinja::machinery::Token;

use super::scan::{Scan, opens_block};
use super::{Analysis, NameScope, SyntaxError};

/// Words of other languages, with ours.
const FOREIGN: &[(&str, &str)] =
    &[("null", "none"), ("NULL", "none"), ("nil", "none"), ("TRUE", "true"), ("FALSE", "false")];

/// Operators of other languages, with ours.
const OPERATORS: &[(&str, &str)] = &[
    ("===", "`===` is not an operator; write `==`"),
    ("!==", "`!==` is not an operator; write `!=`"),
    ("&&", "`&&` is not an operator; write `and`"),
    ("||", "`||` is not an operator; write `or`"),
    ("??", "`??` is not an operator; write `| default(…)`"),
    ("?", "`?` is not an operator; write `a if condition else b`"),
    ("!", "`!` is not an operator; write `not`"),
    ("=", "`=` does not compare; write `==`"),
    ("&", "`&` is not an operator; write `and`, or `~` to join texts"),
    ("$", "names have no `$` here; write the name alone"),
];

/// The meaning of the engine's error.
pub(super) fn error(text: &str, scan: &Scan<'_>, error: &Error) -> SyntaxError {
    explained(&Case { text, scan, range: place(text, error), detail: error.detail().unwrap_or_default() })
}

/// The error for a text that could not be split into tokens.
pub(super) fn unread(text: &str, scan: &Scan<'_>, error: &Error) -> SyntaxError {
    let end = scan.tokens.last().map_or(0, |(_, range)| range.end);
    let rest = text.get(end..).unwrap_or_default();
    let start = end + rest.len() - rest.trim_start().len();
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    explained(&Case { text, scan, range: start..start + length, detail: error.detail().unwrap_or_default() })
}

fn explained(case: &Case<'_, '_>) -> SyntaxError {
    case.never_closed()
        .or_else(|| case.operator())
        .or_else(|| case.bracket())
        .or_else(|| case.block())
        .or_else(|| case.missing())
        .unwrap_or_else(|| case.plainly())
}

/// The error for a name that is a word of another language, if no value has that name.
pub(super) fn foreign_words(analysis: &Analysis, scope: &dyn NameScope) -> Option<SyntaxError> {
    analysis.reads.iter().find_map(|read| {
        let (word, ours) = FOREIGN.iter().find(|(word, _)| *word == read.root)?;
        if scope.root(word).is_some() {
            return None;
        }
        Some(said(format!("`{word}` is not a value here"), read.root_range.clone(), &format!("write `{ours}`")))
    })
}

fn said(message: String, range: Range<usize>, help: &str) -> SyntaxError {
    SyntaxError { message, range, help: (!help.is_empty()).then(|| help.to_owned()) }
}

/// The error's range, limited to the text.
fn place(text: &str, error: &Error) -> Range<usize> {
    let range = error.range().unwrap_or(0..text.len());
    let floor = text.floor_char_boundary(range.start.min(text.len()));
    floor..text.ceil_char_boundary(range.end.clamp(floor, text.len()))
}

struct Case<'a, 't> {
    text: &'t str,
    scan: &'a Scan<'t>,
    range: Range<usize>,
    detail: &'a str,
}

impl<'t> Case<'_, 't> {
    /// The tokens before the error; if the text ends too early, the error is at the last token.
    fn before(&self) -> &[(Token<'t>, Range<usize>)] {
        let end = if self.detail.contains("end of input") { self.range.end } else { self.range.start };
        let count = self.scan.tokens.partition_point(|(_, range)| range.start < end);
        self.scan.tokens.get(..count).unwrap_or_default()
    }

    fn token(&self) -> Option<&(Token<'t>, Range<usize>)> {
        self.scan.tokens.iter().find(|(_, range)| range.start == self.range.start)
    }

    fn found(&self) -> &'t str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    /// The tag around the error: its opening, and its closing sign.
    fn tag(&self) -> Option<(Range<usize>, &'static str)> {
        let upto = self.scan.tokens.iter().take_while(|(_, range)| range.start <= self.range.start);
        let mut open = None;
        for (token, range) in upto {
            match token {
                Token::VariableStart => open = Some((range.clone(), "}}")),
                Token::BlockStart => open = Some((range.clone(), "%}")),
                Token::VariableEnd | Token::BlockEnd if range.start < self.range.start => open = None,
                _ => {}
            }
        }
        open
    }

    fn never_closed(&self) -> Option<SyntaxError> {
        if self.detail.contains("end of comment") {
            let at = self.text.rfind("{#")?;
            let help = "write `#}` at its end; to write `{#` itself, put `{% raw %}` and `{% endraw %}` around it";
            return Some(said("this `{#` is never closed".into(), at..at + 2, help));
        }
        if self.detail.contains("end of raw") {
            let at = self.text.rfind("{%")?;
            return Some(said("this `{% raw %}` is never closed".into(), at..at + 2, "add `{% endraw %}`"));
        }
        let (open, closer) = self.tag()?;
        let rest = self.text.get(open.end..)?;
        let close = rest.find(closer);
        let again = rest.find("{{").into_iter().chain(rest.find("{%")).min();
        let closed = close.is_some_and(|close| again.is_none_or(|again| close < again));
        let braces = self.text.get(open.start..open.start + 2)?;
        let message = format!("this `{braces}` is never closed");
        let help = format!("write `{closer}` at its end");
        (!closed).then(|| said(message, open.start..open.start + 2, &help))
    }

    fn operator(&self) -> Option<SyntaxError> {
        let around =
            (self.range.start.saturating_sub(2)..=self.range.start).filter(|at| self.text.is_char_boundary(*at));
        let mut hits = around.flat_map(|at| {
            let rest = self.text.get(at..).unwrap_or_default();
            OPERATORS.iter().filter(move |(sign, _)| rest.starts_with(sign)).map(move |hit| (at, hit))
        });
        // The error may be in the middle of the operator, so the operator must reach it.
        let (at, (sign, words)) = hits.find(|(at, (sign, _))| at + sign.len() > self.range.start)?;
        let (message, help) = words.split_once("; ")?;
        let comparison = matches!(self.text.as_bytes().get(at..at + 2), Some(b"==" | b"!=")) && sign.len() < 3;
        (!comparison).then(|| said(message.to_owned(), at..at + sign.len(), help))
    }

    fn bracket(&self) -> Option<SyntaxError> {
        if self.detail.contains("end of string") {
            let start = self.before().last().map_or(0, |(_, range)| range.end);
            let quote = start + self.text.get(start..)?.find(['"', '\''])?;
            return Some(said("this quote is never closed".into(), quote..quote + 1, "add the same quote at its end"));
        }
        let mut open: Vec<(&str, Range<usize>)> = Vec::new();
        for (token, range) in self.before() {
            match token {
                Token::VariableStart | Token::BlockStart => open.clear(),
                Token::ParenOpen => open.push((")", range.clone())),
                Token::BracketOpen => open.push(("]", range.clone())),
                Token::BraceOpen => open.push(("}", range.clone())),
                Token::ParenClose | Token::BracketClose | Token::BraceClose => drop(open.pop()),
                _ => {}
            }
        }
        let ended = self.detail.contains("end of input");
        let wrong = matches!(self.token(), Some((Token::ParenClose | Token::BracketClose | Token::BraceClose, _)));
        let (closer, range) = open.pop().filter(|(closer, _)| ended || (wrong && *closer != self.found()))?;
        let message = format!("this `{}` is never closed", self.text.get(range.clone())?);
        Some(said(message, range, &format!("add `{closer}`")))
    }

    /// The open blocks at the error: keyword and place of each tag.
    fn open_blocks(&self) -> Vec<(&'t str, Range<usize>)> {
        let mut open = Vec::new();
        let tokens = &self.scan.tokens;
        for (at, pair) in tokens.windows(2).enumerate() {
            let [(Token::BlockStart, start), (Token::Ident(word), range)] = pair else { continue };
            if range.start >= self.range.start && self.detail.contains("statement") {
                break;
            }
            let rest = tokens.get(at + 1..).unwrap_or_default();
            if opens_block(word, rest) {
                let end = rest.iter().find(|(token, _)| matches!(token, Token::BlockEnd));
                open.push((*word, start.start..end.map_or(range.end, |(_, end)| end.end)));
            } else if word.starts_with("end") {
                open.pop();
            }
        }
        open
    }

    fn block(&self) -> Option<SyntaxError> {
        if self.detail.contains("end of input, expected end of block") {
            let (word, range) = self.open_blocks().pop()?;
            let message = format!("this `{{% {word} %}}` is never closed");
            return Some(said(message, range, &format!("add `{{% end{word} %}}`")));
        }
        let word = self.detail.strip_prefix("unknown statement ")?;
        let open = self.open_blocks().pop().map(|(open, _)| open);
        let message = match (word, open) {
            ("else" | "elif", _) => format!("this `{{% {word} %}}` belongs to no `{{% if %}}`"),
            (end, None) if end.starts_with("end") => format!("this `{{% {word} %}}` closes nothing"),
            (end, Some(open)) if end.starts_with("end") => {
                format!("`{{% {word} %}}` is where `{{% end{open} %}}` is needed")
            }
            _ => format!("there is no tag `{word}`"),
        };
        let help = match open {
            Some(open) if word.starts_with("end") => format!("close `{{% {open} %}}` first"),
            _ if word.starts_with("end") || word.starts_with("el") => {
                "delete it, or add what it should close".to_owned()
            }
            _ => "the tags are if, for, set, with, macro, call, include, import, from, filter, block, raw".to_owned(),
        };
        Some(said(message, self.range.clone(), &help))
    }

    fn missing(&self) -> Option<SyntaxError> {
        let ended = self.detail.contains("end of input") || self.detail.contains("unexpected end of ");
        let last = self.before().last();
        match last {
            Some((Token::Pipe, range)) => Some(said("a filter is missing after `|`".into(), range.clone(), "")),
            Some((Token::Dot, range)) => Some(said("a name is missing after `.`".into(), range.clone(), "")),
            Some((Token::VariableStart, range)) if ended => Some(said(
                "there is nothing between the braces".into(),
                range.start..self.range.end,
                "write an expression",
            )),
            Some((Token::VariableStart, _)) if self.found() == "." => {
                let help = "to write `{{` itself, put `{% raw %}` and `{% endraw %}` around it";
                Some(said("nothing is before the `.`".into(), self.range.clone(), help))
            }
            None if self.detail.contains("end of input") => {
                Some(said("an expression is missing".into(), 0..self.text.len(), ""))
            }
            Some((_, range)) if ended && self.detail.contains("end of input, expected expression") => {
                Some(said("something is missing after this".into(), range.clone(), ""))
            }
            Some((_, range))
                if self.detail == "unexpected end of variable block" || self.detail == "unexpected end of block" =>
            {
                Some(said("something is missing after this".into(), range.clone(), ""))
            }
            _ => None,
        }
    }

    fn plainly(&self) -> SyntaxError {
        let found = self.found();
        let message = match self.detail {
            detail if detail.contains("recursion") => "this is nested more deeply than is allowed".to_owned(),
            detail if detail.contains("inside a loop") => format!("`{found}` is outside of every loop"),
            "" => "this text has an escape that does not exist".to_owned(),
            detail => match detail.strip_prefix("unexpected ") {
                Some("character") => format!("`{found}` is not expected here"),
                Some(rest) if rest.starts_with("end of") => format!("{} is missing here", wanted(rest)),
                Some(_) if !found.trim().is_empty() => format!("`{found}` is not expected here"),
                _ => detail.to_owned(),
            },
        };
        let help = match self.token() {
            Some((Token::Ident(_) | Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Float(_), _))
                if self.detail.starts_with("unexpected") =>
            {
                "join values with `~`, conditions with `and` or `or`"
            }
            _ => "",
        };
        said(message, self.range.clone(), help)
    }
}

/// The token that the engine expected.
fn wanted(rest: &str) -> &str {
    match rest.split_once("expected ").map_or("", |(_, wanted)| wanted) {
        "" | "expression" => "an expression",
        "identifier" => "a name",
        "identifier or integer" => "a name or a number",
        "assignment operator" => "`=`",
        "in" => "`in`",
        "end of block" => "`%}`",
        "end of variable block" => "`}}`",
        "block keyword" | "keyword" | "statement" => "a keyword",
        other => other,
    }
}
