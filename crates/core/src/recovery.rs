//! How an agent recovers when its turn failed: one action after the other, each of them an event.
//!
//! **Invariant:** what a step has tried is part of its state, so a run that is opened again continues where it was. Nothing is
//! ever made up: after the last action comes the declared default, or a person.

mod rules;
mod texts;

use serde::{Deserialize, Serialize};

use crate::event::Session;

pub use rules::Rules;
pub(crate) use texts::{CONTINUE, EMPTY, HEARD, HEARD_AGAIN, TAKE_OVER, answered, fix_up, reframed, told_by};

/// In which way an agent continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryAction {
    /// The same again, in a new conversation.
    Again,
    /// The interrupted conversation is taken up.
    Continue,
    /// The files are put back to what they were before an attempt, and a new conversation begins.
    Restore {
        /// The attempt.
        before: u32,
    },
    /// In the same conversation it is told what is wrong.
    Repair {
        /// What it is told.
        say: String,
    },
    /// In the same conversation its question is answered.
    Answer {
        /// What it is told.
        say: String,
    },
    /// In the same conversation it is told what a person said while its last turn ran.
    Hint,
    /// The limit is waited for; nobody is held for that.
    AwaitReset,
    /// The conversation is shortened.
    Compact,
    /// The same prompt in the same conversation, which is shorter now.
    Resend,
    /// The prompt is put in another way, in a new conversation.
    Reframe {
        /// How often it was put in another way, with this one.
        framing: u32,
    },
    /// Another model or agent takes over.
    Fallback {
        /// As the workflow names it.
        to: String,
    },
}

impl RecoveryAction {
    /// For people.
    pub fn words(&self) -> String {
        match self {
            Self::Again => "tried again".to_owned(),
            Self::Continue => "its session is continued".to_owned(),
            Self::Restore { .. } => "its files are put back, and it begins again".to_owned(),
            Self::Repair { .. } => "told what is wrong, in the same session".to_owned(),
            Self::Answer { .. } => "its question is answered".to_owned(),
            Self::Hint => "another turn, with what a person told it".to_owned(),
            Self::AwaitReset => "waits until the limit resets".to_owned(),
            Self::Compact => "its session is compacted".to_owned(),
            Self::Resend => "asked again in the compacted session".to_owned(),
            Self::Reframe { framing } => format!("asked in another way ({framing})"),
            Self::Fallback { to } => format!("`{to}` takes over"),
        }
    }
}

/// What a step has tried so far to recover.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recovery {
    /// The action with which the present or next attempt begins.
    pub action: Option<RecoveryAction>,
    /// The conversation, once one was seen.
    pub session: Option<Session>,
    /// Entries of `fallback` that took over.
    pub fallbacks: u32,
    /// How often it was put in another way.
    pub framing: u32,
    /// The attempt before which the files were recorded, for as long as its conversation continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u32>,
    pub(crate) repairs: u32,
    pub(crate) pauses: u32,
    pub(crate) waits: u32,
    pub(crate) compactions: u32,
}

impl Recovery {
    /// Takes an action. `per_turn`: whether tries are counted again for each thing that is said; `counts`: whether this is a
    /// try at all, and not the work of a worker that was lost.
    pub(crate) fn take(&mut self, action: &RecoveryAction, per_turn: bool, counts: bool) {
        match action {
            RecoveryAction::Again
            | RecoveryAction::Continue
            | RecoveryAction::Resend
            | RecoveryAction::Hint
            | RecoveryAction::Answer { .. } => {}
            RecoveryAction::Restore { .. } => self.session = None,
            RecoveryAction::Repair { .. } => self.repairs += 1,
            RecoveryAction::AwaitReset => self.waits += 1,
            RecoveryAction::Compact => self.compactions += 1,
            RecoveryAction::Reframe { framing } => {
                (self.framing, self.session, self.kept) = (*framing, None, None);
                self.repairs = if per_turn { 0 } else { self.repairs };
            }
            RecoveryAction::Fallback { .. } => {
                *self = Self { fallbacks: self.fallbacks + 1, ..Self::default() };
            }
        }
        let new_turn = matches!(
            action,
            RecoveryAction::Repair { .. }
                | RecoveryAction::Reframe { .. }
                | RecoveryAction::Compact
                | RecoveryAction::Resend
        );
        if per_turn && new_turn {
            (self.pauses, self.waits) = (0, 0);
        }
        if counts && matches!(action, RecoveryAction::Again | RecoveryAction::Continue) {
            self.pauses += 1;
        }
        self.action = Some(action.clone());
    }

    /// A person has looked at it: everything may be tried again, in the same conversation.
    pub(crate) fn rested(&mut self) {
        let (session, fallbacks, kept) = (self.session.take(), self.fallbacks, self.kept);
        *self = Self { session, fallbacks, kept, ..Self::default() };
    }

    /// The conversation, if it can be continued.
    pub(crate) fn resumable(&self) -> Option<&Session> {
        self.session.as_ref().filter(|session| session.resumes)
    }
}
