//! The drivers of all agents: how each is found, called and read. One file per agent.
//!
//! Most agents are programs of others. Small files below hold what they share: where a program is, who pays, what it is
//! told, how its command line is built, and what a reader notes. This binary serves model endpoints and protocols as
//! programs; their drivers share `served`.
//!
//! **Invariant:** no reader panics or grows without bound, whatever a program prints. A reader invents nothing that the
//! stream does not say.

mod acp;
mod anthropic;
mod claude;
mod codex;
mod command;
mod copilot;
mod endpoint;
mod event;
mod gemini;
mod notes;
mod openai;
mod opencode;
mod payer;
mod program;
mod prompt_text;
mod served;
mod servers;
pub(crate) mod summary;
mod surroundings;
mod version;
mod written;

use crate::contract::{Agent, UnsupportedTurn};

/// All agents, in the order in which lists show them.
pub static ALL: &[&dyn Agent] = &[
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &gemini::Gemini,
    &opencode::Opencode,
    &anthropic::ANTHROPIC,
    &openai::OPENAI,
    &acp::Acp,
];

/// The agent with this name in workflows.
pub fn by_name(name: &str) -> Option<&'static dyn Agent> {
    ALL.iter().copied().find(|agent| agent.name() == name)
}

/// The variables that hold keys and logins of any agent.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    let served = [anthropic::ANTHROPIC.key_env, openai::OPENAI.key_env, claude::LOGIN];
    let opencode = opencode::KEYS.iter().map(|(_, key)| *key);
    let programs = claude::KEYS.iter().chain(&codex::KEYS).chain(&copilot::KEYS).chain(&copilot::TOKENS);
    served.into_iter().chain(programs.chain(&gemini::KEYS).copied()).chain(opencode)
}

fn nothing_to_shorten() -> UnsupportedTurn {
    UnsupportedTurn("a session that has not begun has no context to shorten".to_owned())
}
