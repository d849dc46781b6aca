//! GitHub Copilot.
//!
//! What the workspace says is closed to it unless it is trusted: `--no-custom-instructions` leaves `AGENTS.md` and its kind
//! unread. Hooks and servers of the workspace stay off in any case: Copilot takes the flag that would let them run only for
//! sessions whose id is its own choice, and a session that we cannot name is one that we cannot find again. What cannot be
//! closed: names and descriptions of the skills and agents that lie in the workspace and in further folders are in its prompt,
//! and files that the agent reads by itself can tell it anything.
//!
//! Looking denies what writes and leaves the rest to what Copilot runs unasked; editing allows shell and files, which
//! still keeps addresses from it. An allowed shell reaches as far as its process does. Everything is skipped only inside a sandbox.
//!
//! Its login is GitHub's. A key means a model of one's own, and then Copilot goes nowhere else (`COPILOT_OFFLINE`).

mod stream;

use super::command::{Command, session_id, with_version, without_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::surroundings::Surroundings;
use super::told;
use super::version::Version;
use crate::contract::{
    Abilities, Agent, Errand, Found, Invocation, Missing, Permission, Reader, Refusal, Session, Setup, Turn,
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
    system: false,
    images: true,
    cost: false,
};
/// What is billed.
pub(super) const KEYS: [&str; 2] = ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"];
/// Its login, where it is not in its own folder.
pub(super) const TOKENS: [&str; 3] = ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"];
/// Where a program of this name is asked to leave what a turn used.
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

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        PROGRAM.find(setup, |around| TOKENS.iter().any(|name| around.variable(name).is_some()) || has_account(around))
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        let mut command = Command::default();
        command.words(&["--output-format=json", "--no-color", "--no-auto-update", "--no-ask-user"]);
        if !turn.trusted {
            command.words(&["--no-custom-instructions"]);
        }
        match (&turn.session, turn.errand) {
            (Session::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
            (Session::New(id), Errand::Work) => command.option("--session-id", session_id(id)?),
            (Session::Resume { id, .. }, _) => command.option("--resume", session_id(id)?),
        }
        permit(&mut command, turn);
        command.option_if("--model", turn.model.as_deref().or(setup.model.as_deref()));
        command.option_if("--reasoning-effort", turn.effort.as_deref());
        command.option("--usage-output-file", &turn.scratch.join(USAGE_FILE).to_string_lossy());
        surround(&mut command, found, setup, turn)?;
        let stdin = match turn.errand {
            Errand::Work => told::prompt(turn, CAN).into_bytes(),
            Errand::Compact => b"/compact".to_vec(),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn, turn.scratch.join(USAGE_FILE)))
    }
}

/// Whether its settings know somebody who has logged in.
fn has_account(around: &Surroundings<'_>) -> bool {
    let file = around.folder("COPILOT_HOME", ".copilot").join("config.json");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // It begins with comments, which JSON does not know.
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

fn surround(command: &mut Command, found: &Found, setup: &Setup, turn: &Turn) -> Result<(), Refusal> {
    command.set("COPILOT_AUTO_UPDATE", "false");
    command.keep("COPILOT_HOME");
    match payer::of(PROGRAM.name, found, setup)? {
        Payer::Login => {
            payer::check(PROGRAM.name, setup, &KEYS)?;
            TOKENS.iter().chain(&["GH_HOST", "COPILOT_GH_HOST"]).for_each(|name| command.keep(name));
        }
        Payer::Key => {
            if turn.model.is_none() && setup.model.is_none() {
                return Err(Refusal("`copilot` with a key of one's own needs a `model`; name one".to_owned()));
            }
            provide(command, setup);
        }
    }
    Ok(())
}

/// With an address of ours nothing of the surroundings may choose another; without one they choose everything.
fn provide(command: &mut Command, setup: &Setup) {
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
