//! What people tell the agent of a step while the run is open.
//!
//! **Invariant:** a conversation hears each hint once. The event that starts an attempt says which hints it carries, so a
//! crash repeats none. A turn that never reached its agent has told it nothing.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Error, number};
use super::{Phase, StepInst, StepNo};
use crate::event::{self, Failure, QuestionKind, Usage};
use crate::path::StepPath;
use crate::plan::ErrorClass;

/// What a person told the agent of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// What they said.
    pub text: String,
    /// Who said it, where that is known.
    pub by: Option<String>,
    /// When: milliseconds since 1970, UTC.
    pub at: i64,
}

/// What people told the agent of a step, and how much of it the agent has heard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hints {
    /// All of it, in order.
    pub all: Vec<Hint>,
    /// The hints that the last attempt carries, by number from 1.
    pub(crate) carried: Vec<u32>,
    /// How many its conversation has heard.
    pub(crate) heard: u32,
}

impl Hints {
    /// The hints that the conversation has not heard, or all of them for a new conversation.
    pub(crate) fn unheard(&self, resumes: bool) -> Vec<u32> {
        let first = if resumes { self.heard } else { 0 };
        (first + 1..=number(self.all.len())).collect()
    }

    /// Whether the agent has heard a hint, by its number from 1, or hears it in the turn that runs.
    pub fn is_heard(&self, hint: u32) -> bool {
        hint <= self.heard
    }
}

impl StepInst {
    /// Whether its agent was told something that it has not heard.
    pub(crate) fn has_unheard(&self) -> bool {
        self.hints.as_deref().is_some_and(|hints| !hints.unheard(true).is_empty())
    }

    /// What a turn carried was heard, unless the turn never reached its agent.
    pub(super) fn heard(&mut self, result: &event::Result, error: Option<&Failure>) {
        let is_lost = error.is_some_and(|error| error.class == ErrorClass::Lost);
        let is_unspent = result.usage == Some(Usage::default());
        let is_unsent = error.is_some_and(|error| error.needs_person || is_unspent) && !is_lost;
        if let Some(hints) = self.hints.as_deref_mut().filter(|_| is_unsent)
            && let Some(first) = hints.carried.first()
        {
            hints.heard = hints.heard.min(first - 1);
        }
    }
}

impl Apply<'_> {
    pub(super) fn hint_given(&mut self, path: &StepPath, text: &str, by: Option<&str>) -> Result<(), Error> {
        let hint = Hint { text: text.to_owned(), by: by.map(str::to_owned), at: self.state.now };
        match self.state.number(path) {
            None => self.state.early_hints.push((path.clone(), hint)),
            Some(at) if self.state.step(at).phase == Phase::Done => return Err(Error(format!("`{path}` is over"))),
            Some(at) => self.hinted(at, hint),
        }
        Ok(())
    }

    fn hinted(&mut self, at: StepNo, hint: Hint) {
        let step = self.state.step_mut(at);
        let is_unclaimed = step.phase.is_queued() || step.phase.is_hosted() && step.lease().is_none();
        let hints = step.hints.get_or_insert_default();
        hints.all.push(hint);
        // Nobody has read the prompt of an attempt that waits for a worker or a client.
        if is_unclaimed {
            hints.heard = number(hints.all.len());
            hints.carried.push(hints.heard);
        }
        // A review is about a result that the next turn replaces. It is asked again after that turn.
        let is_review = step.asks().is_some_and(|question| question.kind == QuestionKind::Review);
        if is_review && self.plan.step(self.state.step(at).step).is_agent() {
            self.enter(at, Phase::Judge);
        }
    }

    /// What a person wrote beside an answer to an agent goes to the agent.
    pub(super) fn commented(&mut self, path: &StepPath, comment: Option<&str>, by: Option<&str>) {
        let (Some(at), Some(text)) = (self.state.number(path), comment) else { return };
        let step = self.state.step(at);
        let kind = step.answered.as_deref().map(|answered| answered.kind);
        let is_heard = matches!(kind, Some(QuestionKind::Operator | QuestionKind::Question));
        if is_heard && !text.trim().is_empty() && self.plan.step(step.step).is_agent() {
            let hint = Hint { text: text.to_owned(), by: by.map(str::to_owned), at: self.state.now };
            self.state.step_mut(at).hints.get_or_insert_default().all.push(hint);
        }
    }

    /// An attempt was begun that carries hints.
    pub(super) fn carries(&mut self, path: &StepPath, carried: &[u32]) {
        let Some(at) = self.state.number(path) else { return };
        if let Some(hints) = self.state.step_mut(at).hints.as_deref_mut() {
            hints.carried = carried.to_vec();
            hints.heard = carried.iter().copied().max().unwrap_or(hints.heard).min(number(hints.all.len()));
        }
    }

    /// A step was reached whose agent was told something before.
    pub(super) fn takes_early_hints(&mut self, at: StepNo) {
        if self.state.early_hints.is_empty() {
            return;
        }
        let path = self.state.step(at).path.clone();
        let early = std::mem::take(&mut self.state.early_hints);
        let (own, others): (Vec<_>, Vec<_>) = early.into_iter().partition(|(of, _)| *of == path);
        self.state.early_hints = others;
        if !own.is_empty() {
            let all = own.into_iter().map(|(_, hint)| hint).collect();
            self.state.step_mut(at).hints = Some(Box::new(Hints { all, ..Hints::default() }));
        }
    }
}
