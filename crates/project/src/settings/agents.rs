//! Reads the settings about agents in `config.toml`.
//!
//! ```toml
//! agent = "claude"                  # the agent for prompts that name none
//! sandboxed = true                  # a container or a virtual machine confines agents
//! [agents.local]
//! backend = "openai"
//! base_url = "http://127.0.0.1:11434/v1"
//! model = "qwen3-coder"
//! [models.fast]
//! claude = "haiku"
//! [power.high]
//! claude = "opus"
//! ```
//!
//! `notices` and `prices` name files beside it, in the format of the built-in lists.
//!
//! ```toml
//! prices = "prices.toml"
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use indexmap::IndexMap;
use longhaul_agents::contract::{AgentAuth, AgentSetup};
use longhaul_agents::notice::Signatures;
use longhaul_agents::prices::Prices;
use longhaul_config::{AUTO, Backends, Profile, permission};
use longhaul_core::catalog::names::BACKENDS;
use longhaul_lang::diagnostic::{closest, plain};
use toml_edit::DocumentMut;

use super::{Keys, entries};

const KEYS: &[&str] = &[
    "backend", "program", "args", "base_url", "key_env", "auth", "model", "effort", "sandbox", "mcp", "mcp_only",
    "keep_env", "env",
];
/// Keys that say what is started, or where a key is sent. A checkout may set them only if a person trusts it.
const SENSITIVE: &[&str] = &["program", "args", "base_url", "key_env", "auth", "keep_env", "env"];

/// Adds the entries of a file whose names are not known yet.
pub(super) fn add(document: &DocumentMut, folder: &Path, backends: &mut Backends) -> Result<()> {
    for (name, item) in entries(document.get("agents"), "agents")? {
        let key = format!("agents.{name}");
        let table = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
        let profile = profile(&Keys { table, key, folder })?;
        backends.profiles.entry(name.to_owned()).or_insert(profile);
    }
    add_models(document, "models", &mut backends.models)?;
    add_models(document, "power", &mut backends.power)?;
    if let Some(agent) = document.get("agent") {
        let agent = agent.as_str().ok_or_else(|| anyhow!("`agent` is not a text"))?;
        backends.default.get_or_insert_with(|| agent.to_owned());
    }
    add_files(document, folder, backends)
}

/// Names of agents that mean nothing: of `agent`, and of `backend` in a profile.
pub(super) fn unknown(backends: &Backends) -> Vec<String> {
    let default =
        backends.default.as_deref().and_then(|name| Some(format!("`agent`: {}", not_an_agent(name, backends)?)));
    let profiles = backends.profiles.iter().filter_map(|(name, profile)| {
        let backend = profile.backend.as_deref().unwrap_or(name);
        let why = not_one_of(backend, BACKENDS)?;
        Some(match profile.backend {
            Some(_) => format!("`agents.{name}.backend`: {why}"),
            None => format!("`agents.{name}` has no `backend`, and {why}"),
        })
    });
    default.into_iter().chain(profiles).collect()
}

/// Why a name does not mean an agent; `None` if it does.
pub fn not_an_agent(name: &str, backends: &Backends) -> Option<String> {
    let own = BACKENDS.iter().copied().chain([AUTO]);
    let known: Vec<&str> = own.chain(backends.profiles.keys().map(String::as_str)).collect();
    not_one_of(name, &known)
}

fn not_one_of(name: &str, known: &[&str]) -> Option<String> {
    if known.contains(&name) {
        return None;
    }
    let name = plain(name);
    Some(match closest(&name, known) {
        Some(best) => format!("there is no agent `{name}`; did you mean `{best}`?"),
        None => format!("there is no agent `{name}`; there are: {}", known.join(", ")),
    })
}

/// Reads files beside the settings that add patterns of notices and prices of models.
fn add_files(document: &DocumentMut, folder: &Path, backends: &mut Backends) -> Result<()> {
    if let Some(text) = beside(document, "notices", folder)? {
        let known = backends.signatures.as_deref().unwrap_or_else(|| Signatures::builtin());
        backends.signatures = Some(Arc::new(known.with(&text).context("`notices`")?));
    }
    if let Some(text) = beside(document, "prices", folder)? {
        let known = backends.prices.as_deref().unwrap_or_else(|| Prices::builtin());
        backends.prices = Some(Arc::new(known.with(&text).context("`prices`")?));
    }
    Ok(())
}

/// The text of the file that a key names.
fn beside(document: &DocumentMut, key: &str, folder: &Path) -> Result<Option<String>> {
    let Some(item) = document.get(key) else { return Ok(None) };
    let name = item.as_str().ok_or_else(|| anyhow!("`{key}` is not the name of a file"))?;
    let file = folder.join(name);
    let text = std::fs::read_to_string(&file);
    text.map(Some).with_context(|| format!("`{key}`: {} cannot be read", file.display()))
}

/// The first key of a file that needs trust.
pub(super) fn sensitive(document: &DocumentMut) -> Option<String> {
    if document.contains_key("sandboxed") {
        return Some("sandboxed".to_owned());
    }
    let agents = document.get("agents")?.as_table_like()?;
    agents.iter().find_map(|(name, item)| {
        let table = item.as_table_like()?;
        SENSITIVE.iter().find(|key| table.contains_key(key)).map(|key| format!("agents.{name}.{key}"))
    })
}

fn profile(keys: &Keys<'_>) -> Result<Profile> {
    keys.only(KEYS)?;
    let sandbox = keys.maybe("sandbox")?;
    let permitted = sandbox
        .as_deref()
        .map(|word| permission(word).ok_or_else(|| anyhow!("`{}.sandbox` must be read-only, edit or full", keys.key)));
    Ok(Profile {
        backend: keys.maybe("backend")?,
        effort: keys.maybe("effort")?,
        sandbox: permitted.transpose()?,
        mcp: keys.maybe_texts("mcp")?,
        mcp_only: keys.maybe_bool("mcp_only")?.unwrap_or_default(),
        setup: AgentSetup {
            program: keys.maybe("program")?.map(PathBuf::from),
            args: keys.maybe_texts("args")?,
            base_url: keys.maybe("base_url")?,
            key_env: keys.maybe("key_env")?,
            auth: auth(keys)?,
            model: keys.maybe("model")?,
            keep_env: keys.maybe_texts("keep_env")?,
            env: texts_by_name(keys, "env")?,
            home: PathBuf::new(),
            launcher: PathBuf::new(),
        },
    })
}

fn auth(keys: &Keys<'_>) -> Result<AgentAuth> {
    match keys.maybe("auth")?.as_deref() {
        None | Some("auto") => Ok(AgentAuth::Auto),
        Some("login") => Ok(AgentAuth::Login),
        Some("key") => Ok(AgentAuth::Key),
        Some(other) => Err(anyhow!("`{}.auth` is `{other}`; it must be login, key or auto", keys.key)),
    }
}

pub(super) fn texts_by_name(keys: &Keys<'_>, name: &str) -> Result<IndexMap<String, String>> {
    let key = format!("{}.{name}", keys.key);
    let text = |(name, item): (&str, &toml_edit::Item)| {
        let text = item.as_str().ok_or_else(|| anyhow!("`{key}.{name}` is not a text"))?;
        Ok((name.to_owned(), text.to_owned()))
    };
    entries(keys.table.get(name), &key)?.into_iter().map(text).collect()
}

fn add_models(
    document: &DocumentMut,
    table: &str,
    known: &mut IndexMap<String, IndexMap<String, String>>,
) -> Result<()> {
    for (name, item) in entries(document.get(table), table)? {
        let key = format!("{table}.{name}");
        let own = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
        for (agent, model) in own.iter() {
            let model = model.as_str().ok_or_else(|| anyhow!("`{key}.{agent}` is not a text"))?;
            known.entry(name.to_owned()).or_default().entry(agent.to_owned()).or_insert_with(|| model.to_owned());
        }
    }
    Ok(())
}
