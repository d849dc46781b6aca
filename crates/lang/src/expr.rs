//! What a template or an expression says, found without running it.
//!
//! The text is cut into tokens once, refused if it is too deep or too large to be worth parsing, then
//! parsed by the template engine's own parser and walked. The walk yields what is read, what is
//! certainly wrong, and the type of the value.
//!
//! **Invariant:** nothing is evaluated and no constant is folded; a finding is only made where every
//! possible value is wrong; every range is a byte range into the text that was given.

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

/// Texts longer than this are not read at all.
const MAX_BYTES: usize = 256 * 1024;

/// How a text is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Text with `{{ … }}` and `{% … %}` in it.
    Template,
    /// An expression without braces; one pair of braces around it is accepted.
    Expression,
}

/// Why a text cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// What is wrong, in plain words.
    pub message: String,
    /// Where.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

/// The names that a text may read.
pub trait Scope {
    /// The type of a root name; `None` if there is no such name.
    fn root(&self, name: &str) -> Option<Type>;
}

/// What is known of a text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// The type of the expression; of a template text, or what is inside if it is exactly one `{{ … }}`.
    pub value: Type,
    /// The names that are read, in the order in which they are met.
    pub reads: Vec<Read>,
    /// What is certainly wrong.
    pub findings: Vec<Finding>,
    /// Each `{{ … }}`.
    pub emits: Vec<Emit>,
    /// Each `{% … %}` and each `{# … #}`.
    pub tags: Vec<Range<usize>>,
    /// The other templates that are needed.
    pub includes: Vec<Include>,
}

/// A name that is read, with the fields after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The name itself.
    pub root: String,
    /// What is taken from it.
    pub path: Vec<Key>,
    /// The whole chain as written, `plan.tasks[0]`.
    pub range: Range<usize>,
    /// The name itself.
    pub root_range: Range<usize>,
    /// Whether it stands where being undefined is fine.
    pub guarded: bool,
}

/// One link of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Key {
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
    /// With the braces.
    pub range: Range<usize>,
    /// Inside, without blanks.
    pub expr: Range<usize>,
    /// Whether its value is certainly a number, `true` or `false`, as far as the names that it reads are known.
    pub is_number: bool,
}

/// A template that another one needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    /// Its name; `None` if it is computed.
    pub name: Option<String>,
    /// Where the name stands.
    pub range: Range<usize>,
}

/// Something that is certainly wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Where.
    pub range: Range<usize>,
    /// What.
    pub kind: FindingKind,
}

/// What is wrong.
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
    /// A list is needed and this cannot be one.
    NotIterable {
        /// The expression, as written.
        what: String,
        /// What it is.
        found: Type,
    },
    /// A comparison with a constant that can never be equal.
    NeverEqual {
        /// The other side, as written.
        left: String,
        /// What it is.
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
        /// Those that exist.
        known: Vec<String>,
    },
    /// A test that does not exist.
    UnknownTest {
        /// Its name.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A function that does not exist.
    UnknownFunction {
        /// Its name.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// It would use more time or memory than any use of it is worth.
    TooCostly {
        /// What is too much.
        why: String,
    },
}

/// Reads a text.
pub fn analyse(text: &str, language: Language, scope: &dyn Scope) -> Result<Analysis, SyntaxError> {
    parse(text, language)?.analyse(scope)
}

/// A text that was read and can be walked, as often as more is known of its names.
pub struct Parsed<'t> {
    text: &'t str,
    tree: Tree<'t>,
    scan: scan::Scan<'t>,
}

enum Tree<'t> {
    /// It is too long to be read.
    Refused,
    /// Text with something in it; whether that is all there is.
    Template(ast::Stmt<'t>, bool),
    Expression(ast::Expr<'t>),
}

/// Reads a text, whatever its names mean.
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
    // The engine's parser ends an expression at a character that it cannot read, as if nothing came after.
    match &scan.error {
        Some(error) => Err(reword::unread(text, &scan, error)),
        None => Ok(Parsed { text, tree, scan }),
    }
}

impl Parsed<'_> {
    /// What the text says where its names mean this.
    pub fn analyse(&self, scope: &dyn Scope) -> Result<Analysis, SyntaxError> {
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
    let finding = Finding { range: 0..0, kind: FindingKind::TooCostly { why } };
    Analysis { findings: vec![finding], ..Analysis::default() }
}

/// If `text` is exactly one `{{ e }}`, with nothing but blanks around it: `e` without blanks, and where it is.
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

/// Whether the text has anything for the template engine in it.
pub fn is_template(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, b"{{" | b"{%" | b"{#"))
}
