//! opencode.
//!
//! What the workspace says is closed to it unless it is trusted: `OPENCODE_DISABLE_PROJECT_CONFIG` leaves its settings,
//! agents, servers and `AGENTS.md` unread, `OPENCODE_PURE` its plugins, and two more switches the files that other agents
//! keep there. What cannot be closed: files that the agent reads by itself can tell it anything.
//!
//! Permissions are rules in settings of ours, which come after all others; opencode holds commands to the workspace by
//! them too, as far as it understands a command. None of them asks, and nothing is skipped by a flag.
//!
//! Which key it goes by follows from the model, `provider/model`. A session belongs to the folder it began in: resumed
//! from another one, the program answers and never ends.

mod config;
mod stream;

use super::command::{Command, session_id};
use super::payer::{self, Payer};
use super::program::Program;
use super::told;
use super::version::Version;
use crate::contract::{Abilities, Agent, Errand, Found, Invocation, Missing, Reader, Refusal, Session, Setup, Turn};

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
    system: false,
    images: true,
    cost: true,
};
/// What is billed, as far as its usual providers go: the provider in a model's name, and its key.
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

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        PROGRAM.find(setup, |around| {
            let file = around.folder("XDG_DATA_HOME", ".local/share").join("opencode/auth.json");
            let accounts: longhaul_core::Json =
                std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
            accounts.as_object().is_some_and(|accounts| !accounts.is_empty())
        })
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        if turn.errand == Errand::Compact {
            return Err(Refusal(
                "`opencode run` takes no command to shorten its context; begin a new session".to_owned(),
            ));
        }
        let mut command = Command::default();
        command.words(&["run", "--format=json"]);
        if let Session::Resume { id, .. } = &turn.session {
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
        command.set("OPENCODE_CONFIG_CONTENT", &config::of(setup, turn, model).to_string());
        command.finish(found, setup, told::text(turn, CAN).into_bytes())
    }

    fn reader(&self, _: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }
}

fn pay(command: &mut Command, found: &Found, setup: &Setup, model: Option<&str>) -> Result<(), Refusal> {
    if payer::of(PROGRAM.name, found, setup)? == Payer::Login {
        let keys: Vec<&str> = KEYS.iter().map(|(_, key)| *key).collect();
        return payer::check(PROGRAM.name, setup, &keys);
    }
    if setup.base_url.is_some() {
        // Of models that are served elsewhere nothing is known, and nothing is to be asked about them.
        command.set("OPENCODE_DISABLE_MODELS_FETCH", "1");
        if model.is_none() {
            return Err(Refusal("`opencode` with a `base_url` needs a `model`; name one".to_owned()));
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
