//! Every agent that can be called, one file each.

mod anthropic;
mod endpoint;
mod openai;
mod served;

use crate::contract::Agent;

/// All of them.
pub static ALL: &[&dyn Agent] = &[&anthropic::Anthropic, &openai::OpenAi];

/// The one that workflows call by this name.
pub fn by_name(name: &str) -> Option<&'static dyn Agent> {
    ALL.iter().copied().find(|agent| agent.name() == name)
}
