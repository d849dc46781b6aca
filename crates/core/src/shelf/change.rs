//! Saving, describing, removing and taking up again: what may be written about a workflow.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Entry, Kept, Refusal, Shelf, Source};
use crate::Json;

/// The shortest beginning of a hash that stands for it.
const HASH_DIGITS_MIN: usize = 8;
/// How hashes begin.
const PREFIX: &str = "sha256:";

/// A text and what it is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// What it says.
    pub text: String,
    /// The hash of what it means: the same however it is laid out.
    pub hash: String,
    /// The hash of the text, byte by byte.
    pub raw: String,
    /// Whether it takes proposals to change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_modification: bool,
}

impl Text {
    /// Whether a hash, or the beginning of one, is one of its two.
    pub fn is_called(&self, hash: &str) -> bool {
        let digits = hash.trim().trim_start_matches(PREFIX);
        let begins = |own: &str| own.trim_start_matches(PREFIX).starts_with(digits);
        digits.len() >= HASH_DIGITS_MIN && (begins(&self.hash) || begins(&self.raw))
    }
}

/// What is said about a workflow beside its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Another name that it is found by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it can be started.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What others keep here.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub more: IndexMap<String, Json>,
}

fn yes() -> bool {
    true
}

impl Default for About {
    fn default() -> Self {
        Self { title: None, slug: None, description: None, enabled: true, tags: Vec::new(), more: IndexMap::new() }
    }
}

/// What somebody wants to change about a workflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// Another text.
    pub text: Option<Text>,
    /// What is said about it, if that changes.
    pub about: Option<About>,
    /// What its author calls it.
    pub version: Option<String>,
    /// The hash of the text that they saw last: another one that is current by now is not written over.
    pub base: Option<String>,
    /// Why.
    pub source: Source,
    /// Who.
    pub by: Option<String>,
    /// What they say about it.
    pub notes: Option<String>,
}

impl Shelf {
    /// What is to be written to save a workflow, new or not. Nothing, if nothing changes.
    pub fn save(&self, workflow: &str, change: &Change) -> Result<Vec<Entry>, Refusal> {
        let known = self.workflows.get(workflow);
        if !is_name(workflow) {
            return Err(Refusal::new(format!(
                "`{workflow}` cannot be the name of a workflow: 1 to 64 letters, digits, dashes, underscores and dots, a letter or digit first"
            )));
        }
        if let Some(base) = &change.base {
            fits(workflow, known, base)?;
        }
        if known.is_none() && change.text.is_none() {
            return Err(self.unknown(workflow));
        }
        let mut entries = Vec::new();
        let fresh = |text: &&Text| known.is_none_or(|known| known.current().text.raw != text.raw);
        let renamed = change.version.is_some() && change.version.as_ref() != known.map(|known| &known.version);
        let current = || known.map(|known| &known.current().text).filter(|_| renamed);
        if let Some(text) = change.text.as_ref().filter(fresh).or_else(current) {
            entries.push(saved(workflow, text.clone(), self.next_version(known, change), change));
        }
        if let Some(about) = change.about.clone().filter(|about| known.is_none_or(|known| known.about != *about)) {
            self.slug_is_free(workflow, about.slug.as_deref())?;
            entries.push(Entry::Described { workflow: workflow.to_owned(), about, by: change.by.clone() });
        }
        Ok(entries)
    }

    /// What is to be written to take up an earlier version; nothing, if it is current.
    pub fn rollback(&self, workflow: &str, hash: &str, change: &Change) -> Result<Option<Entry>, Refusal> {
        let kept = self.kept(workflow)?;
        let unknown =
            || Refusal::new(format!("`{workflow}` has no version {hash}; longhaul versions {workflow} lists them"));
        let target = kept.find(hash).ok_or_else(unknown)?;
        if target.text.raw == kept.current().text.raw {
            return Ok(None);
        }
        let version = change.version.clone().or_else(|| Some(bumped(&kept.version)));
        let change = Change { source: Source::Rollback, ..change.clone() };
        Ok(Some(saved(workflow, target.text.clone(), version, &change)))
    }

    /// What is to be written to take a workflow off the shelf.
    pub fn remove(&self, workflow: &str, by: Option<String>) -> Result<Entry, Refusal> {
        self.kept(workflow)?;
        Ok(Entry::Removed { workflow: workflow.to_owned(), by })
    }

    /// A workflow that must be there.
    pub fn kept(&self, workflow: &str) -> Result<&Kept, Refusal> {
        self.workflows.get(workflow).ok_or_else(|| self.unknown(workflow))
    }

    fn unknown(&self, workflow: &str) -> Refusal {
        let known: Vec<&str> = self.workflows.keys().map(String::as_str).collect();
        Refusal::new(if known.is_empty() {
            format!("there is no workflow `{workflow}` on the shelf, and no other one")
        } else {
            format!("there is no workflow `{workflow}` on the shelf; there are: {}", known.join(", "))
        })
    }

    fn slug_is_free(&self, workflow: &str, slug: Option<&str>) -> Result<(), Refusal> {
        let Some(slug) = slug else { return Ok(()) };
        let taken = |(name, kept): (&String, &Kept)| {
            name != workflow && (name == slug || kept.about.slug.as_deref() == Some(slug))
        };
        if self.workflows.iter().any(taken) {
            return Err(Refusal::new(format!("another workflow is called `{slug}`; choose another slug")));
        }
        Ok(())
    }

    fn next_version(&self, known: Option<&Kept>, change: &Change) -> Option<String> {
        change.version.clone().or_else(|| known.map(|known| bumped(&known.version)))
    }
}

pub(super) fn saved(workflow: &str, text: Text, version: Option<String>, change: &Change) -> Entry {
    Entry::Saved {
        workflow: workflow.to_owned(),
        text,
        version,
        source: change.source,
        by: change.by.clone(),
        notes: change.notes.clone(),
        proposal: None,
    }
}

/// Refuses what was written without having seen what is current.
pub(super) fn fits(workflow: &str, known: Option<&Kept>, base: &str) -> Result<(), Refusal> {
    let Some(known) = known else {
        return Err(Refusal::new(format!("there is no workflow `{workflow}` on the shelf to base anything on")));
    };
    let current = &known.current().text;
    if current.is_called(base) {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "`{workflow}` has changed since {base}: it is at {} now; look at it again and base the change on that",
        current.hash
    )))
}

/// Whether a workflow can be called so: it is part of no path and of no option.
fn is_name(name: &str) -> bool {
    let letters = name.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_.".contains(sign));
    letters && name.len() <= 64 && name.chars().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// The version after a version: its last number is one higher.
pub(super) fn bumped(version: &str) -> String {
    let (head, last) = version.rsplit_once('.').map_or(("", version), |(head, last)| (head, last));
    let dot = if head.is_empty() { "" } else { "." };
    match last.parse::<u64>() {
        Ok(number) => format!("{head}{dot}{}", number.saturating_add(1)),
        Err(_) => format!("{version}.1"),
    }
}
