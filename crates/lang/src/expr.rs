//! Analyses a template or an expression without running it.
//!
//! The text is split into tokens once, and refused if it is too deep or too large. Then the template engine's own
//! parser parses it, and the walk collects the names that it reads, the certain mistakes, and the type of the value.
//!
//! **Invariant:** nothing is evaluated and no constant is folded. A finding is made only if every possible value is
//! wrong. Every range is a byte range of the given text.

mod chain;
mod compare;
mod cost;
mod extent;
mod facts;
mod filter;
pub mod names;
mod reword;
mod scan;
mod value;
mod walk;

#[cfg(test)]
mod tests;

use std::ops::Range;

use longhaul_core::Json;
use longhaul_core::types::Type;
use minijinja::machinery::{self, ast};
use minijinja::syntax::SyntaxConfig;

/// The longest text that is analysed.
const MAX_BYTES: usize = 256 * 1024;

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Text with `{{ … }}` and `{% … %}` in it.
    Template,
    /// An expression without braces; one pair of braces around it is accepted.
    Expression,
}

/// Why a text cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The problem, in plain words.
    pub message: String,
    /// The place in the text.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

/// The names that a text may read.
pub trait NameScope {
    /// The type of a root name; `None` if there is no such name.
    fn root(&self, name: &str) -> Option<Type>;
}

/// The result of the analysis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// The type of the expression. For a template: text, or the type of the expression if it is exactly one `{{ …
    /// }}`.
    pub value: Type,
    /// The names that it reads, in order.
    pub reads: Vec<Read>,
    /// The certain mistakes.
    pub findings: Vec<ExprFinding>,
    /// Each `{{ … }}`.
    pub emits: Vec<Emit>,
    /// Each `{% … %}` and each `{# … #}`.
    pub tags: Vec<Range<usize>>,
    /// The templates that it includes.
    pub includes: Vec<Include>,
}

/// A name that is read, with the fields after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The name itself.
    pub root: String,
    /// The fields after the name.
    pub path: Vec<ChainLink>,
    /// The whole chain as written, `plan.tasks[0]`.
    pub range: Range<usize>,
    /// The name itself.
    pub root_range: Range<usize>,
    /// Whether it may be undefined at this place.
    pub guarded: bool,
}

/// One link of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChainLink {
    /// `.x` or `['x']`, with the place of the name.
    Field(String, Range<usize>),
    /// `[0]`.
    Index,
    /// `[expression]`.
    Dynamic,
}

/// One `{{ … }}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emit {
    /// The range with the braces.
    pub range: Range<usize>,
    /// The range of the content, without blanks.
    pub expr: Range<usize>,
    /// Whether its value is certainly a number, `true` or `false`, as far as its names are known.
    pub is_number: bool,
}

/// A template that another one needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    /// Its name; `None` if it is computed.
    pub name: Option<String>,
    /// The place of the name.
    pub range: Range<usize>,
}

/// A certain mistake.
#[derive(Clone, PartialEq, Debug)]
pub struct ExprFinding {
    /// The place in the text.
    pub range: Range<usize>,
    /// The kind of mistake.
    pub kind: FindingKind,
}

/// The kind of a mistake.
#[derive(Clone, PartialEq, Debug)]
pub enum FindingKind {
    /// A field that cannot exist.
    UnknownField {
        /// The chain before it, as written.
        on: String,
        /// Its name.
        field: String,
        /// The fields that exist.
        known: Vec<String>,
    },
    /// A field of an item that may be an error.
    MayBeItemError {
        /// The item, as written.
        on: String,
        /// The field.
        field: String,
    },
    /// A list is needed, but the value cannot be one.
    NotIterable {
        /// The expression, as written.
        what: String,
        /// The type of the expression.
        found: Type,
    },
    /// A comparison with a constant that can never be equal.
    NeverEqual {
        /// The other side, as written.
        left: String,
        /// The type of that side.
        left_type: Type,
        /// The constant.
        right: Json,
    },
    /// A boolean compared with the text `'true'` or `'false'`.
    TextForBoolean {
        /// The boolean, as written.
        left: String,
        /// The text.
        right: String,
    },
    /// A number compared with a number in quotes.
    TextForNumber {
        /// The number, as written.
        left: String,
        /// The text.
        right: String,
    },
    /// A filter that does not exist.
    UnknownFilter {
        /// Its name.
        name: String,
        /// The filters that exist.
        known: Vec<String>,
    },
    /// A test that does not exist.
    UnknownTest {
        /// Its name.
        name: String,
        /// The tests that exist.
        known: Vec<String>,
    },
    /// A function that does not exist.
    UnknownFunction {
        /// Its name.
        name: String,
        /// The functions that exist.
        known: Vec<String>,
    },
    /// It would use too much time or memory.
    TooCostly {
        /// The reason.
        why: String,
    },
}

/// Parses and analyses a text.
pub fn analyse(text: &str, language: Language, scope: &dyn NameScope) -> Result<Analysis, SyntaxError> {
    parse(text, language)?.analyse(scope)
}

/// A parsed text. It can be walked again when more is known of its names.
pub struct Parsed<'t> {
    text: &'t str,
    tree: Tree<'t>,
    scan: scan::Scan<'t>,
}

enum Tree<'t> {
    /// The text is too long.
    Refused,
    /// A template; and whether it is exactly one `{{ … }}`.
    Template(ast::Stmt<'t>, bool),
    Expression(ast::Expr<'t>),
}

/// Parses a text without looking at its names.
pub fn parse(text: &str, language: Language) -> Result<Parsed<'_>, SyntaxError> {
    if text.len() > MAX_BYTES {
        return Ok(Parsed { text, tree: Tree::Refused, scan: scan::Scan::of("", language) });
    }
    let whole = whole_expression(text).is_some();
    let language = if whole { Language::Template } else { language };
    let scan = scan::Scan::of(text, language);
    scan::check_depth(&scan.tokens)?;
    let reworded = |error| reword::error(text, &scan, &error);
    let tree = match language {
        Language::Template => {
            Tree::Template(machinery::parse(text, "", SyntaxConfig::default()).map_err(reworded)?, whole)
        }
        Language::Expression => Tree::Expression(machinery::parse_expr(text).map_err(reworded)?),
    };
    // The engine's parser ends an expression at an unknown character, as if nothing came after it.
    match &scan.error {
        Some(error) => Err(reword::unread(text, &scan, error)),
        None => Ok(Parsed { text, tree, scan }),
    }
}

impl Parsed<'_> {
    /// Analyses the text with the types of its names.
    pub fn analyse(&self, scope: &dyn NameScope) -> Result<Analysis, SyntaxError> {
        let mut walker = walk::Walker::new(self.text, scope, self.scan.macros());
        let value = match &self.tree {
            Tree::Refused => return Ok(refused(self.text)),
            Tree::Template(tree, whole) => {
                walker.statement(tree);
                walker.emitted().filter(|_| *whole).unwrap_or(Type::String)
            }
            Tree::Expression(tree) => walker.value(tree),
        };
        let marks = self.scan.marks(self.text).typed(walker.emits());
        let mut analysis = Analysis { value, emits: marks.emits, tags: marks.tags, ..walker.finish() };
        analysis.findings.extend(cost::too_many(&analysis));
        analysis.findings.sort_by_key(|finding| finding.range.start);
        reword::foreign_words(&analysis, scope).map_or(Ok(analysis), Err)
    }
}

fn refused(text: &str) -> Analysis {
    let why = format!("the text has {} bytes, and {MAX_BYTES} are the most that is read as a template", text.len());
    let finding = ExprFinding { range: 0..0, kind: FindingKind::TooCostly { why } };
    Analysis { findings: vec![finding], ..Analysis::default() }
}

/// If `text` is exactly one `{{ e }}`, with only blanks around it: `e` without blanks, and its range.
pub fn whole_expression(text: &str) -> Option<(&str, Range<usize>)> {
    let outer = text.trim();
    let inner = outer.strip_prefix("{{")?.strip_suffix("}}")?;
    if text.len() > MAX_BYTES {
        return None;
    }
    let range = if inner.contains(['{', '}']) {
        let start = text.len() - text.trim_start().len();
        let emit = scan::Scan::of(text, Language::Template).only_emit()?;
        (emit.range == (start..start + outer.len())).then_some(emit.expr)?
    } else {
        let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
        let inner = inner.strip_suffix(['-', '+']).unwrap_or(inner).trim();
        let start = inner.as_ptr() as usize - text.as_ptr() as usize;
        start..start + inner.len()
    };
    let inner = text.get(range.clone()).filter(|inner| !inner.is_empty())?;
    Some((inner, range))
}

/// Whether the text contains template syntax.
pub fn is_template(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, b"{{" | b"{%" | b"{#"))
}
