//! Turns shell text with templates into shell text without.
//!
//! Each `{{ e }}` becomes a reference to an environment variable, quoted for its place, and the variable is set to
//! the expression. So the shell treats every value as data. Places where a shell executes even a quoted value are
//! reported.
//!
//! **Invariant:** no value ever becomes part of the script; a text without templates does not change.

mod code;
mod heredoc;
mod judge;
mod line;
mod programs;
mod scan;
mod variables;
mod word;

#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::expr::Emit;
use variables::Variables;
use word::Mark;

/// A script and its environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lowered {
    /// The text for the shell.
    pub script: String,
    /// Variables (`LH_1`, `LH_2`, …) and their expressions.
    pub bindings: Vec<(String, String)>,
    /// Places where a value is, or may be, executed as code.
    pub findings: Vec<ShellFinding>,
}

/// A place where a value cannot be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFinding {
    /// The range in the given text: the template, or the variable with its value.
    pub range: Range<usize>,
    /// The kind of problem.
    pub kind: ShellProblem,
    /// Whether a hostile value certainly runs. Otherwise it may run.
    pub is_certain: bool,
}

/// Why a value cannot be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellProblem {
    /// The value becomes program text of `eval`, `sh -c`, `sed`, a remote shell or similar. The text says what to do
    /// instead.
    Code(&'static str),
    /// The value names the program that runs.
    CommandWord,
    /// The value names the file that an interpreter runs.
    Script,
    /// The value is evaluated as arithmetic, which can run commands.
    Arithmetic,
    /// The value is the name of a variable, and text in its brackets is executed.
    VariableName,
    /// The value goes into a variable that other programs execute.
    RunVariable,
    /// The delimiter of the here-document is quoted, so the shell replaces no variable in it.
    QuotedHeredoc,
    /// The value is inside `${…}`.
    ParameterExpansion,
    /// A `{% … %}` or `{# … #}`, which has no meaning for a shell.
    Tag(Range<usize>),
    /// The value may start with `-`, and the program has options that run something.
    OptionLike,
    /// The value names a package whose code is downloaded and run.
    Package,
    /// The value sets where programs are searched.
    Searched,
    /// The value becomes part of a query, which can read more than intended. The text says what to do instead.
    Query(&'static str),
    /// The value looks like program text for an unknown program.
    UnknownProgram,
}

impl ShellProblem {
    /// The danger of a value with this origin: certain (true), possible (false), or none.
    fn verdict(&self, mark: &Mark) -> Option<bool> {
        match self {
            Self::Code(_) => Some(!(mark.held && mark.printed)),
            Self::CommandWord | Self::Script | Self::RunVariable => Some(!mark.printed),
            Self::Arithmetic | Self::VariableName => (!mark.printed).then_some(!mark.held),
            Self::QuotedHeredoc | Self::ParameterExpansion | Self::Tag(_) => Some(true),
            Self::OptionLike | Self::Package | Self::Searched | Self::Query(_) | Self::UnknownProgram => {
                (!mark.printed).then_some(false)
            }
        }
    }
}

/// Lowers a shell text whose templates are at `emits` and `tags`, both in the order of the text.
pub fn lower(text: &str, emits: &[Emit], tags: &[Range<usize>]) -> Lowered {
    if emits.is_empty() && tags.is_empty() {
        return Lowered { script: text.to_owned(), ..Lowered::default() };
    }
    scan::Scanner::new(text, emits, tags, Variables::default()).run()
}
