//! Shell text with templates in it, turned into shell text without.
//!
//! Each `{{ e }}` becomes a reference to a variable of the environment, quoted as its place asks for,
//! and the variable is bound to the expression. The shell then sees the value as data, whatever it is.
//! Places where a shell takes even a quoted value for code are reported.
//!
//! **Invariant:** no value ever becomes part of the script; a text without templates is left as it is.

mod code;
mod command;
mod heredoc;
mod interpreter;
mod scan;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::expr::Emit;

/// A script and what its environment needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lowered {
    /// The text for the shell.
    pub script: String,
    /// Variables (`LH_1`, `LH_2`, …) and the expressions they hold.
    pub bindings: Vec<(String, String)>,
    /// Places where a value would be taken for code.
    pub findings: Vec<Finding>,
}

/// A place where a value can not be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In the text that was given.
    pub range: Range<usize>,
    /// What is wrong with it.
    pub kind: Kind,
}

/// Why a value can not be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The value becomes program text of `eval`, `sh -c`, `python -c`, a remote shell and the like.
    Eval,
    /// The value names the program that runs.
    CommandWord,
    /// The value is computed as arithmetic, which can run commands.
    Arithmetic,
    /// The here-document's delimiter is quoted, so no variable is replaced in it.
    QuotedHeredoc,
    /// The value stands inside `${…}`.
    ParameterExpansion,
    /// A `{% … %}` or `{# … #}`, which has no meaning for a shell.
    Tag(Range<usize>),
}

/// Lowers a shell text whose templates are at `emits` and `tags`, both in the order of the text.
pub fn lower(text: &str, emits: &[Emit], tags: &[Range<usize>]) -> Lowered {
    if emits.is_empty() && tags.is_empty() {
        return Lowered { script: text.to_owned(), ..Lowered::default() };
    }
    scan::Scanner::new(text, emits, tags).run()
}
