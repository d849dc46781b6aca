//! Shell text with templates in it, turned into shell text without.
//!
//! Each `{{ e }}` becomes a reference to a variable of the environment, quoted as its place asks for,
//! and the variable is bound to the expression. The shell then sees the value as data, whatever it is.
//! Places where a shell takes even a quoted value for code are reported.
//!
//! **Invariant:** no value ever becomes part of the script; a text without templates is left as it is.

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

/// A script and what its environment needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lowered {
    /// The text for the shell.
    pub script: String,
    /// Variables (`LH_1`, `LH_2`, …) and the expressions they hold.
    pub bindings: Vec<(String, String)>,
    /// Places where a value would, or may, be taken for code.
    pub findings: Vec<Finding>,
}

/// A place where a value cannot be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In the text that was given: the template, or the variable that holds its value.
    pub range: Range<usize>,
    /// What is wrong with it.
    pub kind: Kind,
    /// Whether a hostile value is certainly run. Otherwise it may be.
    pub is_certain: bool,
}

/// Why a value cannot be passed safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The value becomes program text of `eval`, `sh -c`, `sed`, a remote shell and the like; what to do instead.
    Code(&'static str),
    /// The value names the program that runs.
    CommandWord,
    /// The value names the file that an interpreter runs.
    Script,
    /// The value is computed as arithmetic, which can run commands.
    Arithmetic,
    /// The value names a variable, and what stands in its brackets is run.
    VariableName,
    /// The value is that of a variable which other programs run.
    RunVariable,
    /// The here-document's delimiter is quoted, so no variable is replaced in it.
    QuotedHeredoc,
    /// The value stands inside `${…}`.
    ParameterExpansion,
    /// A `{% … %}` or `{# … #}`, which has no meaning for a shell.
    Tag(Range<usize>),
    /// The value may begin with `-`, and the program has options that run something.
    OptionLike,
    /// The value names a package whose code is fetched and run.
    Package,
    /// The value says where programs are looked for.
    Searched,
    /// The value becomes part of a query, which can read more than was meant; what to do instead.
    Query(&'static str),
    /// The value looks like program text for a program that is not known.
    UnknownProgram,
}

impl Kind {
    /// What follows for a value that came to its place like this: certain, possible, or nothing.
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
