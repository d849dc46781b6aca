//! Checks proposals, reviews and their application, and makes the entries.

use serde::{Deserialize, Serialize};

use crate::rejection::{Rejection, Remedy};

use super::change::{bumped, fits, saved};
use super::{Change, Proposal, Registry, RegistryEntry, Status, VersionSource, WorkflowText};

/// The default lifetime of a proposal: 14 days.
pub const EXPIRY_MS: i64 = 14 * 24 * 60 * 60 * 1000;

/// A proposed change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposing {
    /// The hash of the text that the author saw.
    pub base: String,
    /// The proposed text.
    #[serde(flatten)]
    pub text: WorkflowText,
    /// The change, in words or as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The run that proposes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The session that proposes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The time at which it expires.
    pub expires_at: i64,
}

impl Registry {
    /// The entry that proposes a text.
    pub fn propose(&self, workflow: &str, proposing: Proposing, now: i64) -> Result<RegistryEntry, Rejection> {
        let kept = self.kept(workflow)?;
        lets_itself_be_changed(workflow, &kept.current().text)?;
        fits(workflow, Some(kept), &proposing.base)?;
        if proposing.expires_at <= now {
            return Err(
                Rejection::invalid("a proposal cannot expire before it begins").say("give a later `expires_at`")
            );
        }
        Ok(RegistryEntry::Proposed { workflow: workflow.to_owned(), proposing })
    }

    /// The entry of a review. `inside` are the runs and sessions that the reviewer acts from.
    pub fn review(
        &self,
        workflow: &str,
        id: u64,
        approve: bool,
        change: &Change,
        inside: &[String],
        now: i64,
    ) -> Result<RegistryEntry, Rejection> {
        let proposal = self.proposal_of(workflow, id)?;
        let own = proposal.proposing.run.iter().chain(&proposal.proposing.session).any(|from| inside.contains(from));
        if own && approve {
            return Err(Rejection::forbidden(format!(
                "proposal {id} comes from this session, which cannot approve its own proposals"
            ))
            .say("ask another person to decide"));
        }
        match proposal.status(now) {
            Status::Pending => {
                let (by, notes) = (change.by.clone(), change.notes.clone());
                Ok(RegistryEntry::Reviewed { proposal: id, approve, by, notes })
            }
            other => {
                let why = format!("proposal {id} is {}; only a pending one can be decided", other.word());
                Err(Rejection::conflict(why))
            }
        }
    }

    /// What is to be written to apply what was approved.
    pub fn apply_proposal(
        &self,
        workflow: &str,
        id: u64,
        change: &Change,
        now: i64,
    ) -> Result<RegistryEntry, Rejection> {
        let proposal = self.proposal_of(workflow, id)?;
        match proposal.status(now) {
            Status::Approved => {}
            Status::Applied => return Err(Rejection::conflict(format!("proposal {id} is already applied"))),
            Status::Expired => {
                return Err(Rejection::untimely(format!("proposal {id} has expired"))
                    .say("propose it again on what is current"));
            }
            other => {
                return Err(Rejection::untimely(format!(
                    "proposal {id} is {}; only an approved one can be applied",
                    other.word()
                )));
            }
        }
        let kept = self.kept(workflow)?;
        lets_itself_be_changed(workflow, &kept.current().text)?;
        fits(workflow, Some(kept), &proposal.proposing.base)?;
        let version = change.version.clone().or_else(|| Some(bumped(&kept.version)));
        let change = Change { source: VersionSource::ProposalApply, ..change.clone() };
        let mut entry = saved(workflow, proposal.proposing.text.clone(), version, &change);
        if let RegistryEntry::Saved { proposal, .. } = &mut entry {
            *proposal = Some(id);
        }
        Ok(entry)
    }

    fn proposal_of(&self, workflow: &str, id: u64) -> Result<&Proposal, Rejection> {
        let own = self.proposals.get(&id).filter(|proposal| proposal.workflow == workflow);
        let unknown = || Rejection::not_found(format!("`{workflow}` has no proposal {id}"));
        own.ok_or_else(|| unknown().with(Remedy::ListProposals))
    }
}

fn lets_itself_be_changed(workflow: &str, text: &WorkflowText) -> Result<(), Rejection> {
    if text.self_modification {
        return Ok(());
    }
    Err(Rejection::forbidden(format!(
        "`{workflow}` takes no proposals: it does not say `constraints: {{allowSelfModification: true}}`"
    )))
}
