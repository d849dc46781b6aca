//! The driver for GitHub Copilot.
//!
//! If the workspace is not trusted, Copilot ignores its instructions: `--no-custom-instructions` skips `AGENTS.md` and
//! similar files. Hooks and servers of the workspace are always off: Copilot accepts the flag that enables them only
//! for sessions whose id it chooses itself, and Longhaul cannot find such a session again. Two things stay open: the
//! names and descriptions of skills and agents in the workspace and in further folders are in its prompt, and files
//! that the agent reads by itself can tell it anything.
//!
//! Read-only denies tools that write, and leaves the rest to what Copilot runs without asking. Editing allows shell and
//! files, but no addresses. An allowed shell can do everything that its process can. Only inside a sandbox are all
//! permissions skipped.
//!
//! Its login is a GitHub login. A key means the user's own model; then Copilot contacts nothing else
//! (`COPILOT_OFFLINE`).

mod stream;

use serde_json::json;

use super::command::{Command, session_id, with_version, without_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::surroundings::Surroundings;
use super::version::Version;
use super::{prompt_text, servers};
use crate::contract::{
    Abilities, Agent, AgentSetup, Errand, InstalledAgent, Invocation, MissingAgent, Permission, Reader, Turn,
    TurnSession, UnsupportedTurn,
};

/// GitHub Copilot as an agent.
pub(super) struct Copilot;

const PROGRAM: Program = Program {
    name: "copilot",
    package: "@github/copilot",
    native: &["@github/copilot-{os}-{arch}/copilot"],
    floor: Version(1, 0, 90),
};
const CAN: Abilities = Abilities {
    resume: true,
    choose_session: true,
    compact: true,
    schema: false,
    budget: false,
    read_only: true,
    tools: true,
    mcp: true,
    mcp_only: false,
    system: false,
    images: true,
    cost: false,
};
/// The variables that hold keys.
pub(super) const KEYS: [&str; 2] = ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"];
/// The variables that can hold its login, if it is not in its own folder.
pub(super) const TOKENS: [&str; 3] = ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"];
/// The file into which Copilot writes the usage of a turn.
const USAGE_FILE: &str = "usage.json";

impl Agent for Copilot {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn title(&self) -> &'static str {
        "GitHub Copilot on the command line"
    }

    fn abilities(&self) -> Abilities {
        CAN
    }

    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        PROGRAM.find(setup, |around| TOKENS.iter().any(|name| around.variable(name).is_some()) || has_account(around))
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        let mut command = Command::default();
        command.words(&["--output-format=json", "--no-color", "--no-auto-update", "--no-ask-user"]);
        if !turn.trusted {
            command.words(&["--no-custom-instructions"]);
        }
        match (&turn.session, turn.errand) {
            (TurnSession::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
            (TurnSession::New(id), Errand::Work) => command.option("--session-id", session_id(id)?),
            (TurnSession::Resume { id, .. }, _) => command.option("--resume", session_id(id)?),
        }
        permit(&mut command, turn);
        serve(&mut command, setup, turn)?;
        command.option_if("--model", turn.model.as_deref().or(setup.model.as_deref()));
        command.option_if("--reasoning-effort", turn.effort.as_deref());
        command.option("--usage-output-file", &turn.scratch.join(USAGE_FILE).to_string_lossy());
        surround(&mut command, found, setup, turn)?;
        let stdin = match turn.errand {
            Errand::Work => prompt_text::prompt(turn, CAN).into_bytes(),
            Errand::Compact => b"/compact".to_vec(),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn, turn.scratch.join(USAGE_FILE)))
    }
}

/// Whether its settings contain a user who has logged in.
fn has_account(around: &Surroundings<'_>) -> bool {
    let file = around.folder("COPILOT_HOME", ".copilot").join("config.json");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // The file starts with comments, which are not valid JSON.
    let start = text.find('{').unwrap_or_default();
    let settings: longhaul_core::Json = serde_json::from_str(&text[start..]).unwrap_or_default();
    ["loggedInUsers", "logged_in_users"]
        .iter()
        .any(|key| settings[*key].as_array().is_some_and(|users| !users.is_empty()))
}

fn permit(command: &mut Command, turn: &Turn) {
    match turn.permission {
        Permission::ReadOnly => command.option("--deny-tool", "write"),
        Permission::Edit => command.words(&["--allow-tool=shell", "--allow-tool=write"]),
        Permission::Full if turn.sandboxed => command.words(&["--allow-all"]),
        Permission::Full => {
            command.words(&["--allow-tool=shell", "--allow-tool=write", "--allow-tool=url", "--add-dir=/"]);
        }
    }
    if let Some(tools) = &turn.tools {
        command.option("--available-tools", &tools.join(","));
    }
    for dir in &turn.dirs {
        command.option("--add-dir", &dir.to_string_lossy());
    }
}

/// The MCP servers of the turn.
fn serve(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    if turn.mcp.is_empty() {
        return Ok(());
    }
    let file = servers::config_file(setup, turn, |_| json!({"type": "local", "tools": ["*"]}))?;
    command.option("--additional-mcp-config", &format!("@{file}"));
    for allowed in servers::allowed(turn, str::to_owned, |server, tool| format!("{server}({tool})")) {
        command.option("--allow-tool", &allowed);
    }
    Ok(())
}

fn surround(
    command: &mut Command,
    found: &InstalledAgent,
    setup: &AgentSetup,
    turn: &Turn,
) -> Result<(), UnsupportedTurn> {
    command.set("COPILOT_AUTO_UPDATE", "false");
    command.keep("COPILOT_HOME");
    match payer::of(PROGRAM.name, found, setup)? {
        Payer::Login => {
            payer::check(PROGRAM.name, setup, &KEYS)?;
            TOKENS.iter().chain(&["GH_HOST", "COPILOT_GH_HOST"]).for_each(|name| command.keep(name));
        }
        Payer::Key => {
            if turn.model.is_none() && setup.model.is_none() {
                return Err(UnsupportedTurn("`copilot` with your own key needs a `model`; name one".to_owned()));
            }
            provide(command, setup);
        }
    }
    Ok(())
}

/// With an address from our settings, the environment must not choose another one; without it, the environment decides.
fn provide(command: &mut Command, setup: &AgentSetup) {
    command.set("COPILOT_OFFLINE", "true");
    match &setup.base_url {
        Some(url) if setup.env.get("COPILOT_PROVIDER_TYPE").is_some_and(|kind| kind == "anthropic") => {
            command.set("COPILOT_PROVIDER_BASE_URL", without_version(url));
        }
        Some(url) => command.set("COPILOT_PROVIDER_BASE_URL", &with_version(url)),
        None => command.keep("COPILOT_PROVIDER_*"),
    }
    payer::hand_key(command, setup, KEYS[0]);
}
