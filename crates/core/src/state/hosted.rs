//! Attempts that are handed out to a client instead of being made by an engine.
//!
//! **Invariant:** an attempt that is handed out is a wait, not work: no engine holds it, and none can lose it. It ends by what
//! its client submits, by its claim running out, or because nobody wants it any more.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Error};
use super::{Phase, StepNo};
use crate::path::StepPath;

/// The lease of a client on an attempt that it makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedLease {
    /// The client.
    pub by: String,
    /// Since when.
    pub since: i64,
    /// When it is given up if nothing is heard.
    pub until: i64,
    /// When it was last heard of.
    pub seen: i64,
    /// What it is at, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Apply<'_> {
    /// A step whose attempt of that number is handed out.
    pub(super) fn hosted(&self, path: &StepPath, attempt: u32) -> Result<StepNo, Error> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        match step.phase.is_hosted() && step.attempts == attempt {
            true => Ok(at),
            false => Err(Error(format!("attempt {attempt} of `{path}` is not handed out"))),
        }
    }

    pub(super) fn claimed(&mut self, path: &StepPath, attempt: u32, by: &str, until: i64) -> Result<(), Error> {
        let at = self.hosted(path, attempt)?;
        let now = self.state.now;
        let Some(lease) = self.lease_mut(at) else { return Ok(()) };
        match lease {
            Some(lease) if lease.by != by => return Err(Error(format!("`{path}` is handed out to {}", lease.by))),
            Some(lease) => (lease.until, lease.seen) = (until, now),
            None => {
                *lease = Some(Box::new(HostedLease { by: by.to_owned(), since: now, until, seen: now, hint: None }))
            }
        }
        Ok(())
    }

    pub(super) fn heartbeat_seen(
        &mut self,
        path: &StepPath,
        attempt: u32,
        hint: Option<&str>,
        until: i64,
    ) -> Result<(), Error> {
        let at = self.hosted(path, attempt)?;
        let now = self.state.now;
        let Some(Some(lease)) = self.lease_mut(at) else {
            return Err(Error(format!("nobody has taken `{path}`")));
        };
        (lease.until, lease.seen) = (until, now);
        if let Some(hint) = hint {
            lease.hint = Some(hint.to_owned());
        }
        Ok(())
    }

    pub(super) fn returned(&mut self, path: &StepPath, attempt: u32) -> Result<(), Error> {
        let at = self.hosted(path, attempt)?;
        self.offer_again(at);
        Ok(())
    }

    /// The client's time is over; a later result from it names an attempt that has ended.
    pub(super) fn offer_again(&mut self, at: StepNo) {
        self.state.step_mut(at).stopped += 1;
        self.enter(at, Phase::Ready);
    }

    fn lease_mut(&mut self, at: StepNo) -> Option<&mut Option<Box<HostedLease>>> {
        match &mut self.state.step_mut(at).phase {
            Phase::Hosted(hosted) => Some(&mut hosted.lease),
            _ => None,
        }
    }

    /// Remembers the last thing that a client submitted.
    pub(super) fn submitted(&mut self, by: Option<&str>) {
        if let Some(by) = by {
            self.state.submitted.insert(by.to_owned(), self.state.seq + 1);
        }
    }
}
