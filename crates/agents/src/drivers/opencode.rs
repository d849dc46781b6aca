//! The driver for opencode.
//!
//! If the workspace is not trusted, opencode ignores its settings: `OPENCODE_DISABLE_PROJECT_CONFIG` skips its
//! settings, agents, servers and `AGENTS.md`, `OPENCODE_PURE` skips its plugins, and two more switches skip the files
//! of other agents. One thing stays open: files that the agent reads by itself can tell it anything.
//!
//! Permissions are rules in our settings, which override all others. With them opencode also limits commands to the
//! workspace, as far as it understands a command. No rule asks, and no flag skips anything.
//!
//! The model, `provider/model`, decides which key it uses. A session belongs to the folder in which it started: if it
//! is resumed from another folder, the program answers and never ends.

mod config;
mod stream;

use super::command::{Command, session_id};
use super::payer::{self, Payer};
use super::program::Program;
use super::prompt_text;
use super::version::Version;
use crate::contract::{
    Abilities, Agent, AgentSetup, Errand, InstalledAgent, Invocation, MissingAgent, Reader, Turn, TurnSession,
    UnsupportedTurn,
};
use crate::mcp;

/// opencode as an agent.
pub(super) struct Opencode;

const PROGRAM: Program = Program {
    name: "opencode",
    package: "opencode-ai",
    native: &["opencode-{os}-{arch}/bin/opencode", "opencode-{os}-{arch}-musl/bin/opencode"],
    floor: Version(1, 18, 0),
};
const CAN: Abilities = Abilities {
    resume: true,
    choose_session: false,
    compact: false,
    schema: false,
    budget: false,
    read_only: true,
    tools: true,
    mcp: true,
    mcp_only: false,
    system: false,
    images: true,
    cost: true,
};
/// The keys of its usual providers: the provider in a model's name, and the variable of its key.
pub(super) const KEYS: [(&str, &str); 10] = [
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_API_KEY"),
    ("openrouter", "OPENROUTER_API_KEY"),
    ("google", "GEMINI_API_KEY"),
    ("google", "GOOGLE_GENERATIVE_AI_API_KEY"),
    ("groq", "GROQ_API_KEY"),
    ("deepseek", "DEEPSEEK_API_KEY"),
    ("mistral", "MISTRAL_API_KEY"),
    ("xai", "XAI_API_KEY"),
    ("opencode", "OPENCODE_API_KEY"),
];
const QUIET: [&str; 3] = ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_SHARE"];
const CLOSED: [&str; 4] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_PURE",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
];

impl Agent for Opencode {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn title(&self) -> &'static str {
        "opencode, an open coding agent for many models"
    }

    fn abilities(&self) -> Abilities {
        CAN
    }

    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        PROGRAM.find(setup, |around| {
            let file = around.folder("XDG_DATA_HOME", ".local/share").join("opencode/auth.json");
            let accounts: longhaul_core::Json =
                std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
            accounts.as_object().is_some_and(|accounts| !accounts.is_empty())
        })
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        if turn.errand == Errand::Compact {
            return Err(UnsupportedTurn(
                "`opencode run` takes no command to shorten its context; begin a new session".to_owned(),
            ));
        }
        let mut command = Command::default();
        command.words(&["run", "--format=json"]);
        if let TurnSession::Resume { id, .. } = &turn.session {
            command.option("--session", session_id(id)?);
        }
        let model = turn.model.as_deref().or(setup.model.as_deref());
        command.option_if("--model", config::model_name(setup, model).as_deref());
        command.option_if("--variant", turn.effort.as_deref());
        command.switch(&QUIET, "1");
        if !turn.trusted {
            command.switch(&CLOSED, "1");
        }
        pay(&mut command, found, setup, model)?;
        mcp::write(setup, turn)?;
        command.set("OPENCODE_CONFIG_CONTENT", &config::of(setup, turn, model).to_string());
        command.finish(found, setup, prompt_text::text(turn, CAN).into_bytes())
    }

    fn reader(&self, _: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }
}

fn pay(
    command: &mut Command,
    found: &InstalledAgent,
    setup: &AgentSetup,
    model: Option<&str>,
) -> Result<(), UnsupportedTurn> {
    if payer::of(PROGRAM.name, found, setup)? == Payer::Login {
        let keys: Vec<&str> = KEYS.iter().map(|(_, key)| *key).collect();
        return payer::check(PROGRAM.name, setup, &keys);
    }
    if setup.base_url.is_some() {
        // opencode must not download a list of models; nothing there describes models that are served elsewhere.
        command.set("OPENCODE_DISABLE_MODELS_FETCH", "1");
        if model.is_none() {
            return Err(UnsupportedTurn("`opencode` with a `base_url` needs a `model`; name one".to_owned()));
        }
    }
    match &setup.key_env {
        Some(name) => command.keep(name),
        None => {
            let provider = model.and_then(|model| model.split_once('/')).map(|(provider, _)| provider);
            let keys = KEYS.iter().filter(|(known, _)| Some(*known) == provider);
            keys.for_each(|(_, key)| command.keep(key));
        }
    }
    Ok(())
}
