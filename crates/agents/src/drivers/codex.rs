//! Codex.
//!
//! What the workspace says is closed to it unless it is trusted, and that takes more than saying nothing: a sandbox that
//! may write makes Codex trust the workspace, remember that for ever in its own settings, and start the servers that
//! `.codex/config.toml` names, all in the same run. So the workspace is called untrusted on the command line, which counts
//! above the settings and keeps it from being remembered; nothing marks a folder above it as the project; and of
//! `AGENTS.md` no byte is read. What cannot be closed: files that the agent reads by itself can tell it anything.
//!
//! Codex confines commands itself. Anything goes only inside another sandbox; without one, "anything" is its sandbox
//! with the whole disk and the network inside.

mod stream;

use super::command::{Command, session_id, with_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::version::Version;
use super::{told, written};
use crate::contract::{
    Abilities, Agent, Errand, Found, Invocation, Missing, Permission, Reader, Refusal, Session, Setup, Turn,
};

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
    system: false,
    images: true,
    cost: false,
};
/// What is billed; the first is what `exec` reads.
pub(super) const KEYS: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];
/// What we call the provider behind an address of ours.
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

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        PROGRAM.find(setup, |around| around.folder("CODEX_HOME", ".codex").join("auth.json").is_file())
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        refuse(turn)?;
        let mut command = Command::default();
        command.words(&["exec", "--json", "--color=never", "--skip-git-repo-check"]);
        for value in QUIET {
            command.words(&["-c", value]);
        }
        close(&mut command, turn);
        permit(&mut command, turn);
        shape(&mut command, setup, turn)?;
        pay(&mut command, found, setup)?;
        if let Session::Resume { id, .. } = &turn.session {
            command.words(&["resume", session_id(id)?]);
        }
        command.words(&["-"]);
        command.finish(found, setup, told::text(turn, CAN).into_bytes())
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

fn refuse(turn: &Turn) -> Result<(), Refusal> {
    if turn.errand == Errand::Compact {
        return Err(Refusal("`codex exec` takes no command to shorten its context; begin a new session".to_owned()));
    }
    if turn.tools.is_some() {
        return Err(Refusal("`codex` cannot be given a list of tools; leave `tools` out".to_owned()));
    }
    Ok(())
}

/// A setting on the command line: the value is read as TOML.
fn set(command: &mut Command, key: &str, value: &str) {
    command.words(&["-c", &format!("{key}={value}")]);
}

fn close(command: &mut Command, turn: &Turn) {
    let level = if turn.trusted { "trusted" } else { "untrusted" };
    // As a table, because a path in a dotted key would be split at its dots.
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

fn shape(command: &mut Command, setup: &Setup, turn: &Turn) -> Result<(), Refusal> {
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

/// `profile@model`, either of which may be missing; without an `@` it is a model.
fn profile_and_slug(model: &str) -> (Option<&str>, Option<&str>) {
    let filled = |text: &'_ str| !text.is_empty();
    match model.split_once('@') {
        Some((profile, slug)) => {
            (Some(profile.trim()).filter(|text| filled(text)), Some(slug.trim()).filter(|text| filled(text)))
        }
        None => (None, Some(model)),
    }
}

fn pay(command: &mut Command, found: &Found, setup: &Setup) -> Result<(), Refusal> {
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

fn provide(command: &mut Command, setup: &Setup, url: &str) {
    let key = setup.key_env.as_deref().unwrap_or(KEYS[1]);
    set(command, "model_provider", &quoted(PROVIDER));
    let fields = [("name", PROVIDER), ("base_url", &with_version(url)), ("env_key", key), ("wire_api", "responses")];
    for (field, value) in fields {
        set(command, &format!("model_providers.{PROVIDER}.{field}"), &quoted(value));
    }
    command.keep(key);
}

/// A text as TOML writes it. JSON's way of writing is one of TOML's.
fn quoted(text: &str) -> String {
    longhaul_core::Json::from(text).to_string()
}
