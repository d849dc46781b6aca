//! Translates conditions of Valet's own language into native expressions.
//!
//! The language has literals, dotted paths, `!`, `&&`, `||`, equality and ordering. Equality is strict in both. An
//! ordering is true only between numbers, so it becomes `ordered`.

use std::ops::Range;

use crate::dialect::spelling::quoted;

/// Why a text is not a condition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// The place in the text.
    pub(super) range: Range<usize>,
    /// The problem, in words that fit a label.
    pub(super) label: String,
}

/// A path that a condition reads.
pub(super) struct PathAt<'t> {
    /// The path, as written.
    pub(super) path: &'t str,
    /// The place in the text.
    pub(super) range: Range<usize>,
}

/// A translated condition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    /// The native expression.
    pub(super) text: String,
    /// Places of comparisons with `null`.
    pub(super) null_tests: Vec<Range<usize>>,
}

/// Translates a condition; `read` gives the native form of a path.
pub(super) fn translate<'t>(
    text: &'t str,
    read: &mut dyn FnMut(PathAt<'t>) -> String,
) -> Result<Translated, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, end: text.len(), depth: 0, null_tests: Vec::new(), read };
    let whole = parser.either()?;
    match parser.peek() {
        None => Ok(Translated { text: whole.text, null_tests: parser.null_tests }),
        Some(token) => {
            Err(SyntaxError { range: token.range.clone(), label: "the condition is over before this".into() })
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind<'t> {
    /// A native literal already, except for texts.
    Number(&'t str),
    Text(&'t str),
    Path(&'t str),
    Operator(&'t str),
}

#[derive(Debug)]
struct Token<'t> {
    kind: Kind<'t>,
    range: Range<usize>,
}

const OPERATORS: &[&str] = &["===", "!==", "==", "!=", ">=", "<=", "&&", "||", "{{", "}}", ">", "<", "!", "(", ")"];

fn tokens(text: &str) -> Result<Vec<Token<'_>>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let token = token(text, at, c)?;
        at = token.range.end;
        tokens.push(token);
    }
    Ok(tokens)
}

fn token(text: &str, at: usize, first: char) -> Result<Token<'_>, SyntaxError> {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
        return Ok(Token { kind: Kind::Operator(operator), range: at..at + operator.len() });
    }
    let length_while = |fits: fn(char) -> bool| rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
    match first {
        '\'' | '"' => string(text, at, first),
        '0'..='9' => {
            let length = length_while(|c| c.is_ascii_digit() || c == '.');
            let number = &rest[..length];
            let bad = SyntaxError { range: at..at + length, label: "not a number".into() };
            number.parse::<f64>().map_err(|_| bad)?;
            Ok(Token { kind: Kind::Number(number), range: at..at + length })
        }
        'A'..='Z' | 'a'..='z' | '_' | '$' => {
            let length = length_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'));
            Ok(Token { kind: Kind::Path(&rest[..length]), range: at..at + length })
        }
        '-' => Err(SyntaxError { range: at..at + 1, label: "numbers have no sign here".into() }),
        '=' => Err(SyntaxError { range: at..at + 1, label: "one `=` compares nothing: write `==`".into() }),
        _ => Err(SyntaxError { range: at..at + first.len_utf8(), label: "this means nothing in a condition".into() }),
    }
}

/// A quoted text; the token is the part between the quotes, escapes included.
fn string(text: &str, at: usize, quote: char) -> Result<Token<'_>, SyntaxError> {
    let mut escaped = false;
    for (offset, c) in text.get(at + 1..).unwrap_or_default().char_indices() {
        if c == quote && !escaped {
            let inside = &text[at + 1..at + 1 + offset];
            return Ok(Token { kind: Kind::Text(inside), range: at..at + offset + 2 });
        }
        escaped = c == '\\' && !escaped;
    }
    Err(SyntaxError { range: at..text.len(), label: "this text is never closed".into() })
}

/// The value of a quoted text.
fn unescape(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

/// The precedence of a native expression, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    Or,
    And,
    Not,
    Compare,
    Atom,
}

struct Part {
    text: String,
    hold: Hold,
    null: bool,
}

impl Part {
    fn new(hold: Hold, text: String) -> Self {
        Self { text, hold, null: false }
    }

    /// The expression as an operand that needs `hold`.
    fn within(self, hold: Hold) -> String {
        if self.hold >= hold { self.text } else { format!("({})", self.text) }
    }
}

/// The deepest nesting of a condition.
const DEPTH_MAX: usize = 50;

struct Parser<'p, 't> {
    tokens: &'p [Token<'t>],
    at: usize,
    end: usize,
    depth: usize,
    null_tests: Vec<Range<usize>>,
    read: &'p mut dyn FnMut(PathAt<'t>) -> String,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at)
    }

    fn operator(&mut self, wanted: &[&str]) -> Option<&'t str> {
        match self.peek()?.kind {
            Kind::Operator(operator) if wanted.contains(&operator) => {
                self.at += 1;
                Some(operator)
            }
            _ => None,
        }
    }

    fn either(&mut self) -> Result<Part, SyntaxError> {
        let mut left = self.both()?;
        while self.operator(&["||"]).is_some() {
            let right = self.both()?;
            left = Part::new(Hold::Or, format!("{} or {}", left.within(Hold::Or), right.within(Hold::And)));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Part, SyntaxError> {
        let mut left = self.equality()?;
        while self.operator(&["&&"]).is_some() {
            let right = self.equality()?;
            left = Part::new(Hold::And, format!("{} and {}", left.within(Hold::And), right.within(Hold::Not)));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Part, SyntaxError> {
        let mut left = self.ordering()?;
        while let Some(operator) = self.operator(&["===", "!==", "==", "!="]) {
            let place = self.tokens[self.at - 1].range.clone();
            let right = self.ordering()?;
            if left.null || right.null {
                self.null_tests.push(place);
            }
            let native = if operator.starts_with('!') { "!=" } else { "==" };
            let text = format!("{} {native} {}", left.within(Hold::Atom), right.within(Hold::Atom));
            left = Part::new(Hold::Compare, text);
        }
        Ok(left)
    }

    fn ordering(&mut self) -> Result<Part, SyntaxError> {
        let mut left = self.unary()?;
        while let Some(operator) = self.operator(&[">=", "<=", ">", "<"]) {
            let right = self.unary()?;
            left = Part::new(Hold::Atom, format!("ordered({}, '{operator}', {})", left.text, right.text));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Part, SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let at = self.peek().map_or(self.end, |token| token.range.start);
            return Err(SyntaxError { range: at..self.end, label: "nested too deeply".into() });
        }
        let part = if self.operator(&["!"]).is_some() {
            self.unary().map(|inner| Part::new(Hold::Not, format!("not {}", inner.within(Hold::Not))))
        } else {
            self.primary()
        };
        self.depth -= 1;
        part
    }

    fn primary(&mut self) -> Result<Part, SyntaxError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(SyntaxError { range: self.end..self.end, label: "a value is missing here".into() });
        };
        self.at += 1;
        match token.kind {
            Kind::Number(number) => Ok(Part::new(Hold::Atom, number.to_owned())),
            Kind::Text(inside) => Ok(Part::new(Hold::Atom, quoted(&unescape(inside)))),
            Kind::Path(path) => self.path(path, token.range.clone()),
            Kind::Operator("(") => {
                let inner = self.either()?;
                self.closed(")", &token.range)?;
                Ok(inner)
            }
            Kind::Operator("{{") => {
                let inside = self.braced(&token.range)?;
                self.closed("}}", &token.range)?;
                Ok(inside)
            }
            Kind::Operator(_) => {
                Err(SyntaxError { range: token.range.clone(), label: "a value is missing before this".into() })
            }
        }
    }

    /// The content of braces: one path, never braces again.
    fn braced(&mut self, opening: &Range<usize>) -> Result<Part, SyntaxError> {
        match self.tokens.get(self.at) {
            Some(Token { kind: Kind::Path(path), range }) => {
                self.at += 1;
                self.path(path, range.clone())
            }
            Some(token) => {
                Err(SyntaxError { range: token.range.clone(), label: "only a path can be in braces".into() })
            }
            None => Err(SyntaxError { range: opening.clone(), label: "no `}}` closes this".into() }),
        }
    }

    fn closed(&mut self, by: &str, opening: &Range<usize>) -> Result<(), SyntaxError> {
        match self.operator(&[by]) {
            Some(_) => Ok(()),
            None => Err(SyntaxError { range: opening.clone(), label: format!("no `{by}` closes this") }),
        }
    }

    fn path(&mut self, path: &'t str, range: Range<usize>) -> Result<Part, SyntaxError> {
        match path {
            "true" | "false" => return Ok(Part::new(Hold::Atom, path.to_owned())),
            "null" | "undefined" => {
                let null = path == "null";
                return Ok(Part { text: "none".to_owned(), hold: Hold::Atom, null });
            }
            _ => {}
        }
        if path.split('.').any(str::is_empty) || path.ends_with('-') {
            return Err(SyntaxError { range, label: "a part of this path is missing".into() });
        }
        Ok(Part::new(Hold::Atom, (self.read)(PathAt { path, range })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str) -> Result<Translated, SyntaxError> {
        translate(text, &mut |at: PathAt<'_>| format!("<{}>", at.path))
    }

    #[test]
    fn conditions_become_native_expressions() {
        for (condition, native) in [
            ("a", "<a>"),
            ("!a", "not <a>"),
            ("!!a", "not not <a>"),
            ("a == 'x'", "<a> == 'x'"),
            ("a === \"it's\"", r"<a> == 'it\'s'"),
            ("a != 1.5", "<a> != 1.5"),
            ("a !== false", "<a> != false"),
            ("a > 3", "ordered(<a>, '>', 3)"),
            ("variables.a.b <= outputs.c", "ordered(<variables.a.b>, '<=', <outputs.c>)"),
            ("a && b || c && !d", "<a> and <b> or <c> and not <d>"),
            ("(a || b) && c", "(<a> or <b>) and <c>"),
            ("a && (b || c)", "<a> and (<b> or <c>)"),
            ("a || (b || c)", "<a> or (<b> or <c>)"),
            ("!(a && b)", "not (<a> and <b>)"),
            ("!a == b", "(not <a>) == <b>"),
            ("a == b == c", "(<a> == <b>) == <c>"),
            ("a > 1 == true", "ordered(<a>, '>', 1) == true"),
            ("{{variables.flag}} === \"done\"", "<variables.flag> == 'done'"),
            ("{{ a }} && {{ b }}", "<a> and <b>"),
            ("outputs.fetch-it.n >= 1", "ordered(<outputs.fetch-it.n>, '>=', 1)"),
            ("a == null", "<a> == none"),
            (r#"a == "q\"\\n""#, r#"<a> == 'q"\\n'"#),
        ] {
            assert_eq!(translated(condition).map(|whole| whole.text), Ok(native.to_owned()), "{condition}");
        }
    }

    #[test]
    fn a_comparison_with_null_is_pointed_out() {
        let first = |text| translated(text).ok().and_then(|whole| whole.null_tests.first().cloned());
        assert_eq!(first("a == null || b"), Some(2..4));
        assert_eq!(first("null !== a"), Some(5..8));
        assert_eq!(first("a == b"), None);
    }

    #[test]
    fn mistakes_have_their_place() {
        for (condition, range, label) in [
            ("a ==", 4..4, "a value is missing here"),
            ("", 0..0, "a value is missing here"),
            ("a b", 2..3, "the condition is over before this"),
            ("(a", 0..1, "no `)` closes this"),
            ("{{a", 0..2, "no `}}` closes this"),
            ("a == 'x", 5..7, "this text is never closed"),
            ("a = 1", 2..3, "one `=` compares nothing: write `==`"),
            ("a > -1", 4..5, "numbers have no sign here"),
            ("a..b", 0..4, "a part of this path is missing"),
            ("a + 1", 2..3, "this means nothing in a condition"),
            ("&& a", 0..2, "a value is missing before this"),
            ("1.2.3", 0..5, "not a number"),
            ("é", 0..2, "this means nothing in a condition"),
        ] {
            assert_eq!(translated(condition), Err(SyntaxError { range, label: label.to_owned() }), "{condition}");
        }
    }

    #[test]
    fn a_deep_condition_is_refused() {
        assert!(translated(&"!".repeat(10_000)).is_err());
        assert!(translated(&"(".repeat(10_000)).is_err());
        assert!(translated(&"{{".repeat(10_000)).is_err());
    }
}
