//! The driver for models with OpenAI's Chat Completions or Responses API: OpenAI's own, and those of Ollama, llama.cpp,
//! vLLM, OpenRouter and many more.

use super::endpoint::Usual;
use crate::serve::Wire;

/// The agent.
pub(super) static OPENAI: Usual = Usual {
    name: "openai",
    title: "a model behind an OpenAI-compatible API",
    base_url: "https://api.openai.com/v1",
    key_env: "OPENAI_API_KEY",
    wires: &[("chat", Wire::Chat), ("responses", Wire::Responses)],
};
