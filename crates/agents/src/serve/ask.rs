//! The request to a served agent: the turn, and the service that answers it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::model::Wire;
use crate::contract::Turn;

/// One request, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) turn: Turn,
    /// The folder for our own sessions.
    pub(crate) home: PathBuf,
    pub(crate) service: Service,
}

/// The service that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Service {
    /// A model behind an address.
    Model(Endpoint),
    /// An agent that speaks the Agent Client Protocol.
    Acp(Program),
}

/// The address and the API of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    pub(crate) wire: Wire,
    pub(crate) base_url: String,
    /// The variable that holds the key; `None` if no key is needed.
    pub(crate) key_env: Option<String>,
    pub(crate) model: String,
    /// The most requests to the model in one turn.
    pub(crate) rounds_max: u32,
    /// The most tokens of one reply.
    pub(crate) output_tokens_max: Option<u64>,
    /// Whether it is the service that made the API, which can do everything that the API describes.
    #[serde(default)]
    pub(crate) is_usual: bool,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}
