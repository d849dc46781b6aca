//! `longhaul agents` and `longhaul doctor`: lists the agents, what each can do, and whether it works.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_agents::contract::{Abilities, Agent, AgentAuth, InstalledAgent, MissingAgent};
use longhaul_agents::drivers;
use longhaul_agents::serve::{KnownEndpoint, known_endpoints};
use longhaul_config::trust::sensitive_files;
use longhaul_config::{Backends, Profile};
use longhaul_project::{Project, Settings, place, state, trusted};
use rustix::fs::{Access, access};
use serde::Serialize;
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::{ui, width};

/// How long `doctor` waits for the database to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// List the agents: which are installed, and what each can do
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Check everything that a run needs, and name what is missing
///
/// Sends nothing to anybody. It asks each agent for its version, and the database of the runs whether it answers.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// An agent that a user can name: a driver, or a profile of the settings.
struct Known {
    name: String,
    driver: &'static dyn Agent,
    found: Result<InstalledAgent, MissingAgent>,
    /// Whether the settings choose payment by an API key.
    by_key: bool,
    /// What is known about its endpoints.
    endpoints: Vec<KnownEndpoint>,
}

impl Known {
    fn of(name: &str, profile: &Profile, home: &Path) -> Option<Self> {
        let driver = drivers::by_name(profile.backend.as_deref().unwrap_or(name))?;
        let setup = &profile.setup;
        let by_key = setup.auth == AgentAuth::Key || setup.key_env.is_some() || setup.base_url.is_some();
        let url = setup.base_url.as_deref();
        let mut endpoints = known_endpoints(&home.join(driver.name()));
        endpoints.retain(|known| url.is_some_and(|url| known.base_url == url));
        Some(Self { name: name.to_owned(), driver, found: driver.find(setup), by_key, endpoints })
    }

    fn state(&self) -> String {
        match &self.found {
            Ok(found) if found.logged_in => format!("{}, logged in", found.version),
            Ok(found) if self.shows_login() => format!("{}, not logged in, as far as Longhaul can see", found.version),
            Ok(found) => {
                format!("{}{}", found.version, self.key().map(|key| format!(", by {key}")).unwrap_or_default())
            }
            Err(missing) => missing.what.clone(),
        }
    }
}

impl Known {
    /// Whether the login of the agent matters: Longhaul can see it, and no API key is set.
    fn shows_login(&self) -> bool {
        // On macOS, Claude keeps its login where Longhaul cannot look.
        let is_hidden = self.driver.name() == "claude" && cfg!(target_os = "macos");
        login(self.driver.name()).is_some() && !is_hidden && !self.by_key && self.key().is_none()
    }

    /// The variable that holds its key, if it is set.
    fn key(&self) -> Option<&'static str> {
        let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        drivers::keys_of(self.driver.name()).iter().find(is_set).copied().filter(|_| !self.by_key)
    }
}

/// How to log in to an agent that has a login of its own.
fn login(driver: &str) -> Option<&'static str> {
    Some(match driver {
        "claude" => "start `claude` and say /login, or set ANTHROPIC_API_KEY",
        "codex" => "run `codex login`, or set OPENAI_API_KEY",
        "copilot" => "start `copilot` and say /login, or set GH_TOKEN",
        "gemini" => "start `gemini` and choose a login, or set GEMINI_API_KEY",
        "opencode" => "run `opencode auth login`, or set the key of its provider",
        _ => return None,
    })
}

/// What is known about an endpoint, in words.
fn in_words(known: &KnownEndpoint) -> String {
    let facts = known.facts;
    let can = |what: &str, fact: Option<bool>| fact.map(|fact| format!("{}{what}", if fact { "" } else { "no " }));
    let context = facts.context.map(|tokens| format!("{tokens} tokens of context"));
    let words = [can("tools", facts.tools), can("JSON Schema", facts.json_schema), context];
    let words: Vec<String> = words.into_iter().flatten().collect();
    format!("{}: {}", known.model, if words.is_empty() { "nothing is known yet".to_owned() } else { words.join(", ") })
}

/// Every driver, then the profiles of the settings under names of their own.
fn all(backends: &Backends) -> Vec<Known> {
    let usual = Profile::default();
    let own = drivers::ALL.iter().map(|driver| driver.name());
    let configured = |name: &str| backends.profiles.get(name).unwrap_or(&usual).clone();
    // The settings alone do not say where the state is; without a state, nothing is known yet.
    let home = Project::current().and_then(|project| state::of(&project)).unwrap_or_default().join("agents");
    let home = home.as_path();
    let mut known: Vec<Known> = own.filter_map(|name| Known::of(name, &configured(name), home)).collect();
    for (name, profile) in &backends.profiles {
        if !known.iter().any(|one| one.name == *name) {
            known.extend(Known::of(name, profile, home));
        }
    }
    known
}

/// The installed agents, in one line.
pub(super) fn in_a_line() -> String {
    let settings = Project::current().and_then(|project| Settings::of(&project));
    let known = settings.map(|settings| all(&settings.backends)).unwrap_or_default();
    let here: Vec<String> =
        known.iter().filter_map(|one| Some(format!("{} {}", one.name, one.found.as_ref().ok()?.version))).collect();
    match here.as_slice() {
        [] => "no agent was found; longhaul doctor says what to install".to_owned(),
        here => format!("agents: {}", here.join(", ")),
    }
}

/// The abilities of an agent, each with its column.
fn abilities(abilities: Abilities) -> [(&'static str, bool); 10] {
    [
        ("resume", abilities.resume),
        ("compact", abilities.compact),
        ("schema", abilities.schema),
        ("budget", abilities.budget),
        ("read-only", abilities.read_only),
        ("tools", abilities.tools),
        ("mcp", abilities.mcp),
        ("system", abilities.system),
        ("images", abilities.images),
        ("cost", abilities.cost),
    ]
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let settings = Settings::of(&Project::current()?)?;
    engine_args::warn(&settings);
    let known = all(&settings.backends);
    if args.json {
        ui::print_json(&known.iter().map(as_json).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for one in &known {
        let mark = if one.found.is_ok() { ui::good("✓") } else { ui::dim("–") };
        ui::print_line(format!("{mark} {:<10} {}", one.name, width::seen(&one.state(), 13)))?;
        let can: Vec<&str> =
            abilities(one.driver.abilities()).iter().filter(|(_, can)| *can).map(|(word, _)| *word).collect();
        ui::print_line(ui::dim(width::seen(&format!("             by itself: {}", can.join(", ")), 0)))?;
        for known in &one.endpoints {
            ui::print_line(ui::dim(width::seen(&format!("             {}", in_words(known)), 0)))?;
        }
    }
    ui::say(
        "What an agent lacks is emulated (schema by asking again, budget by our ledger) or refused with a sentence.",
    );
    Ok(ExitCode::SUCCESS)
}

fn as_json(known: &Known) -> serde_json::Value {
    let missing = known.found.as_ref().err();
    json!({
        "name": known.name,
        "driver": known.driver.name(),
        "title": known.driver.title(),
        "found": known.found.as_ref().ok(),
        "missing": missing.map(|missing| &missing.what),
        "remedy": missing.map(|missing| &missing.remedy),
        "abilities": known.driver.abilities(),
        "endpoints": known.endpoints,
    })
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    ok: bool,
    /// Whether no run is possible without it.
    needed: bool,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let project = Project::current()?;
    let findings = examine(&project, &args.engine);
    let is_well = findings.iter().all(|finding| finding.ok || !finding.needed);
    if args.json {
        ui::print_json(&json!({"ok": is_well, "findings": findings}))?;
    } else {
        for finding in &findings {
            show(finding)?;
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(finding: &Finding) -> Result<()> {
    let mark = match (finding.ok, finding.needed) {
        (true, _) => ui::good("✓"),
        (false, true) => ui::bad("✗"),
        (false, false) => ui::dim("–"),
    };
    ui::print_line(format!("{mark} {:<10} {}", finding.what, finding.says))?;
    match &finding.remedy {
        Some(remedy) => ui::print_line(ui::dim(format!("             {remedy}"))),
        None => Ok(()),
    }
}

fn examine(project: &Project, engine: &EngineArgs) -> Vec<Finding> {
    let mut findings = vec![folder(project), store(project, engine), git(project)];
    match Settings::of(project) {
        Ok(settings) => {
            findings.push(read(&settings));
            findings.push(notifications(&settings));
            findings.push(trust(project, &settings.backends));
            let agents = all(&settings.backends);
            let some = agents.iter().any(|known| known.found.is_ok());
            findings.extend(agents.iter().map(agent));
            findings.push(Finding {
                needed: false,
                remedy: (!some).then(|| "install one, or use `--agent scripted`".to_owned()),
                ..plain("any agent", some, if some { "found" } else { "none is installed" })
            });
        }
        Err(error) => findings.push(Finding { needed: true, ..plain("settings", false, &format!("{error:#}")) }),
    }
    findings
}

/// The settings, with the entries that have no effect.
fn read(settings: &Settings) -> Finding {
    let wrong: Vec<String> = settings.unknown_agents.iter().chain(&settings.warnings).cloned().collect();
    match wrong.as_slice() {
        [] => plain("settings", true, "read"),
        some => Finding {
            remedy: Some("docs/reference/settings.md lists all keys".to_owned()),
            ..plain("settings", false, &some.join("; "))
        },
    }
}

/// The channels of notifications, and whether a desktop shows them.
fn notifications(settings: &Settings) -> Finding {
    let rules = &settings.notify;
    let is_missing = |channel: &&String| {
        *channel == "desktop" && !settings.channels.contains_key("desktop") && !longhaul_runtime::has_desktop()
    };
    let there: Vec<&str> = rules.channels.iter().filter(|channel| !is_missing(channel)).map(String::as_str).collect();
    match there.as_slice() {
        [] => Finding {
            remedy: Some("add a channel and name it in `[notify] channels`; see docs/reference/settings.md".to_owned()),
            ..plain("notify", false, "nobody is notified: this machine has no desktop, and no other channel is set")
        },
        some => plain("notify", true, &format!("over {}; longhaul notify test sends a message", some.join(", "))),
    }
}

fn plain(what: &str, ok: bool, says: &str) -> Finding {
    Finding { what: what.to_owned(), ok, needed: false, says: says.to_owned(), remedy: None }
}

/// Checks whether the folder for runs can be written.
fn folder(project: &Project) -> Finding {
    let found = state::of(project).and_then(|state| {
        // The check creates nothing: the nearest existing folder must be writable.
        let nearest = state.ancestors().find(|folder| folder.is_dir()).unwrap_or(&state);
        access(nearest, Access::WRITE_OK).with_context(|| format!("{} cannot be written", nearest.display()))
    });
    match found {
        Ok(()) => plain("folder", true, &project.root.display().to_string()),
        Err(error) => Finding {
            needed: true,
            remedy: Some("choose another place with --store FILE, or set XDG_STATE_HOME".to_owned()),
            ..plain("folder", false, &format!("{error:#}"))
        },
    }
}

/// Checks where runs are stored, and whether that store answers. It does not open the store, because that would create
/// a missing one.
fn store(project: &Project, engine: &EngineArgs) -> Finding {
    let missing = |says: String| Finding { needed: true, ..plain("store", false, &says) };
    let place = match place::of(project, engine.store_arg()) {
        Ok(place) => place,
        Err(error) => return missing(format!("{error:#}")),
    };
    match engine_args::block_on_and_leave(async { Ok(place.is_there(ANSWER).await?) }) {
        Ok(true) => plain("store", true, &place.to_string()),
        Ok(false) => plain("store", true, &format!("{place}, which the first run makes")),
        Err(error) => missing(format!("{place}: {error:#}")),
    }
}

fn git(project: &Project) -> Finding {
    let says = std::process::Command::new("git").arg("--version").output();
    match says {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let inside = if project.root.join(".git").exists() { "" } else { ", but this is no repository" };
            plain("git", true, &format!("{version}{inside}"))
        }
        _ => Finding { remedy: Some("install git".to_owned()), ..plain("git", false, "was not found") },
    }
}

fn trust(project: &Project, backends: &Backends) -> Finding {
    let told = match sensitive_files(&project.root) {
        Ok(told) => told,
        Err(why) => return plain("trust", false, &why),
    };
    match told {
        None => plain("trust", true, "this project tells agents nothing"),
        Some(told) if backends.trusted.contains(&told.hash) => plain("trust", true, "its agent settings are trusted"),
        Some(_) if !trusted::is_needed(project) => plain("trust", true, "nothing in this project needs it"),
        Some(_) => Finding {
            remedy: Some("`longhaul trust --show` lists them, `longhaul trust` lets them take effect".to_owned()),
            ..plain("trust", false, "its agent settings are not trusted; agents are started without them")
        },
    }
}

fn agent(known: &Known) -> Finding {
    let remedy = match &known.found {
        Err(missing) => Some(missing.remedy.clone()),
        Ok(found) if !found.logged_in && known.shows_login() => login(known.driver.name()).map(str::to_owned),
        Ok(_) => None,
    };
    let facts: String = known.endpoints.iter().map(|known| format!("; {}", in_words(known))).collect();
    Finding { remedy, ..plain(&known.name, known.found.is_ok(), &format!("{}{facts}", known.state())) }
}
