//! What notices look like, as data: the signatures that ship with the binary, and those that people add.
//!
//! A signature holds if every kind of evidence that it names is there; of several values of a kind one is enough. `says` is
//! looked for anywhere in what an agent calls an error; `text` is the whole of an answer.
//!
//! **Invariant:** the first signature that holds decides, and people's own come before ours.

use std::sync::LazyLock;

use longhaul_core::plan::ErrorClass;
use serde::Deserialize;

use super::pattern::Pattern;
use crate::data::{self, Error};

const BUILTIN: &str = include_str!("signatures.toml");
const VERSION: u32 = 1;

static SHIPPED: LazyLock<Signatures> = LazyLock::new(|| Signatures::read(BUILTIN).unwrap_or_default());

/// Every notice that is known.
#[derive(Debug, Clone, Default)]
pub struct Signatures {
    pub(super) all: Vec<Signature>,
}

/// One notice.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    pub(super) about: About,
    pub(super) says: Vec<Pattern>,
    pub(super) text: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    signature: Vec<About>,
}

/// A signature, as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    pub(super) id: String,
    pub(super) class: ErrorClass,
    /// Whose it is; everybody's, if none is named.
    #[serde(default)]
    agents: Vec<String>,
    /// Statuses of the request that failed.
    #[serde(default)]
    status: Vec<u16>,
    /// The agent's own words for it.
    #[serde(default)]
    code: Vec<String>,
    /// Why the model stopped.
    #[serde(default)]
    stop: Vec<String>,
    /// Exit codes.
    #[serde(default)]
    exit: Vec<i32>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    text: Vec<String>,
    /// A model might say this itself: the text counts only if the tokens can not have written it.
    #[serde(default)]
    pub(super) weak: bool,
    /// The last paragraph of an answer counts as well: some agents add a notice to what they had said.
    #[serde(default)]
    pub(super) tail: bool,
    /// Only a wrapper: what it says inside decides, if that is known.
    #[serde(default)]
    pub(super) wraps: bool,
    /// What it was made from. Tests hold each signature to its own.
    #[serde(default)]
    examples: Vec<String>,
}

/// What is held against a signature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) agent: &'a str,
    pub(super) status: Option<u16>,
    pub(super) code: Option<&'a str>,
    pub(super) stop: Option<&'a str>,
    pub(super) exit: Option<i32>,
    /// What is called an error, as plain text.
    pub(super) said: &'a str,
}

impl Signatures {
    /// Those that ship with the binary.
    pub fn builtin() -> &'static Self {
        &SHIPPED
    }

    /// These, with more before them, in the format of the ones that ship.
    pub fn with(&self, extra_toml: &str) -> Result<Self, Error> {
        let mut all = Self::read(extra_toml)?.all;
        all.extend(self.all.iter().cloned());
        Ok(Self { all })
    }

    /// Each signature's name, with what it was made from.
    pub fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.all.iter().map(|one| (one.about.id.as_str(), one.about.examples.as_slice()))
    }

    fn read(text: &str) -> Result<Self, Error> {
        let file: File = data::read(text)?;
        if file.version != VERSION {
            let message = format!("signatures of version {}; this binary reads version {VERSION}", file.version);
            return Err(Error(message));
        }
        let all = file.signature.into_iter().map(Signature::new).collect::<Result<_, _>>()?;
        Ok(Self { all })
    }
}

impl Signature {
    fn new(about: About) -> Result<Self, Error> {
        if !(about.names_evidence() || about.has_words()) {
            return Err(Error(format!("signature `{}` names nothing that it could be known by", about.id)));
        }
        let read = |list: &[String]| list.iter().map(|pattern| pattern_of(pattern, &about.id)).collect();
        let (says, text): (Result<Vec<_>, _>, Result<Vec<_>, _>) = (read(&about.says), read(&about.text));
        Ok(Self { says: says?, text: text?, about })
    }

    /// Whether an error is this one.
    pub(super) fn explains(&self, evidence: &Evidence<'_>) -> bool {
        !self.about.wraps && self.about.concerns(evidence) && (!self.about.has_words() || self.is_said(evidence.said))
    }

    /// Whether the answer of a turn that seems to have gone well is this notice.
    pub(super) fn is_answer(&self, plain: &str) -> bool {
        self.text.iter().any(|pattern| pattern.is_all_of(plain))
    }

    /// Whether the reason why the model stopped is enough to know it.
    pub(super) fn is_stop(&self, evidence: &Evidence<'_>) -> bool {
        !self.about.stop.is_empty() && !self.about.has_words() && self.about.concerns(evidence)
    }

    fn is_said(&self, plain: &str) -> bool {
        self.says.iter().any(|pattern| pattern.is_in(plain)) || self.is_answer(plain)
    }
}

impl About {
    pub(super) fn is_for(&self, agent: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|name| name == agent)
    }

    fn names_evidence(&self) -> bool {
        !(self.status.is_empty() && self.code.is_empty() && self.stop.is_empty() && self.exit.is_empty())
    }

    fn has_words(&self) -> bool {
        !(self.says.is_empty() && self.text.is_empty())
    }

    fn concerns(&self, evidence: &Evidence<'_>) -> bool {
        self.is_for(evidence.agent)
            && one_of(&self.status, |status| evidence.status == Some(*status))
            && one_of(&self.code, |code| same(code, evidence.code))
            && one_of(&self.stop, |stop| same(stop, evidence.stop))
            && one_of(&self.exit, |exit| evidence.exit == Some(*exit))
    }
}

fn pattern_of(text: &str, id: &str) -> Result<Pattern, Error> {
    let problem = || Error(format!("signature `{id}`: `{text}` fits anything, or has a bracket that is not closed"));
    Pattern::read(text).ok_or_else(problem)
}

fn one_of<T>(list: &[T], holds: impl FnMut(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(holds)
}

fn same(wanted: &str, found: Option<&str>) -> bool {
    found.is_some_and(|found| found.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_can_be_read_and_no_name_stands_twice() {
        let all = Signatures::read(BUILTIN).unwrap().all;
        let mut names: Vec<_> = all.iter().map(|one| one.about.id.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 40, "{count}");
    }

    #[test]
    fn what_people_add_is_held_to_the_format() {
        for (text, expected) in [
            ("version = 2", "signatures of version 2; this binary reads version 1"),
            (
                "version = 1\n[[signature]]\nid = 'a'\nclass = 'auth'",
                "signature `a` names nothing that it could be known by",
            ),
            (
                "version = 1\n[[signature]]\nid = 'a'\nclass = 'auth'\nsays = ['(x']",
                "signature `a`: `(x` fits anything, or has a bracket that is not closed",
            ),
            ("version = 1\n[[signature]]\nid = 'a'\nclass = 'auth'\nsay = ['x']", "unknown field `say`"),
            ("version = 1\n[[signature]]\nid = 'a'\nclass = 'sad'\nsays = ['x']", "unknown variant `sad`"),
        ] {
            let error = Signatures::default().with(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
