//! The driver for Claude Code.
//!
//! If the workspace is not trusted, Claude ignores its settings: `--setting-sources=user` skips the project's settings,
//! hooks, permissions, agents, skills and `CLAUDE.md`, `--strict-mcp-config` starts no server of `.mcp.json`, and only
//! our settings can set its address. Two things stay open: files that the agent reads by itself can tell it anything,
//! and an allowed `Bash` can do everything that its process can. Only a sandbox prevents that.
//!
//! The prompt is data: it is sent as a message that no person typed, so `@path` opens no file and `/word` is not a
//! command. With plain stdin Claude would send files that its tools may not read, and would run a command at the start
//! of a task.
//!
//! Permissions work as root without a flag that skips them: read-only is `dontAsk`, in which Claude runs by itself only
//! tools that change nothing; editing is `acceptEdits`, which is limited to the workspace. Only inside a sandbox are
//! all permissions skipped.

mod stream;
mod usage;

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

/// Claude Code as an agent.
pub(super) struct Claude;

const PROGRAM: Program = Program {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    native: &["@anthropic-ai/claude-code-{os}-{arch}/claude", "@anthropic-ai/claude-code-{os}-{arch}-musl/claude"],
    floor: Version(2, 1, 300),
};
const CAN: Abilities = Abilities {
    resume: true,
    choose_session: true,
    compact: true,
    schema: true,
    budget: true,
    read_only: true,
    tools: true,
    mcp: true,
    mcp_only: true,
    system: true,
    images: true,
    cost: true,
};
/// The variable that holds its login token.
pub(super) const LOGIN: &str = "CLAUDE_CODE_OAUTH_TOKEN";
pub(super) const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];
const QUIET: [&str; 3] = ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"];
/// Tools that change files by themselves.
const WRITING: [&str; 3] = ["Edit", "Write", "NotebookEdit"];
/// Tools that ask before they are used.
const ASKING: [&str; 3] = ["Bash", "WebFetch", "WebSearch"];

impl Agent for Claude {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn title(&self) -> &'static str {
        "Claude Code, Anthropic's coding agent"
    }

    fn abilities(&self) -> Abilities {
        CAN
    }

    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        PROGRAM.find(setup, |around| {
            let credentials = around.folder("CLAUDE_CONFIG_DIR", ".claude").join(".credentials.json");
            around.variable(LOGIN).is_some() || credentials.is_file()
        })
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        let mut command = Command::default();
        command.words(&["-p", "--input-format=stream-json", "--output-format=stream-json"]);
        command.words(&["--verbose", "--include-partial-messages"]);
        if !turn.trusted {
            command.words(&["--setting-sources=user"]);
        }
        serve(&mut command, setup, turn)?;
        converse(&mut command, turn)?;
        permit(&mut command, turn);
        shape(&mut command, setup, turn)?;
        surround(&mut command, found, setup)?;
        let stdin = match turn.errand {
            Errand::Work => said(&prompt_text::text(turn, CAN), false),
            Errand::Compact => said("/compact", true),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

/// A message as a line. A message that is not marked as typed is delivered unchanged.
fn said(text: &str, is_typed: bool) -> Vec<u8> {
    let content = json!([{"type": "text", "text": text}]);
    let mut message = json!({"type": "user", "message": {"role": "user", "content": content}});
    if !is_typed {
        message["text_not_typed"] = Json::Bool(true);
    }
    format!("{message}\n").into_bytes()
}

/// The MCP servers of the turn. In a workspace that is not trusted, Claude starts no others: `.mcp.json` is in it.
fn serve(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    if !turn.trusted || turn.mcp_only {
        command.words(&["--strict-mcp-config"]);
    }
    if !turn.mcp.is_empty() {
        command.option("--mcp-config", &servers::config_file(setup, turn, |_| json!({"type": "stdio"}))?);
    }
    Ok(())
}

fn converse(command: &mut Command, turn: &Turn) -> Result<(), UnsupportedTurn> {
    let (flag, id) = match (&turn.session, turn.errand) {
        (TurnSession::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
        (TurnSession::New(id), Errand::Work) => ("--session-id", id),
        (TurnSession::Resume { id, .. }, _) => ("--resume", id),
    };
    command.option(flag, session_id(id)?);
    if flag == "--resume" {
        // Otherwise Claude keeps the system prompt of the first turn.
        command.option("--system-prompt-snapshot", "off");
    }
    Ok(())
}

fn permit(command: &mut Command, turn: &Turn) {
    if turn.permission == Permission::Full && turn.sandboxed {
        command.words(&["--dangerously-skip-permissions"]);
        // As root, Claude accepts the flag only with exactly this value.
        command.set("IS_SANDBOX", "1");
    } else {
        let mode = if turn.permission == Permission::ReadOnly { "dontAsk" } else { "acceptEdits" };
        command.option("--permission-mode", mode);
        let servers =
            servers::allowed(turn, |server| format!("mcp__{server}"), |server, tool| format!("mcp__{server}__{tool}"));
        if let Some(allowed) = joined(allowed(turn).into_iter().chain(servers.iter().map(String::as_str))) {
            command.option("--allowedTools", &allowed);
        }
    }
    if turn.permission == Permission::ReadOnly {
        command.option("--disallowedTools", &WRITING.join(","));
    }
    if let Some(tools) = &turn.tools {
        command.option("--tools", &joined(tools.iter().filter_map(|tool| own_tool(tool))).unwrap_or_default());
    }
}

/// The tools that it may use without asking. Writing inside the workspace is not listed: the mode allows it.
fn allowed(turn: &Turn) -> Vec<&str> {
    let writes = |tool: &&str| WRITING.contains(&bare(tool));
    match (&turn.tools, turn.permission) {
        (None, Permission::ReadOnly) => Vec::new(),
        (None, Permission::Edit) => ASKING.to_vec(),
        (None, Permission::Full) => ASKING.into_iter().chain(WRITING).collect(),
        (Some(tools), Permission::Full) => tools.iter().map(String::as_str).collect(),
        (Some(tools), _) => tools.iter().map(String::as_str).filter(|tool| !writes(tool)).collect(),
    }
}

/// The name of a tool without its restriction: `Bash` of `Bash(git log *)`.
fn bare(tool: &str) -> &str {
    tool.split('(').next().unwrap_or(tool)
}

/// The tool, if it is one of Claude's own; the list does not cover tools of servers.
fn own_tool(tool: &str) -> Option<&str> {
    Some(bare(tool)).filter(|name| !name.starts_with("mcp__"))
}

fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.into_iter().collect();
    (!words.is_empty()).then(|| words.join(","))
}

fn shape(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    command.option_if("--model", turn.model.as_deref().or(setup.model.as_deref()));
    command.option_if("--effort", turn.effort.as_deref());
    if let Some(system) = &turn.system {
        // In a file, because a persona may be longer than an argument may be.
        let file = written::file(&turn.scratch, "system.md", system)?;
        command.option("--append-system-prompt-file", &file);
    }
    command.option_if("--json-schema", turn.schema.as_ref().map(ToString::to_string).as_deref());
    command.option_if("--max-budget-usd", turn.budget_usd.map(|usd| usd.to_string()).as_deref());
    for dir in &turn.dirs {
        command.option("--add-dir", &dir.to_string_lossy());
    }
    Ok(())
}

fn surround(command: &mut Command, found: &InstalledAgent, setup: &AgentSetup) -> Result<(), UnsupportedTurn> {
    command.switch(&QUIET, "1");
    // For every other text that it may read: a path must not open a file.
    command.set("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1");
    command.keep("CLAUDE_CONFIG_DIR");
    match payer::of(PROGRAM.name, found, setup)? {
        Payer::Login => {
            payer::check(PROGRAM.name, setup, &KEYS)?;
            command.keep(LOGIN);
        }
        Payer::Key => {
            payer::hand_key(command, setup, KEYS[0]);
            if setup.key_env.is_none() {
                command.keep(KEYS[1]);
            }
        }
    }
    if let Some(url) = &setup.base_url {
        command.set("ANTHROPIC_BASE_URL", without_version(url));
    }
    Ok(())
}
