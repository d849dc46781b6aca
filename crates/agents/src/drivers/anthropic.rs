//! Models that are asked by Anthropic's Messages API, there or anywhere.

use super::endpoint::{ABILITIES, Usual};
use super::served::Lines;
use crate::contract::{Abilities, Agent, Found, Invocation, Missing, Reader, Refusal, Setup, Turn};
use crate::serve::Wire;

const USUAL: Usual = Usual {
    name: "anthropic",
    base_url: "https://api.anthropic.com",
    key_env: "ANTHROPIC_API_KEY",
    wires: &[("messages", Wire::Messages)],
};

/// The agent.
pub(super) struct Anthropic;

impl Agent for Anthropic {
    fn name(&self) -> &'static str {
        USUAL.name
    }

    fn title(&self) -> &'static str {
        "a model behind Anthropic's Messages API"
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        USUAL.find(setup)
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        USUAL.invoke(found, setup, turn)
    }

    fn reader(&self, _turn: &Turn) -> Box<dyn Reader> {
        Box::<Lines>::default()
    }
}
