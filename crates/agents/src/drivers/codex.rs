//! The driver for Codex.
//!
//! If the workspace is not trusted, Codex must ignore its settings, and that needs explicit options. With a sandbox
//! that may write, Codex trusts the workspace, stores that in its own settings for good, and starts the servers in
//! `.codex/config.toml`, all in the same run. So the command line calls the workspace untrusted. That overrides the
//! settings, and Codex does not store it. No folder above the workspace counts as the project, and Codex reads no byte
//! of `AGENTS.md`. One thing stays open: files that the agent reads by itself can tell it anything.
//!
//! Codex confines commands itself. Full access exists only inside another sandbox; without one, full access is Codex's
//! own sandbox with the whole disk and the network.

mod stream;

use super::command::{Command, session_id, with_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::version::Version;
use super::{prompt_text, written};
use crate::contract::{
    Abilities, Agent, AgentSetup, Errand, InstalledAgent, Invocation, MissingAgent, Permission, Reader, Turn,
    TurnSession, UnsupportedTurn,
};
use crate::mcp;

/// Codex as an agent.
pub(super) struct Codex;

const PROGRAM: Program = Program {
    name: "codex",
    package: "@openai/codex",
    native: &["@openai/codex-{os}-{arch}/vendor/{triple}/bin/codex"],
    floor: Version(0, 160, 0),
};
const CAN: Abilities = Abilities {
    resume: true,
    choose_session: false,
    compact: false,
    schema: true,
    budget: false,
    read_only: true,
    tools: false,
    mcp: true,
    mcp_only: false,
    system: false,
    images: true,
    cost: false,
};
/// The variables that hold keys; `exec` reads the first.
pub(super) const KEYS: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];
/// The name of the provider for an address from our settings.
const PROVIDER: &str = "longhaul";
const QUIET: [&str; 3] = ["analytics.enabled=false", "check_for_update_on_startup=false", "feedback.enabled=false"];

impl Agent for Codex {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn title(&self) -> &'static str {
        "Codex, OpenAI's coding agent"
    }

    fn abilities(&self) -> Abilities {
        CAN
    }

    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        PROGRAM.find(setup, |around| around.folder("CODEX_HOME", ".codex").join("auth.json").is_file())
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        refuse(turn)?;
        let mut command = Command::default();
        command.words(&["exec", "--json", "--color=never", "--skip-git-repo-check"]);
        for value in QUIET {
            command.words(&["-c", value]);
        }
        close(&mut command, turn);
        permit(&mut command, turn);
        shape(&mut command, setup, turn)?;
        serve(&mut command, setup, turn)?;
        pay(&mut command, found, setup)?;
        if let TurnSession::Resume { id, .. } = &turn.session {
            command.words(&["resume", session_id(id)?]);
        }
        command.words(&["-"]);
        command.finish(found, setup, prompt_text::text(turn, CAN).into_bytes())
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

fn refuse(turn: &Turn) -> Result<(), UnsupportedTurn> {
    if turn.errand == Errand::Compact {
        return Err(UnsupportedTurn(
            "`codex exec` takes no command to shorten its context; begin a new session".to_owned(),
        ));
    }
    if turn.tools.is_some() {
        return Err(UnsupportedTurn("`codex` cannot be given a list of tools; leave `tools` out".to_owned()));
    }
    Ok(())
}

/// A setting on the command line; Codex reads the value as TOML.
fn set(command: &mut Command, key: &str, value: &str) {
    command.words(&["-c", &format!("{key}={value}")]);
}

fn close(command: &mut Command, turn: &Turn) {
    let level = if turn.trusted { "trusted" } else { "untrusted" };
    // As a table, because Codex would split a path in a dotted key at its dots.
    set(command, "projects", &format!("{{{}={{trust_level=\"{level}\"}}}}", quoted(&turn.cwd.to_string_lossy())));
    if !turn.trusted {
        set(command, "project_root_markers", "[]");
        set(command, "project_doc_max_bytes", "0");
    }
}

fn permit(command: &mut Command, turn: &Turn) {
    let mode = match turn.permission {
        Permission::ReadOnly => "read-only",
        Permission::Full if turn.sandboxed => "danger-full-access",
        Permission::Edit | Permission::Full => "workspace-write",
    };
    command.option("--sandbox", mode);
    if turn.permission == Permission::Full && !turn.sandboxed {
        set(command, "sandbox_workspace_write.network_access", "true");
        set(command, "sandbox_workspace_write.writable_roots", "[\"/\"]");
    }
    for dir in turn.dirs.iter().filter(|_| turn.permission != Permission::ReadOnly) {
        command.option("--add-dir", &dir.to_string_lossy());
    }
}

/// The MCP servers of the turn. Codex would ask a person about each call, so what is not approved here is denied.
fn serve(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    mcp::write(setup, turn)?;
    let file = mcp::file(turn);
    for server in &turn.mcp {
        let key = format!("mcp_servers.{}", server.name);
        let entry = mcp::entry(setup, &file.to_string_lossy(), server);
        set(command, &format!("{key}.command"), &quoted(&entry.command));
        set(command, &format!("{key}.args"), &longhaul_core::Json::from(entry.args.to_vec()).to_string());
        let rest = if server.tools.is_none() { "approve" } else { "prompt" };
        set(command, &format!("{key}.default_tools_approval_mode"), &quoted(rest));
        if let Some(tools) = &server.tools {
            let approved = tools.iter().map(|tool| format!("{}={{approval_mode=\"approve\"}}", quoted(tool)));
            set(command, &format!("{key}.tools"), &format!("{{{}}}", approved.collect::<Vec<_>>().join(",")));
        }
    }
    Ok(())
}

fn shape(command: &mut Command, setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    if let Some(model) = turn.model.as_deref().or(setup.model.as_deref()) {
        let (profile, slug) = profile_and_slug(model);
        command.option_if("--profile", profile);
        command.option_if("--model", slug);
    }
    if let Some(effort) = &turn.effort {
        set(command, "model_reasoning_effort", &quoted(effort));
    }
    if let Some(schema) = &turn.schema {
        command.option("--output-schema", &written::file(&turn.scratch, "schema.json", &schema.to_string())?);
    }
    Ok(())
}

/// `profile@model`, where either may be missing; a text without an `@` is a model.
fn profile_and_slug(model: &str) -> (Option<&str>, Option<&str>) {
    let filled = |text: &'_ str| !text.is_empty();
    match model.split_once('@') {
        Some((profile, slug)) => {
            (Some(profile.trim()).filter(|text| filled(text)), Some(slug.trim()).filter(|text| filled(text)))
        }
        None => (None, Some(model)),
    }
}

fn pay(command: &mut Command, found: &InstalledAgent, setup: &AgentSetup) -> Result<(), UnsupportedTurn> {
    command.keep("CODEX_HOME");
    match (payer::of(PROGRAM.name, found, setup)?, &setup.base_url) {
        (Payer::Login, _) => payer::check(PROGRAM.name, setup, &KEYS)?,
        (Payer::Key, Some(url)) => provide(command, setup, url),
        (Payer::Key, None) => match &setup.key_env {
            Some(_) => payer::hand_key(command, setup, KEYS[0]),
            None => {
                command.keep(&format!("{}={}", KEYS[0], KEYS[1]));
                command.keep(KEYS[0]);
            }
        },
    }
    Ok(())
}

fn provide(command: &mut Command, setup: &AgentSetup, url: &str) {
    let key = setup.key_env.as_deref().unwrap_or(KEYS[1]);
    set(command, "model_provider", &quoted(PROVIDER));
    let fields = [("name", PROVIDER), ("base_url", &with_version(url)), ("env_key", key), ("wire_api", "responses")];
    for (field, value) in fields {
        set(command, &format!("model_providers.{PROVIDER}.{field}"), &quoted(value));
    }
    command.keep(key);
}

/// A text as TOML. A JSON string is also a TOML string.
fn quoted(text: &str) -> String {
    longhaul_core::Json::from(text).to_string()
}
