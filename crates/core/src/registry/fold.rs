//! The state of the registry after the entries so far.

use std::collections::BTreeMap;

use serde::Serialize;

use super::trigger::Trigger;
use super::{About, Delivery, DeliveryOutcome, Proposing, RegistryEntry, VersionSource, WorkflowText};

/// The number of deliveries in memory for each trigger. The history has all of them.
const DELIVERIES_MAX: usize = 500;

/// A text that is or was current.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Version {
    /// The text with its hashes.
    #[serde(flatten)]
    pub text: WorkflowText,
    /// The version that its author gave it.
    pub version: String,
    /// The reason for it.
    pub source: VersionSource,
    /// The user who wrote it.
    pub by: Option<String>,
    /// The time of the change, in milliseconds since 1970.
    pub at: i64,
    /// The author's notes.
    pub notes: Option<String>,
}

/// A workflow of the registry.
#[derive(Debug, Clone, PartialEq)]
pub struct RegisteredWorkflow {
    /// Its data besides the text.
    pub about: About,
    /// All its texts, oldest first, each once.
    pub versions: Vec<Version>,
    /// The index of the current one.
    pub at: usize,
    /// The version that the author gave the current text.
    pub version: String,
    /// The time at which it entered the registry.
    pub created_at: i64,
    /// The time of its last change.
    pub updated_at: i64,
}

impl RegisteredWorkflow {
    /// The version that is current.
    pub fn current(&self) -> &Version {
        &self.versions[self.at]
    }

    /// The version with a hash; the current one is tried first. Either of its two hashes matches, or the first eight
    /// or more digits of one.
    pub fn find(&self, hash: &str) -> Option<&Version> {
        let newest_first = self.versions.iter().rev();
        std::iter::once(self.current()).chain(newest_first).find(|version| version.text.is_called(hash))
    }
}

/// The status of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits for a review.
    Pending,
    /// It may be applied.
    Approved,
    /// It may not be applied.
    Rejected,
    /// Its text is, or was, current.
    Applied,
    /// It has expired.
    Expired,
}

impl Status {
    /// Every status there is.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Approved, Self::Rejected, Self::Applied, Self::Expired];

    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Applied => "applied",
            Self::Expired => "expired",
        }
    }
}

/// A proposal to change a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The name of the workflow.
    pub workflow: String,
    /// The proposed change.
    pub proposing: Proposing,
    /// The time of the proposal, in milliseconds since 1970.
    pub at: i64,
    /// Whether the reviewer approved it, and who that was; `None` before a review.
    pub reviewed: Option<(bool, Option<String>)>,
    /// The reviewer's notes.
    pub notes: Option<String>,
    /// The time of the review.
    pub reviewed_at: Option<i64>,
    /// The time at which it was applied.
    pub applied_at: Option<i64>,
}

impl Proposal {
    /// The status at a given time.
    pub fn status(&self, now: i64) -> Status {
        let over = self.proposing.expires_at <= now;
        match &self.reviewed {
            _ if self.applied_at.is_some() => Status::Applied,
            Some((false, _)) => Status::Rejected,
            _ if over => Status::Expired,
            Some((true, _)) => Status::Approved,
            None => Status::Pending,
        }
    }
}

/// A trigger with its deliveries.
#[derive(Debug, Clone, PartialEq)]
pub struct Armed {
    /// The trigger.
    pub trigger: Trigger,
    /// The user who changed it last.
    pub by: Option<String>,
    /// The time of its creation.
    pub created_at: i64,
    /// The time of its last change: it fires at later times only.
    pub armed_at: i64,
    /// Its deliveries, oldest first.
    pub deliveries: Vec<(i64, Delivery)>,
    /// The last scheduled time for which it started a run.
    pub last: Option<i64>,
}

impl Armed {
    /// The result for the newest time. If several engines reported on it, the one that started a run counts.
    pub fn newest(&self) -> Option<&(i64, Delivery)> {
        let latest = self.deliveries.iter().max_by_key(|(at, delivery)| (delivery.moment, *at))?;
        let same = || self.deliveries.iter().filter(|(_, delivery)| delivery.key == latest.1.key);
        let led_to_run = |outcome: DeliveryOutcome| same().find(|(_, delivery)| delivery.outcome == outcome);
        led_to_run(DeliveryOutcome::Matched)
            .or_else(|| led_to_run(DeliveryOutcome::Duplicate))
            .or_else(|| same().next_back())
    }
}

/// Workflows by name, proposals by the number of their entry, triggers by id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registry {
    /// The last entry that was applied.
    pub seq: u64,
    pub(super) workflows: BTreeMap<String, RegisteredWorkflow>,
    pub(super) proposals: BTreeMap<u64, Proposal>,
    pub(super) triggers: BTreeMap<String, Armed>,
}

impl Registry {
    /// Workflows, by name.
    pub fn workflows(&self) -> impl Iterator<Item = (&str, &RegisteredWorkflow)> {
        self.workflows.iter().map(|(name, kept)| (name.as_str(), kept))
    }

    /// The workflow with this name, otherwise with this slug, otherwise with this title.
    pub fn workflow(&self, name: &str) -> Option<(&str, &RegisteredWorkflow)> {
        let named = self.workflows.get_key_value(name);
        let slugged = || self.workflows.iter().find(|(_, kept)| kept.about.slug.as_deref() == Some(name));
        let titled = || self.workflows.iter().find(|(_, kept)| kept.about.title.as_deref() == Some(name));
        named.or_else(slugged).or_else(titled).map(|(name, kept)| (name.as_str(), kept))
    }

    /// Proposals, the newest first.
    pub fn proposals(&self) -> impl Iterator<Item = (u64, &Proposal)> {
        self.proposals.iter().rev().map(|(id, proposal)| (*id, proposal))
    }

    /// The proposal with a number.
    pub fn proposal(&self, id: u64) -> Option<&Proposal> {
        self.proposals.get(&id)
    }

    /// Triggers, by id.
    pub fn triggers(&self) -> impl Iterator<Item = (&str, &Armed)> {
        self.triggers.iter().map(|(id, armed)| (id.as_str(), armed))
    }

    /// The trigger with this id, or with this name in any case.
    pub fn trigger(&self, name: &str) -> Option<(&str, &Armed)> {
        let by_name = || self.triggers.iter().find(|(_, armed)| same(&armed.trigger.name, name));
        self.triggers.get_key_value(name).or_else(by_name).map(|(id, armed)| (id.as_str(), armed))
    }

    /// Applies the next entry.
    pub fn apply(&mut self, seq: u64, at: i64, entry: &RegistryEntry) {
        self.seq = seq;
        match entry {
            RegistryEntry::Saved { workflow, text, version, source, by, notes, proposal } => {
                let version = Version {
                    text: text.clone(),
                    version: version.clone().unwrap_or_else(|| "1.0.0".to_owned()),
                    source: *source,
                    by: by.clone(),
                    at,
                    notes: notes.clone(),
                };
                self.saved(workflow, version);
                if let Some(proposal) = proposal.and_then(|id| self.proposals.get_mut(&id)) {
                    proposal.applied_at = Some(at);
                }
            }
            RegistryEntry::Described { workflow, about, .. } => {
                if let Some(kept) = self.workflows.get_mut(workflow) {
                    kept.about = about.clone();
                    kept.updated_at = at;
                }
            }
            RegistryEntry::Removed { workflow, .. } => drop(self.workflows.remove(workflow)),
            RegistryEntry::Proposed { workflow, proposing } => {
                let proposal = Proposal {
                    workflow: workflow.clone(),
                    proposing: proposing.clone(),
                    at,
                    reviewed: None,
                    notes: None,
                    reviewed_at: None,
                    applied_at: None,
                };
                self.proposals.insert(seq, proposal);
            }
            RegistryEntry::Reviewed { proposal, approve, by, notes } => {
                if let Some(proposal) = self.proposals.get_mut(proposal) {
                    proposal.reviewed = Some((*approve, by.clone()));
                    proposal.notes.clone_from(notes);
                    proposal.reviewed_at = Some(at);
                }
            }
            RegistryEntry::Armed { trigger, set, by } => self.armed(trigger, set, by.as_ref(), at),
            RegistryEntry::Disarmed { trigger, .. } => drop(self.triggers.remove(trigger)),
            RegistryEntry::Delivered(delivery) => self.delivered(at, delivery),
        }
    }

    fn saved(&mut self, workflow: &str, version: Version) {
        let at = version.at;
        let kept = self.workflows.entry(workflow.to_owned()).or_insert_with(|| RegisteredWorkflow {
            about: About::default(),
            versions: Vec::new(),
            at: 0,
            version: String::new(),
            created_at: at,
            updated_at: at,
        });
        kept.version.clone_from(&version.version);
        kept.updated_at = at;
        let known = kept.versions.iter().position(|known| known.text.raw == version.text.raw);
        kept.at = known.unwrap_or(kept.versions.len());
        if known.is_none() {
            kept.versions.push(version);
        }
    }

    fn armed(&mut self, id: &str, set: &Trigger, by: Option<&String>, at: i64) {
        let armed = self.triggers.entry(id.to_owned()).or_insert_with(|| Armed {
            trigger: set.clone(),
            by: None,
            created_at: at,
            armed_at: at,
            deliveries: Vec::new(),
            last: None,
        });
        armed.trigger = set.clone();
        armed.by = by.cloned();
        armed.armed_at = at;
    }

    fn delivered(&mut self, at: i64, delivery: &Delivery) {
        let Some(armed) = self.triggers.get_mut(&delivery.trigger) else { return };
        if delivery.outcome == DeliveryOutcome::Matched {
            armed.last = armed.last.max(delivery.moment);
        }
        armed.deliveries.push((at, delivery.clone()));
        let surplus = armed.deliveries.len().saturating_sub(DELIVERIES_MAX);
        armed.deliveries.drain(..surplus);
    }
}

pub(super) fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}
