//! Every agent that can be called: how each is found, called and read. A file each.
//!
//! Most are programs of others. What those have in common is below in small files: where a program is, who pays, what it is
//! told, how a command line is put together, what is written down while it speaks. Model endpoints and protocols are served
//! by this binary as programs, and their drivers share `served`.
//!
//! **Invariant:** no reader panics or grows without bound, whatever a program prints; what a stream does not say is not made up.

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
pub(crate) mod summary;
mod surroundings;
mod version;
mod written;

use crate::contract::{Agent, UnsupportedTurn};

/// All of them, in the order in which they are shown.
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

/// The one that workflows call by this name.
pub fn by_name(name: &str) -> Option<&'static dyn Agent> {
    ALL.iter().copied().find(|agent| agent.name() == name)
}

/// Variables that hold keys and logins of agents, whoever they are handed to.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    let served = [anthropic::ANTHROPIC.key_env, openai::OPENAI.key_env, claude::LOGIN];
    let opencode = opencode::KEYS.iter().map(|(_, key)| *key);
    let programs = claude::KEYS.iter().chain(&codex::KEYS).chain(&copilot::KEYS).chain(&copilot::TOKENS);
    served.into_iter().chain(programs.chain(&gemini::KEYS).copied()).chain(opencode)
}

fn nothing_to_shorten() -> UnsupportedTurn {
    UnsupportedTurn("a session that has not begun has no context to shorten".to_owned())
}
