//! Tracks the variables of a script, as far as one pass shows.
//!
//! **Invariant:** the knowledge only grows, so the scan is repeated until nothing new is found.

use std::collections::{BTreeMap, BTreeSet};

use super::programs;
use super::word::Mark;

/// The most texts that are kept for one variable.
const TEXTS_MAX: usize = 8;

/// The knowledge about the variables of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variables {
    /// Variables with a value; and whether a program printed it.
    held: BTreeMap<String, bool>,
    texts: BTreeMap<String, Vec<String>>,
    functions: BTreeSet<String>,
    /// Whether input that is read line by line has values; and whether a program printed them.
    pub(super) fed: Option<bool>,
    /// How many scripts are around this one.
    pub(super) depth: usize,
}

/// The content of a variable.
pub(super) enum Content<'v> {
    /// A value; and whether a program printed it.
    Value(bool),
    /// A text of the script.
    Text(&'v str),
    Unknown,
}

impl Variables {
    /// Records that a variable has values.
    pub(super) fn hold(&mut self, name: &str, marks: &[Mark]) {
        if let Some(printed) = marks.iter().map(|mark| mark.printed).min() {
            self.hold_as(name, printed);
        }
    }

    /// Records that a variable has a value, which a program may have printed.
    pub(super) fn hold_as(&mut self, name: &str, printed: bool) {
        let name = name.split(['[', '+']).next().unwrap_or_default();
        let known = self.held.entry(name.to_owned()).or_insert(printed);
        *known &= printed;
    }

    /// Records that the parameters of a script or a function have values.
    pub(super) fn hold_parameters(&mut self, marks: &[Mark]) {
        for name in ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            self.hold(name, marks);
        }
    }

    /// Records a text of a variable.
    pub(super) fn set(&mut self, name: &str, text: &str) {
        let texts = self.texts.entry(name.to_owned()).or_default();
        if texts.len() < TEXTS_MAX && !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }

    pub(super) fn define(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// The content of a variable. Of several texts, one that names a known program wins.
    pub(super) fn content(&self, name: &str) -> Content<'_> {
        if let Some(printed) = self.held.get(name) {
            return Content::Value(*printed);
        }
        let texts = self.texts.get(name).map(Vec::as_slice).unwrap_or_default();
        let first = |text: &String| text.split_whitespace().next().is_some_and(programs::is_known);
        match texts.iter().find(|text| first(text)).or(texts.last()) {
            Some(text) => Content::Text(text),
            None => Content::Unknown,
        }
    }

    /// The variables with values in an arithmetic text, and their places.
    pub(super) fn computed(&self, text: &str) -> Vec<(std::ops::Range<usize>, bool)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(start) = text.get(at..).and_then(|rest| rest.find(is_start)).map(|found| at + found) {
            let length = text[start..].find(|c: char| !is_part(c)).unwrap_or(text.len() - start);
            at = start + length;
            if let Some(printed) = self.held.get(&text[start..at]) {
                found.push((start..at, *printed));
            }
        }
        found
    }
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The name of a variable at the start of a text: a name, a number, or a sign; empty if there is none.
pub(super) fn name_at(text: &str) -> &str {
    let end = match text.chars().next() {
        Some(c) if is_start(c) => text.find(|c: char| !is_part(c)).unwrap_or(text.len()),
        Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*') => 1,
        _ => 0,
    };
    text.get(..end).unwrap_or_default()
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(is_start) && text.chars().all(is_part)
}

/// The two sides of `name=value`, `name+=value` or `name[…]=value`: the name, and the start of the value.
pub(super) fn assignment(word: &str) -> Option<(&str, usize)> {
    let equals = word.find('=')?;
    let left = word.get(..equals)?;
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = left.split_once('[').map_or(left, |(name, _)| name);
    is_name(name).then_some((name, equals + 1))
}

/// Variables that other programs execute, or that name code to load.
const RUN_BY_OTHERS: &[&str] = &[
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "DYLD_INSERT_LIBRARIES",
    "EDITOR",
    "ENV",
    "ERL_AFLAGS",
    "FCEDIT",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GNUMAKEFLAGS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_AUDIT",
    "LD_PRELOAD",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "MFLAGS",
    "NODE_OPTIONS",
    "PAGER",
    "PERL5DB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONINSPECT",
    "PYTHONSTARTUP",
    "RSYNC_RSH",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "TAR_OPTIONS",
    "VISUAL",
    "_JAVA_OPTIONS",
];

/// Variables that set where programs and their parts are searched.
const SEARCHED: &[&str] = &[
    "CDPATH",
    "CLASSPATH",
    "DYLD_LIBRARY_PATH",
    "GOFLAGS",
    "LD_LIBRARY_PATH",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERLLIB",
    "PYTHONHOME",
    "PYTHONPATH",
    "RUBYLIB",
    "RUSTFLAGS",
];

/// What other programs do with a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// They execute its value.
    Run,
    /// They search there for programs.
    Searched,
    Data,
}

/// What other programs do with a variable of this name.
pub(super) fn use_of(name: &str) -> Use {
    let numbered = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_"];
    if RUN_BY_OTHERS.contains(&name) || numbered.iter().any(|start| name.starts_with(start)) {
        return Use::Run;
    }
    if SEARCHED.contains(&name) { Use::Searched } else { Use::Data }
}
