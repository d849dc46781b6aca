//! The driver for models with Anthropic's Messages API, at Anthropic or elsewhere.

use super::endpoint::Usual;
use crate::serve::Wire;

/// The agent.
pub(super) static ANTHROPIC: Usual = Usual {
    name: "anthropic",
    title: "a model behind Anthropic's Messages API",
    base_url: "https://api.anthropic.com",
    key_env: "ANTHROPIC_API_KEY",
    wires: &[("messages", Wire::Messages)],
};
