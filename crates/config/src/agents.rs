//! The configured agents of a project, and the choice of the agent for a step.
//!
//! **Invariant:** the agent of a turn is chosen before the turn starts, from the step and the settings alone. After a
//! failure this file never replaces a login by a key, or an agent by another one: the planner decides that.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_agents::contract::{AgentSetup, Permission};
use longhaul_agents::notice::Signatures;
use longhaul_agents::prices::Prices;
use longhaul_core::Json;

/// The word for "any agent that is there".
pub const AUTO: &str = "auto";
/// The agent that needs no program.
pub const SCRIPTED: &str = "scripted";

/// The settings about agents.
#[derive(Debug, Clone, Default)]
pub struct Backends {
    /// Profiles by the name that workflows use. A driver without a profile uses its defaults.
    pub profiles: IndexMap<String, Profile>,
    /// The agent for prompts that name none.
    pub default: Option<String>,
    /// Models by alias (`fast`, `smart`), then by driver.
    pub models: IndexMap<String, IndexMap<String, String>>,
    /// The models for `power: low | medium | high`, by driver.
    pub power: IndexMap<String, IndexMap<String, String>>,
    /// Whether something outside confines agents, so that their own permission prompts may be off.
    pub sandboxed: bool,
    /// Content hashes of agent settings in workspaces that a person has trusted.
    pub trusted: HashSet<String>,
    /// The patterns of notices, if the settings add to the built-in list.
    pub signatures: Option<Arc<Signatures>>,
    /// The prices of models, if the settings differ from the built-in list.
    pub prices: Option<Arc<Prices>>,
    /// The program that provides `__shim` and `__agent`: this one.
    pub program: PathBuf,
    /// The folder for files that agents need from this engine.
    pub home: PathBuf,
}

/// A named way to call an agent.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The driver; without one, the profile's own name.
    pub backend: Option<String>,
    /// The program, arguments and environment.
    pub setup: AgentSetup,
    /// The reasoning effort.
    pub effort: Option<String>,
    /// The permission, if the step does not set one.
    pub sandbox: Option<Permission>,
    /// The MCP servers, if the step does not name any.
    pub mcp: Vec<String>,
    /// Whether the MCP servers of the agent's own settings are left out, if the step does not say so.
    pub mcp_only: bool,
}

/// The agent chosen for a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The name in the settings or the workflow.
    pub name: String,
    /// The driver.
    pub driver: String,
    /// The program, arguments and environment.
    pub setup: AgentSetup,
    /// The model, by the driver's name for it.
    pub model: Option<String>,
    /// The reasoning effort.
    pub effort: Option<String>,
    /// What it may do.
    pub permission: Permission,
    /// The MCP servers whose tools it may use: `server`, or `server.tool`.
    pub mcp: Vec<String>,
    /// Whether the MCP servers of the agent's own settings are left out.
    pub mcp_only: bool,
}

impl Backends {
    /// Chooses the agent of a step. `fallback` replaces the step's own agent. `told` comes from the person who
    /// started the engine, and counts if the step names no agent.
    pub fn choose(&self, agent: Option<&Json>, fallback: Option<&str>, told: &str) -> Choice {
        let key = |key: &str| agent.and_then(|agent| agent.get(key)).and_then(Json::as_str);
        let named = key("backend").or_else(|| key("profile"));
        let usual = self.default.as_deref().filter(|_| told == AUTO).unwrap_or(told);
        let own = named.unwrap_or(usual);
        let (name, other_model) = match fallback {
            Some(other) => self.other(other, own),
            None => (own.to_owned(), None),
        };
        let profile = self.profiles.get(&name).cloned().unwrap_or_default();
        let driver = profile.backend.clone().unwrap_or_else(|| name.clone());
        let asked = other_model.or_else(|| self.model(agent.filter(|_| fallback.is_none()), &driver));
        let model = asked.or_else(|| profile.setup.model.clone()).map(|model| self.aliased(&model, &driver));
        Choice {
            model,
            effort: key("effort").map(str::to_owned).or(profile.effort),
            permission: key("sandbox").and_then(permission).or(profile.sandbox).unwrap_or(Permission::Edit),
            mcp: texts(agent, "mcp").unwrap_or(profile.mcp),
            mcp_only: agent.and_then(|agent| agent.get("mcp_only")?.as_bool()).unwrap_or(profile.mcp_only),
            setup: AgentSetup { home: self.home.join(&driver), launcher: self.program.clone(), ..profile.setup },
            driver,
            name,
        }
    }

    /// The patterns of notices: the configured ones, otherwise the built-in ones.
    pub fn signatures(&self) -> &Signatures {
        self.signatures.as_deref().unwrap_or_else(|| Signatures::builtin())
    }

    /// The prices of models: the configured ones, otherwise the built-in ones.
    pub fn prices(&self) -> &Prices {
        self.prices.as_deref().unwrap_or_else(|| Prices::builtin())
    }

    /// An entry of `fallback`: `agent@model`, an agent, or another model of the same agent.
    fn other(&self, other: &str, own: &str) -> (String, Option<String>) {
        match other.split_once('@') {
            Some((agent, model)) if self.knows(agent) => (agent.to_owned(), Some(model.to_owned())),
            None if self.knows(other) => (other.to_owned(), None),
            _ => (own.to_owned(), Some(other.to_owned())),
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.profiles.contains_key(name) || longhaul_core::catalog::names::BACKENDS.contains(&name)
    }

    /// The model that a step asks for: a name, one name for each agent, or a power level.
    fn model(&self, agent: Option<&Json>, driver: &str) -> Option<String> {
        let agent = agent?;
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let model = agent.get("model");
        let by_agent = || model?.get(driver).or_else(|| model?.get("default")).and_then(text);
        let by_power = || self.power.get(agent.get("power")?.as_str()?)?.get(driver).cloned();
        model.and_then(text).or_else(by_agent).or_else(by_power)
    }

    fn aliased(&self, model: &str, driver: &str) -> String {
        let own = self.models.get(model).and_then(|by_driver| by_driver.get(driver).cloned());
        own.or_else(|| usual_model(model, driver).map(str::to_owned)).unwrap_or_else(|| model.to_owned())
    }
}

/// A list of texts of a step's agent.
fn texts(agent: Option<&Json>, key: &str) -> Option<Vec<String>> {
    let list = agent?.get(key)?.as_array()?;
    Some(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

/// The default models of the aliases.
fn usual_model(alias: &str, driver: &str) -> Option<&'static str> {
    Some(match (alias, driver) {
        ("fast", "claude" | "anthropic") => "haiku",
        ("smart", "claude" | "anthropic") => "opus",
        ("fast", "codex" | "openai" | "copilot") => "gpt-5-mini",
        ("smart", "codex" | "openai" | "copilot") => "gpt-5.5",
        ("fast", "gemini") => "gemini-2.5-flash",
        ("smart", "gemini") => "gemini-2.5-pro",
        _ => return None,
    })
}

/// The permission for a word.
pub fn permission(word: &str) -> Option<Permission> {
    Some(match word {
        "read-only" => Permission::ReadOnly,
        "edit" => Permission::Edit,
        "full" => Permission::Full,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn backends() -> Backends {
        let local = Profile {
            backend: Some("openai".to_owned()),
            setup: AgentSetup { model: Some("qwen".to_owned()), ..AgentSetup::default() },
            ..Profile::default()
        };
        Backends {
            profiles: IndexMap::from([("local".to_owned(), local)]),
            default: Some("claude".to_owned()),
            models: IndexMap::from([(
                "fast".to_owned(),
                IndexMap::from([("codex".to_owned(), "gpt-mini".to_owned())]),
            )]),
            power: IndexMap::from([("high".to_owned(), IndexMap::from([("claude".to_owned(), "opus".to_owned())]))]),
            ..Backends::default()
        }
    }

    fn chosen(agent: Json, fallback: Option<&str>, told: &str) -> String {
        let choice = backends().choose(Some(&agent), fallback, told);
        format!("{} by {} with {}", choice.name, choice.driver, choice.model.unwrap_or_else(|| "-".to_owned()))
    }

    #[test]
    fn the_step_counts_then_what_was_said_then_the_settings() {
        assert_eq!(chosen(json!({"backend": "codex"}), None, "gemini"), "codex by codex with -");
        assert_eq!(chosen(json!({}), None, "gemini"), "gemini by gemini with -");
        assert_eq!(chosen(json!({}), None, AUTO), "claude by claude with -");
        assert_eq!(chosen(json!({"profile": "local"}), None, AUTO), "local by openai with qwen");
    }

    #[test]
    fn models_go_by_name_by_agent_by_alias_and_by_power() {
        assert_eq!(chosen(json!({"model": "opus"}), None, AUTO), "claude by claude with opus");
        assert_eq!(chosen(json!({"model": {"codex": "x", "default": "y"}}), None, "codex"), "codex by codex with x");
        assert_eq!(chosen(json!({"model": {"codex": "x", "default": "y"}}), None, AUTO), "claude by claude with y");
        assert_eq!(chosen(json!({"model": "fast"}), None, "codex"), "codex by codex with gpt-mini");
        assert_eq!(chosen(json!({"model": "smart"}), None, AUTO), "claude by claude with opus");
        assert_eq!(chosen(json!({"power": "high"}), None, AUTO), "claude by claude with opus");
    }

    #[test]
    fn who_takes_over_is_another_agent_or_another_model() {
        let agent = || json!({"backend": "claude", "model": "sonnet"});
        assert_eq!(chosen(agent(), Some("opus"), AUTO), "claude by claude with opus");
        assert_eq!(chosen(agent(), Some("codex@gpt-5"), AUTO), "codex by codex with gpt-5");
        assert_eq!(chosen(agent(), Some("codex"), AUTO), "codex by codex with -");
        assert_eq!(chosen(agent(), Some("local"), AUTO), "local by openai with qwen");
        assert_eq!(
            chosen(json!({"backend": "codex"}), Some("openrouter@a/b"), AUTO),
            "codex by codex with openrouter@a/b"
        );
    }
}
