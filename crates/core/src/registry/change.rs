//! Checks changes of a workflow (saving, describing, removing, rolling back), and makes their entries.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{RegisteredWorkflow, Registry, RegistryEntry, VersionSource};
use crate::Json;
use crate::rejection::{Rejection, Remedy};

/// The least number of digits of a shortened hash.
const HASH_DIGITS_MIN: usize = 8;
/// The prefix of hashes.
const PREFIX: &str = "sha256:";

/// A text and its hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowText {
    /// The text itself.
    pub text: String,
    /// The hash of the meaning. It does not depend on the layout.
    pub hash: String,
    /// The hash of the bytes.
    pub raw: String,
    /// Whether a run may propose to change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_modification: bool,
}

impl WorkflowText {
    /// Whether this is one of its two hashes, or the start of one.
    pub fn is_called(&self, hash: &str) -> bool {
        let digits = hash.trim().trim_start_matches(PREFIX);
        let begins = |own: &str| own.trim_start_matches(PREFIX).starts_with(digits);
        digits.len() >= HASH_DIGITS_MIN && (begins(&self.hash) || begins(&self.raw))
    }
}

/// The data of a workflow besides its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The title shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Another name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it can be started.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Tags for searching.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Data of other programs.
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

/// A wanted change of a workflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// The new text, if it changes.
    pub text: Option<WorkflowText>,
    /// The new data, if it changes.
    pub about: Option<About>,
    /// The version that its author gives it.
    pub version: Option<String>,
    /// The hash of the text that the author saw last. If another text is current, the change is rejected.
    pub base: Option<String>,
    /// The reason for the change.
    pub source: VersionSource,
    /// The user who wants it.
    pub by: Option<String>,
    /// Their notes.
    pub notes: Option<String>,
}

impl Registry {
    /// The entries that save a workflow, new or not. Empty if nothing changes.
    pub fn save(&self, workflow: &str, change: &Change) -> Result<Vec<RegistryEntry>, Rejection> {
        let known = self.workflows.get(workflow);
        if !is_name(workflow) {
            return Err(Rejection::invalid(format!(
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
        let fresh = |text: &&WorkflowText| known.is_none_or(|known| known.current().text.raw != text.raw);
        let renamed = change.version.is_some() && change.version.as_ref() != known.map(|known| &known.version);
        let current = || known.map(|known| &known.current().text).filter(|_| renamed);
        if let Some(text) = change.text.as_ref().filter(fresh).or_else(current) {
            entries.push(saved(workflow, text.clone(), self.next_version(known, change), change));
        }
        if let Some(about) = change.about.clone().filter(|about| known.is_none_or(|known| known.about != *about)) {
            self.slug_is_free(workflow, about.slug.as_deref())?;
            entries.push(RegistryEntry::Described { workflow: workflow.to_owned(), about, by: change.by.clone() });
        }
        Ok(entries)
    }

    /// The entry that makes an earlier version current; none if it is current already.
    pub fn rollback(&self, workflow: &str, hash: &str, change: &Change) -> Result<Option<RegistryEntry>, Rejection> {
        let kept = self.kept(workflow)?;
        let unknown = || Rejection::not_found(format!("`{workflow}` has no version {hash}"));
        let target = kept.find(hash).ok_or_else(|| unknown().with(Remedy::ListVersions(workflow.to_owned())))?;
        if target.text.raw == kept.current().text.raw {
            return Ok(None);
        }
        let version = change.version.clone().or_else(|| Some(bumped(&kept.version)));
        let change = Change { source: VersionSource::Rollback, ..change.clone() };
        Ok(Some(saved(workflow, target.text.clone(), version, &change)))
    }

    /// The entry that removes a workflow from the registry.
    pub fn remove(&self, workflow: &str, by: Option<String>) -> Result<RegistryEntry, Rejection> {
        self.kept(workflow)?;
        Ok(RegistryEntry::Removed { workflow: workflow.to_owned(), by })
    }

    /// An existing workflow, or a rejection.
    pub fn kept(&self, workflow: &str) -> Result<&RegisteredWorkflow, Rejection> {
        self.workflows.get(workflow).ok_or_else(|| self.unknown(workflow))
    }

    fn unknown(&self, workflow: &str) -> Rejection {
        let known: Vec<&str> = self.workflows.keys().map(String::as_str).collect();
        Rejection::not_found(if known.is_empty() {
            format!("there is no workflow `{workflow}` in the registry, which is empty")
        } else {
            format!("there is no workflow `{workflow}` in the registry; there are: {}", known.join(", "))
        })
    }

    fn slug_is_free(&self, workflow: &str, slug: Option<&str>) -> Result<(), Rejection> {
        let Some(slug) = slug else { return Ok(()) };
        let taken = |(name, kept): (&String, &RegisteredWorkflow)| {
            name != workflow && (name == slug || kept.about.slug.as_deref() == Some(slug))
        };
        if self.workflows.iter().any(taken) {
            return Err(Rejection::conflict(format!("another workflow is called `{slug}`")).say("choose another slug"));
        }
        Ok(())
    }

    fn next_version(&self, known: Option<&RegisteredWorkflow>, change: &Change) -> Option<String> {
        change.version.clone().or_else(|| known.map(|known| bumped(&known.version)))
    }
}

pub(super) fn saved(workflow: &str, text: WorkflowText, version: Option<String>, change: &Change) -> RegistryEntry {
    RegistryEntry::Saved {
        workflow: workflow.to_owned(),
        text,
        version,
        source: change.source,
        by: change.by.clone(),
        notes: change.notes.clone(),
        proposal: None,
    }
}

/// Rejects a change that is not based on the current text.
pub(super) fn fits(workflow: &str, known: Option<&RegisteredWorkflow>, base: &str) -> Result<(), Rejection> {
    let Some(known) = known else {
        return Err(Rejection::not_found(format!(
            "there is no workflow `{workflow}` in the registry to base a change on"
        )));
    };
    let current = &known.current().text;
    if current.is_called(base) {
        return Ok(());
    }
    let why = format!("`{workflow}` has changed since {base}: it is at {} now", current.hash);
    Err(Rejection::conflict(why).say("look at it again and base the change on that"))
}

/// Whether this can be the name of a workflow: it must not look like a path or an option.
fn is_name(name: &str) -> bool {
    let letters = name.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_.".contains(sign));
    letters && name.len() <= 64 && name.chars().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// The next version: its last number is one higher.
pub(super) fn bumped(version: &str) -> String {
    let (head, last) = version.rsplit_once('.').map_or(("", version), |(head, last)| (head, last));
    let dot = if head.is_empty() { "" } else { "." };
    match last.parse::<u64>() {
        Ok(number) => format!("{head}{dot}{}", number.saturating_add(1)),
        Err(_) => format!("{version}.1"),
    }
}
