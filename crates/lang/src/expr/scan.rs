//! Splits a text into tokens: finds the tags, and whether it is too deep for the parser.
//!
//! The engine's parser and the drop of its tree are recursive, partly without a limit. This pass is not, so it runs
//! first.
//!
//! **Invariant:** a text that passes [`check_depth`] can be parsed, walked and dropped on a small stack.

use std::ops::Range;

use longhaul_core::types::Type;
use minijinja::Error;
use minijinja::machinery::{Span, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::{Emit, Language, SyntaxError};

/// The most brackets inside brackets, or blocks inside blocks.
const MAX_NESTING: usize = 60;
/// The most operators in one expression, or `elif`s in one `if`: each is one level of the tree.
const MAX_CHAIN: usize = 200;

/// The tokens of a text, up to the first error.
pub(super) struct Scan<'t> {
    pub(super) tokens: Vec<(Token<'t>, Range<usize>)>,
    pub(super) error: Option<Error>,
}

/// The places of a template's tags.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) emits: Vec<Emit>,
    pub(super) tags: Vec<Range<usize>>,
}

impl Marks {
    /// Adds the type of each value. In a text with loops the two lists differ, and no types are added.
    pub(super) fn typed(mut self, types: &[Type]) -> Self {
        if self.tags.is_empty() && types.len() == self.emits.len() {
            for (emit, value) in self.emits.iter_mut().zip(types) {
                emit.is_number = matches!(value, Type::Integer | Type::Number | Type::Boolean);
            }
        }
        self
    }
}

/// The bytes of a span.
pub(super) fn bytes(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

impl<'t> Scan<'t> {
    pub(super) fn of(text: &'t str, language: Language) -> Self {
        let mut tokens = Vec::new();
        for token in tokenize(text, language == Language::Expression, SyntaxConfig::default()) {
            match token {
                Ok((token, span)) => tokens.push((token, bytes(span))),
                Err(error) => return Self { tokens, error: Some(error) },
            }
        }
        Self { tokens, error: None }
    }

    /// The names of the macros that the text defines.
    pub(super) fn macros(&self) -> Vec<&'t str> {
        let names = self.tokens.windows(3).filter_map(|three| match three {
            [(Token::BlockStart, _), (Token::Ident("macro"), _), (Token::Ident(name), _)] => Some(*name),
            _ => None,
        });
        names.collect()
    }

    /// The `{{ … }}`, if it is the only tag.
    pub(super) fn only_emit(&self) -> Option<Emit> {
        let opens = |token: &Token<'_>| matches!(token, Token::VariableStart | Token::BlockStart);
        let mut starts = self.tokens.iter().filter(|(token, _)| opens(token));
        let (Some((Token::VariableStart, _)), None, None) = (starts.next(), starts.next(), &self.error) else {
            return None;
        };
        self.emits().next()
    }

    fn emits(&self) -> impl Iterator<Item = Emit> {
        let mut open: Option<Range<usize>> = None;
        let mut inside = 0..0;
        self.tokens.iter().filter_map(move |(token, range)| match token {
            Token::VariableStart => {
                open = Some(range.clone());
                inside = range.end..range.end;
                None
            }
            Token::VariableEnd => {
                let start = open.take()?.start;
                Some(Emit { range: start..range.end, expr: inside.clone(), is_number: false })
            }
            _ => {
                let start = if inside.is_empty() { range.start } else { inside.start };
                inside = start..range.end;
                None
            }
        })
    }

    /// The places of the tags.
    pub(super) fn marks(&self, text: &str) -> Marks {
        let mut tags = Vec::new();
        let mut start = 0;
        let mut end = 0;
        for (token, range) in &self.tokens {
            match token {
                Token::TemplateData(_) | Token::VariableStart => unseen(text, end..range.start, &mut tags),
                Token::BlockStart => {
                    unseen(text, end..range.start, &mut tags);
                    start = range.start;
                }
                Token::BlockEnd => tags.push(start..range.end),
                _ => {}
            }
            end = range.end;
        }
        unseen(text, end..text.len(), &mut tags);
        Marks { emits: self.emits().collect(), tags }
    }
}

/// Comments and `raw` tags have no tokens. They are found in the gaps.
fn unseen(text: &str, gap: Range<usize>, tags: &mut Vec<Range<usize>>) {
    let mut at = gap.start;
    while let Some(rest) = text.get(at..gap.end) {
        let Some(open) = rest.find("{#").into_iter().chain(rest.find("{%")).min() else { return };
        let closer = if rest[open..].starts_with("{#") { "#}" } else { "%}" };
        let Some(close) = rest[open + 2..].find(closer) else { return };
        let end = at + open + 2 + close + 2;
        tags.push(at + open..end);
        at = end;
    }
}

/// Refuses a text that is too deep for the parser or the walk.
pub(super) fn check_depth(tokens: &[(Token<'_>, Range<usize>)]) -> Result<(), SyntaxError> {
    let mut levels = Levels::default();
    let mut blocks = Blocks::default();
    for (at, (token, range)) in tokens.iter().enumerate() {
        levels.token(token);
        if matches!(token, Token::BlockStart) {
            blocks.tag(tokens.get(at + 1..).unwrap_or_default());
        }
        if levels.too_deep() {
            return Err(too_deep(
                range,
                "an expression",
                "split it with `{% set … %}`, or compute parts in earlier steps",
            ));
        }
        if blocks.too_deep() {
            return Err(too_deep(range, "a block", "move inner blocks into their own template"));
        }
    }
    Ok(())
}

fn too_deep(range: &Range<usize>, what: &str, help: &str) -> SyntaxError {
    SyntaxError {
        message: format!("{what} is nested more deeply than is allowed"),
        range: range.clone(),
        help: Some(help.to_owned()),
    }
}

/// The depth of an expression's tree: for each open bracket, the operators beside it.
#[derive(Default)]
struct Levels {
    open: Vec<usize>,
    here: usize,
    total: usize,
}

impl Levels {
    fn token(&mut self, token: &Token<'_>) {
        match token {
            Token::VariableStart | Token::BlockStart => *self = Self::default(),
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                self.one_more();
                self.open.push(self.here);
                self.here = 0;
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                self.total -= self.here;
                self.here = self.open.pop().unwrap_or_default();
            }
            Token::Comma | Token::Colon => {
                self.total -= self.here;
                self.here = 0;
            }
            other if is_operator(other) => self.one_more(),
            _ => {}
        }
    }

    fn one_more(&mut self) {
        self.here += 1;
        self.total += 1;
    }

    fn too_deep(&self) -> bool {
        self.open.len() > MAX_NESTING || self.total > MAX_CHAIN
    }
}

fn is_operator(token: &Token<'_>) -> bool {
    match token {
        Token::Ident(word) => matches!(*word, "and" | "or" | "not" | "is" | "in" | "if" | "else"),
        Token::TemplateData(_) | Token::VariableEnd | Token::BlockEnd => false,
        Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Int128(_) | Token::Float(_) => false,
        _ => true,
    }
}

/// The open blocks, each with its `elif`s.
#[derive(Default)]
struct Blocks {
    open: Vec<usize>,
    elifs: usize,
}

impl Blocks {
    fn tag(&mut self, rest: &[(Token<'_>, Range<usize>)]) {
        let Some((Token::Ident(word), _)) = rest.first() else { return };
        if *word == "elif" {
            self.elifs += 1;
            if let Some(elifs) = self.open.last_mut() {
                *elifs += 1;
            }
        } else if opens_block(word, rest) {
            self.open.push(0);
        } else if word.starts_with("end") {
            self.elifs -= self.open.pop().unwrap_or_default().min(self.elifs);
        }
    }

    fn too_deep(&self) -> bool {
        self.open.len() > MAX_NESTING || self.elifs > MAX_CHAIN
    }
}

/// Whether a tag needs a closing tag. `rest` starts at its keyword.
pub(super) fn opens_block(word: &str, rest: &[(Token<'_>, Range<usize>)]) -> bool {
    match word {
        "for" | "if" | "with" | "filter" | "macro" | "call" | "block" | "autoescape" => true,
        "set" => {
            let mut tag = rest.iter().map(|(token, _)| token).take_while(|token| !matches!(token, Token::BlockEnd));
            // A bracket ends the search, because an assignment target has none.
            !tag.any(|token| matches!(token, Token::Assign))
        }
        _ => false,
    }
}
