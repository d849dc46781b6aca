//! Models that are asked by OpenAI's Chat Completions or Responses API: OpenAI's own, and those of Ollama, llama.cpp, vLLM,
//! OpenRouter and many more.

use super::endpoint::{ABILITIES, Usual};
use super::served::Lines;
use crate::contract::{Abilities, Agent, Found, Invocation, Missing, Reader, Refusal, Setup, Turn};
use crate::serve::Wire;

const USUAL: Usual = Usual {
    name: "openai",
    base_url: "https://api.openai.com/v1",
    key_env: "OPENAI_API_KEY",
    wires: &[("chat", Wire::Chat), ("responses", Wire::Responses)],
};

/// The agent.
pub(super) struct OpenAi;

impl Agent for OpenAi {
    fn name(&self) -> &'static str {
        USUAL.name
    }

    fn title(&self) -> &'static str {
        "a model behind an OpenAI-compatible API"
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
