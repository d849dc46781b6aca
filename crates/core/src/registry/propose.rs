//! Proposals: what may be proposed, decided and applied.

use serde::{Deserialize, Serialize};

use crate::rejection::{Rejection, Remedy};

use super::change::{bumped, fits, saved};
use super::{Change, Proposal, Registry, RegistryEntry, Status, VersionSource, WorkflowText};

/// How long a proposal waits where nobody says: 14 days.
pub const EXPIRY_MS: i64 = 14 * 24 * 60 * 60 * 1000;

/// What somebody proposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposing {
    /// The hash of the text that they saw.
    pub base: String,
    /// What they would write instead.
    #[serde(flatten)]
    pub text: WorkflowText,
    /// What changes, in their words or as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The run that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The session that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When nobody may apply it any more.
    pub expires_at: i64,
}

impl Registry {
    /// What is to be written to propose a text.
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

    /// What is to be written when somebody decides. `inside` are the runs and sessions that they come from.
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
                "proposal {id} comes from this session, and nobody approves what they proposed themselves"
            ))
            .say("let somebody else decide"));
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
