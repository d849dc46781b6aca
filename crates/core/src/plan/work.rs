//! Leaf work: the action of one attempt.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Arg;

/// The action of a leaf step: a kind of work and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The kind.
    pub kind: WorkKind,
    /// Its parameters.
    pub params: IndexMap<String, Arg>,
}

/// The kind of a leaf step's work. Workflow files, plans and engines use the same word for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum WorkKind {
    /// An agent turn.
    Prompt,
    /// A command.
    Run,
    /// A call of a tool.
    Tool,
    /// A request over the network.
    Http,
    /// A message to people.
    Notify,
    /// A lookup of files, for the items of a `for_each`. No workflow file can name it.
    Glob,
    /// Nothing; returns the given output. No workflow file can name it: it serves to measure the engine.
    Noop,
    /// A kind of another version, which this version cannot do.
    Other(String),
}

impl WorkKind {
    /// The word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Prompt => "prompt",
            Self::Run => "run",
            Self::Tool => "tool",
            Self::Http => "http",
            Self::Notify => "notify",
            Self::Glob => "glob",
            Self::Noop => "noop",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for WorkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<&str> for WorkKind {
    fn from(word: &str) -> Self {
        match word {
            "prompt" => Self::Prompt,
            "run" => Self::Run,
            "tool" => Self::Tool,
            "http" => Self::Http,
            "notify" => Self::Notify,
            "glob" => Self::Glob,
            "noop" => Self::Noop,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for WorkKind {
    fn from(word: String) -> Self {
        word.as_str().into()
    }
}

impl From<WorkKind> for String {
    fn from(kind: WorkKind) -> Self {
        kind.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::kinds;

    #[test]
    fn words_read_back_and_unknown_ones_are_kept() {
        for word in ["prompt", "run", "tool", "http", "notify", "glob", "noop", "dance"] {
            assert_eq!(WorkKind::from(word).to_string(), word);
        }
        assert_eq!(WorkKind::from("dance"), WorkKind::Other("dance".to_owned()));
    }

    #[test]
    fn every_kind_of_the_catalogue_is_work_or_a_form_of_the_plan() {
        let forms =
            ["if", "switch", "for_each", "repeat", "parallel", "approve", "ask", "wait", "workflow", "set", "end"];
        for kind in kinds::ALL {
            let is_work = !matches!(WorkKind::from(kind.key), WorkKind::Other(_));
            assert_ne!(is_work, forms.contains(&kind.key), "{}", kind.key);
        }
    }
}
