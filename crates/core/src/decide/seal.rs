//! The secret of a question: anybody who has it may answer from anywhere.
//!
//! **Invariant:** the journal has the hash of a secret, never the secret. The caller brings the random bytes.

use super::Advance;
use crate::event::Event;
use crate::state::State;

/// Gives every question that is about to be recorded the hash of a secret of its own. `fresh` makes a secret, keeps it where
/// only those find it who hand it out, and answers its hash.
pub fn seal(state: &mut State, advance: &mut Advance, mut fresh: impl FnMut() -> String) {
    for envelope in &mut advance.events {
        if let Event::QuestionAsked { path, key, .. } = &mut envelope.event {
            let hash = key.get_or_insert_with(&mut fresh).clone();
            state.sealed(path, envelope.at, hash);
        }
    }
}
