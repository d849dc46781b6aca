//! What is wrong with a workflow, where, and what to do about it.
//!
//! **Invariant:** a diagnostic has a code with a page in the manual, a place, and a sentence that
//! names the remedy or the rule.

mod plain;
mod render;

use schemars::JsonSchema;
use serde::Serialize;

use crate::source::{Sources, Span};

pub use plain::plain;
pub use render::{render, summary};

/// A stable code such as `LH0207`; [`crate::codes`] lists them all.
pub type Code = &'static str;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The workflow cannot run.
    Error,
    /// It can run, and probably not as meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Which rule.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// A few words at the place itself.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
    /// Other places that matter.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// A warning.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    /// A note.
    pub fn note(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, span, message)
    }

    fn new(severity: Severity, code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), span, label: String::new(), help: None, related: Vec::new() }
    }

    /// Adds a few words at the place itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean", if one of `candidates` is close to `word`; otherwise `otherwise`.
    pub fn did_you_mean<'c>(
        self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
        otherwise: impl FnOnce(&[&str]) -> Option<String>,
    ) -> Self {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        match closest(word, &candidates) {
            Some(best) => self.help(format!("did you mean `{best}`?")),
            None => match otherwise(&candidates) {
                Some(help) => self.help(help),
                None => self,
            },
        }
    }

    /// Adds which of the known keys was meant, or all of them.
    pub(crate) fn which_key(self, word: &str, known: Vec<&str>) -> Self {
        let same = ELSEWHERE.iter().find(|(own, others)| others.contains(&word) && known.contains(own));
        match same {
            Some((own, _)) => self.help(format!("did you mean `{own}`?")),
            None => self.did_you_mean(word, known, |known| Some(format!("it can have: {}", known.join(", ")))),
        }
    }

    /// Adds another place that matters.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }
}

/// What keys are called elsewhere.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("depends_on", &["after", "needs", "depends", "dependsOn"]),
    ("when", &["if", "condition"]),
    ("run", &["script", "command", "cmd", "shell", "bash"]),
    ("do", &["steps", "jobs", "tasks", "nodes"]),
    ("retry", &["retries", "max_retries", "attempts"]),
    ("timeout", &["timeout-minutes", "timeout_minutes", "timeout_seconds"]),
    ("env", &["environment"]),
    ("cwd", &["working-directory", "working_directory", "workdir", "dir"]),
    ("runs_on", &["runs-on", "labels"]),
];

/// How many findings there may be and still be a search for what was meant: comparing each of many unknown
/// names with each of many known ones would take longer than all the rest.
const SUGGESTED_MAX: usize = 100;

/// Whether the next finding is worth a search for what was meant.
pub(crate) fn suggests(found: &[Diagnostic]) -> bool {
    found.len() < SUGGESTED_MAX
}

/// How many pairs of characters one search compares.
const COMPARED_MAX: usize = 400_000;

/// The candidate that `word` is probably a slip of.
pub fn closest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let folded = fold(word);
    let length = word.chars().count();
    let mut near: Vec<(usize, &'c str)> = candidates
        .iter()
        .map(|candidate| (candidate.chars().count().abs_diff(length), *candidate))
        .filter(|(_, candidate)| near_in_length(length, candidate))
        .collect();
    near.sort_unstable();
    let mut compared = 0;
    let affordable = near.into_iter().take_while(|(_, candidate)| {
        compared += length * candidate.len();
        compared <= COMPARED_MAX
    });
    let scored = affordable.map(|(_, candidate)| {
        let other = fold(candidate);
        // Among equally near ones, letters in the wrong order are the likelier slip.
        let changed = letters(&folded) != letters(&other);
        (strsim::damerau_levenshtein(&folded, &other), changed, candidate)
    });
    let (distance, _, best) = scored.min_by_key(|(distance, changed, _)| (*distance, *changed))?;
    // A word of which nothing is left is no slip.
    (distance <= tolerance(length, best) && distance < length && word != best).then_some(best)
}

/// How many slips two words may be apart.
fn tolerance(length: usize, candidate: &str) -> usize {
    (length.max(candidate.chars().count()) / 3).max(1)
}

/// Whether a word of a length can be a slip of a candidate at all. Marks such as `_` do not count as
/// slips, so what is certain here is only that half of one word is not a slip of the whole other one.
fn near_in_length(length: usize, candidate: &str) -> bool {
    let other = candidate.chars().count();
    length.max(other) <= 2 * length.min(other).max(2)
}

/// Case and separators do not count, but of a sign such as `>=` nothing else is there.
fn fold(word: &str) -> String {
    let letters: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if letters.is_empty() { word.to_owned() } else { letters }
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// A finding as data: what `--json` prints and what editors get.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Diagnostic")]
pub struct Report<'a> {
    /// Which rule.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub message: &'a str,
    /// The file.
    pub file: &'a str,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Where the place ends.
    pub end_line: usize,
    /// Where the place ends.
    pub end_column: usize,
    /// A few words at the place itself.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub label: &'a str,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
}

impl Diagnostic {
    /// As data.
    pub fn report<'a>(&'a self, sources: &'a Sources) -> Report<'a> {
        let file = sources.file(self.span.file);
        let (line, column) = file.line_and_column(self.span.start as usize);
        let (end_line, end_column) = file.line_and_column(self.span.end as usize);
        Report {
            code: self.code,
            severity: self.severity,
            message: &self.message,
            file: &file.name,
            line,
            column,
            end_line,
            end_column,
            label: &self.label,
            help: self.help.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word() {
        assert_eq!(closest("biuld", &["build", "review"]), Some("build"));
        assert_eq!(closest("dependsOn", &["depends_on", "run"]), Some("depends_on"));
        assert_eq!(closest("xyz", &["build", "review"]), None);
        assert_eq!(closest("=>", &["==", ">="]), Some(">="));
        assert_eq!(closest("a", &["b"]), None);
    }
}
