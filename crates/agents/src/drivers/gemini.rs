//! Gemini CLI.
//!
//! What the workspace says is closed to it unless it is trusted: with `GEMINI_CLI_TRUST_WORKSPACE=false` Gemini reads no
//! settings, hooks, servers, extensions or `GEMINI.md` of the workspace. By itself it would then refuse to work without a
//! person; that question is off in settings of ours, in a home of ours. Its address is always set, so that no `.env` file in
//! the workspace can send the key elsewhere. What cannot be closed: files that the agent reads by itself can tell it
//! anything, and an allowed shell reaches as far as its process does.
//!
//! What it is told is data, but Gemini has no way to be told so: `@path` in a prompt makes it send that file. So a path that is there is
//! written with its own sign for "no file", a backslash; and it is kept from searching for one.
//!
//! With its own login it lives in its own home, whose settings are not ours: there it works in trusted workspaces only.
//!
//! Permissions are a policy file: Gemini asks about nothing that a rule decides, and so needs no flag that skips questions.
//! It knows no effort; a turn that names one is put without it. It is a bundle in JavaScript that would start itself once
//! more as its own child; `GEMINI_CLI_NO_RELAUNCH` keeps it to one process.

mod mentions;
mod policy;
mod stream;

use super::command::{Command, session_id, without_version};
use super::payer::{self, Payer};
use super::program::Program;
use super::version::Version;
use super::{told, written};
use crate::contract::{
    Abilities, Agent, Errand, Found, Invocation, Missing, Permission, Reader, Refusal, Session, Setup, Turn,
};

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
    system: false,
    images: true,
    cost: false,
};
/// What is billed.
pub(super) const KEYS: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
/// Where its models are served.
const ADDRESS: &str = "https://generativelanguage.googleapis.com";
/// What it goes by in a home of ours.
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

    fn find(&self, setup: &Setup) -> Result<Found, Missing> {
        PROGRAM.find(setup, |around| around.folder("GEMINI_CLI_HOME", "").join(".gemini/oauth_creds.json").is_file())
    }

    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal> {
        let mut command = Command::default();
        command.words(&["--output-format=stream-json", "--approval-mode=default"]);
        let (flag, id) = match (&turn.session, turn.errand) {
            (Session::New(_), Errand::Compact) => return Err(super::nothing_to_shorten()),
            (Session::New(id), Errand::Work) => ("--session-id", id),
            (Session::Resume { id, .. }, _) => ("--resume", id),
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
            Errand::Work => mentions::closed(&told::prompt(turn, CAN), turn).into_bytes(),
            Errand::Compact => b"/compress".to_vec(),
        };
        command.finish(found, setup, stdin)
    }

    fn reader(&self, turn: &Turn) -> Box<dyn Reader> {
        Box::new(stream::Stream::new(turn))
    }
}

fn surround(command: &mut Command, found: &Found, setup: &Setup, turn: &Turn) -> Result<(), Refusal> {
    command.set("GEMINI_CLI_NO_RELAUNCH", "true");
    command.set("GEMINI_TELEMETRY_ENABLED", "false");
    command.set("GEMINI_CLI_TRUST_WORKSPACE", if turn.trusted { "true" } else { "false" });
    match payer::of(PROGRAM.name, found, setup)? {
        Payer::Login => by_login(command, setup, turn),
        Payer::Key => by_key(command, setup),
    }
}

fn by_login(command: &mut Command, setup: &Setup, turn: &Turn) -> Result<(), Refusal> {
    payer::check(PROGRAM.name, setup, &KEYS)?;
    if !turn.trusted {
        return Err(Refusal(
            "`gemini` with its own login works only in workspaces that are trusted; trust this one, or use `auth: key`"
                .to_owned(),
        ));
    }
    command.keep("GEMINI_CLI_HOME");
    command.keep("GOOGLE_CLOUD_PROJECT");
    Ok(())
}

fn by_key(command: &mut Command, setup: &Setup) -> Result<(), Refusal> {
    let home = setup.home.join("gemini");
    written::file(&home, ".gemini/settings.json", SETTINGS)?;
    command.set("GEMINI_CLI_HOME", &home.to_string_lossy());
    command.set("GOOGLE_GEMINI_BASE_URL", setup.base_url.as_deref().map_or(ADDRESS, without_version));
    payer::hand_key(command, setup, KEYS[0]);
    Ok(())
}
