//! The lists on which steps are: who needs a decision, who waits, who works.
//!
//! **Invariant:** a step is on the lists of its phase and on no other. Only [`super::apply`] moves steps.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::{BodyNo, Phase, StepNo};

/// The lists on which steps are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agenda {
    /// Steps that need a decision.
    pub(crate) undecided: VecDeque<StepNo>,
    /// Leaf steps that are ready and need a permit.
    pub(crate) ready: VecDeque<StepNo>,
    /// Steps with an open attempt.
    pub(crate) open: BTreeSet<StepNo>,
    /// Steps that wait for a time, a signal, a person, a client or a worker.
    pub(crate) waiting: BTreeSet<StepNo>,
    /// Of those, the ones whose attempt is offered to a client, or taken by it.
    pub(crate) hosted: BTreeSet<StepNo>,
    /// Of those, the ones whose attempt waits for a worker.
    pub(crate) queued: BTreeSet<StepNo>,
    /// Sub-workflows that have limits and were opened.
    pub(crate) limited: BTreeSet<BodyNo>,
}

impl Agenda {
    /// Puts a step on the lists of a phase.
    pub(super) fn add(&mut self, at: StepNo, phase: &Phase, needs_permit: bool) {
        match phase {
            Phase::Ready if needs_permit => self.ready.push_back(at),
            Phase::Ready | Phase::Judge => self.undecided.push_back(at),
            Phase::Attempt(_) => drop(self.open.insert(at)),
            Phase::Retry { .. } | Phase::Question(_) | Phase::Waiting { .. } => drop(self.waiting.insert(at)),
            Phase::Hosted(_) => {
                self.waiting.insert(at);
                self.hosted.insert(at);
            }
            Phase::Queued(_) => {
                self.waiting.insert(at);
                self.queued.insert(at);
            }
            Phase::Inside | Phase::Done => {}
        }
    }

    /// Takes a step off the lists of its phase; there it is nearly always the first.
    pub(super) fn remove(&mut self, at: StepNo, phase: &Phase, needs_permit: bool) {
        self.open.remove(&at);
        self.waiting.remove(&at);
        self.hosted.remove(&at);
        self.queued.remove(&at);
        let list = match phase {
            Phase::Ready if needs_permit => &mut self.ready,
            Phase::Ready | Phase::Inside | Phase::Judge => &mut self.undecided,
            Phase::Attempt(_)
            | Phase::Queued(_)
            | Phase::Hosted(_)
            | Phase::Retry { .. }
            | Phase::Question(_)
            | Phase::Waiting { .. }
            | Phase::Done => return,
        };
        if let Some(position) = list.iter().position(|other| *other == at) {
            list.remove(position);
        }
    }
}
