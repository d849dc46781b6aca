//! Every agent that can be called, one file each.

mod acp;
mod anthropic;
mod endpoint;
mod openai;
mod served;

use crate::contract::Agent;

/// All of them.
pub static ALL: &[&dyn Agent] = &[&anthropic::Anthropic, &openai::OpenAi, &acp::Acp];
