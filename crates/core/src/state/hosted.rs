//! Attempts that are handed out to a client instead of being made by an engine.
//!
//! **Invariant:** an attempt that is handed out is a wait, not work: no engine holds it, and none can lose it. It ends by what
//! its client submits, by its claim running out, or because nobody wants it any more.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Illegal};
use super::{Phase, StepNo};
use crate::event::Usage;
use crate::path::StepPath;

/// Who took an attempt that is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hand {
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
    pub(super) fn handed(&self, path: &StepPath, attempt: u32) -> Result<StepNo, Illegal> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        match step.phase == Phase::Handed && step.attempts == attempt {
            true => Ok(at),
            false => Err(Illegal(format!("attempt {attempt} of `{path}` is not handed out"))),
        }
    }

    pub(super) fn claimed(&mut self, path: &StepPath, attempt: u32, by: &str, until: i64) -> Result<(), Illegal> {
        let at = self.handed(path, attempt)?;
        let now = self.state.now;
        let hand = &mut self.state.step_mut(at).hand;
        match hand {
            Some(hand) if hand.by != by => return Err(Illegal(format!("`{path}` is handed out to {}", hand.by))),
            Some(hand) => (hand.until, hand.seen) = (until, now),
            None => *hand = Some(Box::new(Hand { by: by.to_owned(), since: now, until, seen: now, hint: None })),
        }
        Ok(())
    }

    pub(super) fn heartbeat_seen(
        &mut self,
        path: &StepPath,
        attempt: u32,
        hint: Option<&str>,
        until: i64,
    ) -> Result<(), Illegal> {
        let at = self.handed(path, attempt)?;
        let now = self.state.now;
        let Some(hand) = &mut self.state.step_mut(at).hand else {
            return Err(Illegal(format!("nobody has taken `{path}`")));
        };
        (hand.until, hand.seen) = (until, now);
        if let Some(hint) = hint {
            hand.hint = Some(hint.to_owned());
        }
        Ok(())
    }

    pub(super) fn handed_back(&mut self, path: &StepPath, attempt: u32) -> Result<(), Illegal> {
        let at = self.handed(path, attempt)?;
        self.offer_again(at);
        Ok(())
    }

    /// Whoever had it cannot be waited for any longer; what they submit later names an attempt that is over.
    pub(super) fn offer_again(&mut self, at: StepNo) {
        self.state.step_mut(at).stopped += 1;
        self.enter(at, Phase::Ready);
    }

    /// An attempt that was begun: by the engine, or for whoever hosts the run.
    pub(super) fn begun(&mut self, at: StepNo, reserve: Option<Usage>, hosted: bool) {
        self.enter(at, if hosted { Phase::Handed } else { Phase::Attempt });
        self.state.step_mut(at).reserve = reserve;
    }

    /// Remembers the last thing that a client submitted.
    pub(super) fn submitted(&mut self, by: Option<&str>) {
        if let Some(by) = by {
            self.state.submitted.insert(by.to_owned(), self.state.seq + 1);
        }
    }
}
