//! What is asked of a served agent: the turn, and by whom it is answered.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::model::Wire;
use crate::contract::Turn;

/// One request, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) turn: Turn,
    /// Where sessions of our own are kept.
    pub(crate) home: PathBuf,
    pub(crate) service: Service,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Service {
    /// A model behind an address.
    Model(Endpoint),
    /// An agent that speaks the Agent Client Protocol.
    Acp(Program),
}

/// Where a model is served, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    pub(crate) wire: Wire,
    pub(crate) base_url: String,
    /// The variable that holds the key; none where none is needed.
    pub(crate) key_env: Option<String>,
    pub(crate) model: String,
    /// How often the model is asked in one turn.
    pub(crate) rounds_max: u32,
    /// How much it may write at once.
    pub(crate) output_tokens_max: Option<u64>,
}

/// A program that is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}
