//! The driver for any agent that speaks the Agent Client Protocol on its stdin and stdout.

use super::program::is_program;
use super::served::{self, Lines};
use super::surroundings::Surroundings;
use super::{prompt_text, servers};
use crate::contract::{
    Abilities, Agent, AgentSetup, InstalledAgent, Invocation, MissingAgent, Reader, Turn, UnsupportedTurn,
};
use crate::serve::{Ask, Program, Service};

/// The agent.
pub(super) struct Acp;

impl Agent for Acp {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn title(&self) -> &'static str {
        "an agent that speaks the Agent Client Protocol"
    }

    /// It does not promise read-only work: Longhaul refuses what the agent asks for, but the agent need not ask.
    fn abilities(&self) -> Abilities {
        Abilities {
            resume: true,
            choose_session: false,
            compact: false,
            schema: false,
            budget: false,
            read_only: false,
            tools: false,
            mcp: true,
            mcp_only: false,
            system: false,
            images: false,
            cost: true,
        }
    }

    /// It does not ask for a version: not every such agent answers `--version`.
    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        let Some(program) = &setup.program else {
            return Err(MissingAgent {
                what: "no program is named that speaks the Agent Client Protocol".to_owned(),
                remedy: "name it with `program`, and what starts it with `args`".to_owned(),
            });
        };
        let is_there = match program.to_str() {
            Some(name) if program.components().count() == 1 => Surroundings::of(setup).in_path(name).is_some(),
            _ => is_program(program),
        };
        if !is_there {
            return Err(MissingAgent {
                what: format!("there is no program `{}`", program.display()),
                remedy: "install it, or name its full path with `program`".to_owned(),
            });
        }
        served::found(true)
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        let Some(program) = setup.program.clone() else {
            return Err(UnsupportedTurn("no program is named that speaks the Agent Client Protocol".to_owned()));
        };
        let service = Service::Acp(Program { program, args: setup.args.clone() });
        // The protocol has no other place for the system prompt and the schema.
        let prompt = prompt_text::prompt(turn, self.abilities());
        let turn = Turn { prompt, mcp: servers::started(setup, turn)?, ..turn.clone() };
        let ask = Ask { turn, home: setup.home.clone(), service };
        let mut invocation = served::invocation(self.name(), found, setup, &ask)?;
        invocation.keep_env.extend(setup.key_env.clone());
        // For Claude behind the protocol: a path in the prompt must not open a file. It must also not retry for minutes
        // without output, because the engine retries.
        for (name, value) in [("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"), ("CLAUDE_CODE_MAX_RETRIES", "3")] {
            if !setup.env.contains_key(name) {
                invocation.env.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(invocation)
    }

    fn reader(&self, _turn: &Turn) -> Box<dyn Reader> {
        Box::<Lines>::default()
    }
}
