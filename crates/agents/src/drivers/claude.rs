//! Claude Code.
//!
//! What the workspace says is closed to it unless it is trusted: `--setting-sources=user` leaves the project's settings,
//! hooks, permissions, agents, skills and `CLAUDE.md` unread, `--strict-mcp-config` starts no server of `.mcp.json`, and
//! its address comes from our settings or not at all. What cannot be closed: files that the agent reads by itself can tell it
//! anything, and an allowed `Bash` reaches as far as its process does. Only a sandbox ends that.
//!
//! What it is told is data: as a message that nobody typed, `@path` names no file for it to open and `/word` is no command. By plain stdin
//! it would send files that its tools may not read, and run commands that a task only begins with.
//!
//! Permissions work as root without a flag that skips them: looking is `dontAsk`, in which Claude runs by itself only what it
//! knows to change nothing; editing is `acceptEdits`, which ends at the workspace. Everything is skipped only inside a sandbox.

mod stream;
mod usage;

use longhaul_core::Json;
use serde_json::json;

use super::command::{Command, session_id, without_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::version::Version;
use super::{told, written};
use crate::contract::{
    Abilities, Agent, Errand, Found, Invocation, Missing, Permission, Reader, Refusal, Session, Setup, Turn,
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
    system: true,
    images: true,
    cost: true,
};
/// What is billed.
/// Its login, where that is a variable.
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

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        PROGRAM.find(setup, |around| {
            let credentials = around.folder("CLAUDE_CONFIG_DIR", ".claude").join(".credentials.json");
            around.variable(LOGIN).is_some() || credentials.is_file()
        })
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        let mut command = Command::default();
        command.words(&["-p", "--input-format=stream-json", "--output-format=stream-json"]);
        command.words(&["--verbose", "--include-partial-messages"]);
        if !turn.trusted {
            command.words(&["--setting-sources=user", "--strict-mcp-config"]);
        }
        converse(&mut command, turn)?;
        permit(&mut command, turn);
        shape(&mut command, setup, turn)?;
        surround(&mut command, found, setup)?;
        let stdin = match turn.errand {
            Errand::Work => said(&told::text(turn, CAN), false),
            Errand::Compact => said("/compact", true),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

/// A message, as a line. What is not typed is delivered as it stands.
fn said(text: &str, is_typed: bool) -> Vec<u8> {
    let content = json!([{"type": "text", "text": text}]);
    let mut message = json!({"type": "user", "message": {"role": "user", "content": content}});
    if !is_typed {
        message["text_not_typed"] = Json::Bool(true);
    }
    format!("{message}\n").into_bytes()
}

fn converse(command: &mut Command, turn: &Turn) -> Result<(), Refusal> {
    let (flag, id) = match (&turn.session, turn.errand) {
        (Session::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
        (Session::New(id), Errand::Work) => ("--session-id", id),
        (Session::Resume { id, .. }, _) => ("--resume", id),
    };
    command.option(flag, session_id(id)?);
    if flag == "--resume" {
        // Otherwise who it was at first is who it stays.
        command.option("--system-prompt-snapshot", "off");
    }
    Ok(())
}

fn permit(command: &mut Command, turn: &Turn) {
    if turn.permission == Permission::Full && turn.sandboxed {
        command.words(&["--dangerously-skip-permissions"]);
        // Only with exactly this does it believe that as root.
        command.set("IS_SANDBOX", "1");
    } else {
        let mode = if turn.permission == Permission::ReadOnly { "dontAsk" } else { "acceptEdits" };
        command.option("--permission-mode", mode);
        if let Some(allowed) = joined(allowed(turn)) {
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

/// What it uses without asking. Writing inside the workspace needs no mention: the mode accepts it.
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

/// The name of a tool without what it may be used for: `Bash` of `Bash(git log *)`.
fn bare(tool: &str) -> &str {
    tool.split('(').next().unwrap_or(tool)
}

/// Tools of servers are there or not; the list is about its own.
fn own_tool(tool: &str) -> Option<&str> {
    Some(bare(tool)).filter(|name| !name.starts_with("mcp__"))
}

fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.into_iter().collect();
    (!words.is_empty()).then(|| words.join(","))
}

fn shape(command: &mut Command, setup: &Setup, turn: &Turn) -> Result<(), Refusal> {
    command.option_if("--model", turn.model.as_deref().or(setup.model.as_deref()));
    command.option_if("--effort", turn.effort.as_deref());
    if let Some(system) = &turn.system {
        // By a file: a persona may be longer than an argument.
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

fn surround(command: &mut Command, found: &Found, setup: &Setup) -> Result<(), Refusal> {
    command.switch(&QUIET, "1");
    // Whatever else may read what it is told: a path is no order to open it.
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
