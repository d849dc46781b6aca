//! The driver for Gemini CLI.
//!
//! If the workspace is not trusted, Gemini ignores its settings: with `GEMINI_CLI_TRUST_WORKSPACE=false` it reads no
//! settings, hooks, servers, extensions or `GEMINI.md` of the workspace. By itself it would then refuse to work without
//! a person; our own settings, in our own home folder, switch that question off. Its address is always set, so that no
//! `.env` file in the workspace can send the key elsewhere. Two things stay open: files that the agent reads by itself
//! can tell it anything, and an allowed shell can do everything that its process can.
//!
//! The prompt is data, but Gemini has no option for that: `@path` in a prompt makes it send that file. So Longhaul
//! writes a backslash, Gemini's own escape, before the `@` of an existing path, and switches the search for files off.
//!
//! With its own login it uses its own home folder, whose settings are not ours: there it works only in trusted
//! workspaces.
//!
//! Permissions are a policy file: Gemini asks nothing that a rule decides, so it needs no flag that skips questions. It
//! has no effort setting; Longhaul drops the effort of a turn. Gemini is a JavaScript bundle that would start itself
//! again as its own child; `GEMINI_CLI_NO_RELAUNCH` keeps it in one process.

mod mentions;
mod policy;
mod stream;

use std::path::Path;

use longhaul_core::Json;
use serde_json::json;

use super::command::{Command, session_id, without_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::version::Version;
use super::{prompt_text, servers, written};
use crate::contract::{
    Abilities, Agent, AgentSetup, Errand, InstalledAgent, Invocation, MissingAgent, Permission, Reader, Turn,
    TurnSession, UnsupportedTurn,
};
use crate::mcp;

/// Gemini CLI as an agent.
pub(super) struct Gemini;

const PROGRAM: Program =
    Program { name: "gemini", package: "@google/gemini-cli", native: &[], floor: Version(0, 60, 0) };
const CAN: Abilities = Abilities {
    resume: true,
    choose_session: true,
    compact: true,
    schema: false,
    budget: false,
    read_only: true,
    tools: true,
    mcp: true,
    mcp_only: true,
    system: false,
    images: true,
    cost: false,
};
/// The variables that hold keys.
pub(super) const KEYS: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
/// The variable that holds the path of the turn's servers.
const SERVERS_FILE: &str = "LONGHAUL_MCP_FILE";
/// The default address of its models.
const ADDRESS: &str = "https://generativelanguage.googleapis.com";
/// Its settings in our home folder.
const SETTINGS: &str = r#"{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "context": {"fileFiltering": {"enableRecursiveFileSearch": false}}
}
"#;

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn title(&self) -> &'static str {
        "Gemini CLI, Google's coding agent"
    }

    fn abilities(&self) -> Abilities {
        CAN
    }

    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        PROGRAM.find(setup, |around| around.folder("GEMINI_CLI_HOME", "").join(".gemini/oauth_creds.json").is_file())
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        let mut command = Command::default();
        command.words(&["--output-format=stream-json", "--approval-mode=default"]);
        let (flag, id) = match (&turn.session, turn.errand) {
            (TurnSession::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
            (TurnSession::New(id), Errand::Work) => ("--session-id", id),
            (TurnSession::Resume { id, .. }, _) => ("--resume", id),
        };
        command.option(flag, session_id(id)?);
        command.option("--policy", &written::file(&turn.scratch, "policy.toml", &policy::of(turn))?);
        command.option_if("--model", turn.model.as_deref().or(setup.model.as_deref()));
        if turn.permission == Permission::Full {
            command.option("--include-directories", "/");
        }
        for dir in &turn.dirs {
            command.option("--include-directories", &dir.to_string_lossy());
        }
        surround(&mut command, found, setup, turn)?;
        let stdin = match turn.errand {
            Errand::Work => mentions::closed(&prompt_text::prompt(turn, CAN), turn).into_bytes(),
            Errand::Compact => b"/compress".to_vec(),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

/// The MCP servers of the turn, as an extension in our home folder. Turns with the same servers share it: the file of a
/// turn comes through a variable. Other extensions there belong to other turns.
fn extend(command: &mut Command, setup: &AgentSetup, turn: &Turn, home: &Path) -> Result<(), UnsupportedTurn> {
    mcp::write(setup, turn)?;
    let servers = json!(servers::listed(setup, turn, &format!("${SERVERS_FILE}"), |_| Json::Null));
    let name = if turn.mcp.is_empty() { "none".to_owned() } else { format!("longhaul-{}", hash(&servers.to_string())) };
    command.option("--extensions", &name);
    if turn.mcp.is_empty() {
        return Ok(());
    }
    let extension = json!({"name": name, "version": "1.0.0", "mcpServers": servers}).to_string();
    written::file(&home.join(".gemini/extensions").join(&name), "gemini-extension.json", &extension)?;
    command.set(SERVERS_FILE, &mcp::file(turn).to_string_lossy());
    Ok(())
}

/// FNV-1a: any hash is good enough for a name.
fn hash(text: &str) -> String {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

fn surround(
    command: &mut Command,
    found: &InstalledAgent,
    setup: &AgentSetup,
    turn: &Turn,
) -> Result<(), UnsupportedTurn> {
    command.set("GEMINI_CLI_NO_RELAUNCH", "true");
    command.set("GEMINI_TELEMETRY_ENABLED", "false");
    command.set("GEMINI_CLI_TRUST_WORKSPACE", if turn.trusted { "true" } else { "false" });
    match payer::of(PROGRAM.name, found, setup)? {
        Payer::Login => by_login(command, setup, turn),
        Payer::Key => by_key(command, setup, turn),
    }
}

fn by_login(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    payer::check(PROGRAM.name, setup, &KEYS)?;
    if !turn.trusted {
        return Err(UnsupportedTurn(
            "`gemini` with its own login works only in workspaces that are trusted; trust this one, or use `auth: key`"
                .to_owned(),
        ));
    }
    if !turn.mcp.is_empty() {
        return Err(UnsupportedTurn(
            "`gemini` with its own login cannot be given MCP servers; use `auth: key`, or leave `mcp` out".to_owned(),
        ));
    }
    command.keep("GEMINI_CLI_HOME");
    command.keep("GOOGLE_CLOUD_PROJECT");
    Ok(())
}

fn by_key(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    let home = setup.home.join("gemini");
    written::file(&home, ".gemini/settings.json", SETTINGS)?;
    if !turn.mcp.is_empty() && !turn.trusted {
        return Err(UnsupportedTurn(
            "`gemini` starts MCP servers only in workspaces that are trusted; trust this one with `longhaul trust`, or leave \
             `mcp` out"
                .to_owned(),
        ));
    }
    extend(command, setup, turn, &home)?;
    command.set("GEMINI_CLI_HOME", &home.to_string_lossy());
    command.set("GOOGLE_GEMINI_BASE_URL", setup.base_url.as_deref().map_or(ADDRESS, without_version));
    payer::hand_key(command, setup, KEYS[0]);
    Ok(())
}
