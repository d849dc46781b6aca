//! Files of other systems, said again in native keys.
//!
//! A dialect is a function from a tree to a tree. Every node of the result has the span of what it came
//! from, so the checks that follow point into the original file. What a dialect says and the native
//! language cannot say is a diagnostic here, never silence.

pub mod agent007;
mod compose;
mod reader;
mod spelling;
#[cfg(test)]
mod transcript;
pub mod valet;
pub mod work_buddy;
pub mod workhorse;

use std::str::FromStr;

use crate::diagnostic::Diagnostic;
use crate::source::{Node, Sources};

/// The language a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Longhaul's own.
    Native,
    /// agent007's step files, YAML or TOML.
    Agent007,
    /// workhorse-agent's graphs.
    Workhorse,
    /// Valet's Workflows V2 and `dag/v1`.
    Valet,
    /// work-buddy's units, JSON or Markdown.
    WorkBuddy,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Native, Self::Agent007, Self::Workhorse, Self::Valet, Self::WorkBuddy];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Agent007 => "agent007",
            Self::Workhorse => "workhorse",
            Self::Valet => "valet",
            Self::WorkBuddy => "work-buddy",
        }
    }

    /// The dialect that a tree is written in, by its tell-tale keys.
    pub fn of(node: &Node) -> Self {
        if work_buddy::recognises(node) {
            Self::WorkBuddy
        } else if workhorse::recognises(node) {
            Self::Workhorse
        } else if valet::recognises(node) {
            Self::Valet
        } else if agent007::recognises(node) {
            Self::Agent007
        } else {
            Self::Native
        }
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        known.ok_or_else(|| format!("unknown dialect `{name}`: native, agent007, workhorse, valet or work-buddy"))
    }
}

/// One workflow of a file, in native keys.
#[derive(Debug, Clone)]
pub struct Native {
    /// Its name, where the file says one that is not the file's own.
    pub name: Option<String>,
    /// The tree.
    pub node: Node,
}

/// The workflows of a file, in native keys. Only a work-buddy store has more than one. The sources are
/// asked where inside a scalar something stands.
pub fn to_native(dialect: Dialect, node: Node, sources: &Sources, out: &mut Vec<Diagnostic>) -> Vec<Native> {
    let single = |node| vec![Native { name: None, node }];
    match dialect {
        Dialect::Native => single(node),
        Dialect::Agent007 => single(agent007::to_native(&node, out)),
        Dialect::Workhorse => single(workhorse::to_native(&node, out)),
        Dialect::Valet => single(valet::to_native(&node, sources, out)),
        Dialect::WorkBuddy => work_buddy::to_native(&node, out),
    }
}
