//! The agents that a project has configured, and which of them a step means.
//!
//! **Invariant:** who does a turn is decided before it begins, from the step and the settings alone. A login is never given up
//! for a key, nor an agent for another one, because something went wrong: that is the planner's decision.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_agents::contract::{AgentSetup, Permission};
use longhaul_agents::notice::Signatures;
use longhaul_agents::prices::Prices;
use longhaul_core::Json;

/// The word for "whatever there is".
pub const AUTO: &str = "auto";
/// The agent that needs no program.
pub const SCRIPTED: &str = "scripted";

/// What the settings say about agents.
#[derive(Debug, Clone, Default)]
pub struct Backends {
    /// Agents by the name that workflows use; drivers that are not here are called as they come.
    pub profiles: IndexMap<String, Profile>,
    /// Who does prompts that name nobody.
    pub default: Option<String>,
    /// Models by alias (`fast`, `smart`), then by driver.
    pub models: IndexMap<String, IndexMap<String, String>>,
    /// What `power: low | medium | high` means, by driver.
    pub power: IndexMap<String, IndexMap<String, String>>,
    /// Whether something else confines agents, so that their own questions may be switched off.
    pub sandboxed: bool,
    /// Content hashes of agent settings in workspaces that may take effect.
    pub trusted: HashSet<String>,
    /// What notices look like, where the settings add to the built-in list.
    pub signatures: Option<Arc<Signatures>>,
    /// What models cost, where the settings differ from the built-in list.
    pub prices: Option<Arc<Prices>>,
    /// The program whose `__shim` and `__agent` are used: this one.
    pub program: PathBuf,
    /// Where what agents need from this engine is kept.
    pub home: PathBuf,
}

/// How an agent is called, under a name.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The driver; the profile's own name without one.
    pub backend: Option<String>,
    /// How it is called.
    pub setup: AgentSetup,
    /// How hard it thinks.
    pub effort: Option<String>,
    /// What it may do where the step does not say.
    pub sandbox: Option<Permission>,
}

/// Who does a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What the settings or the workflow call it.
    pub name: String,
    /// The driver.
    pub driver: String,
    /// How it is called.
    pub setup: AgentSetup,
    /// The model, by the name that the driver takes.
    pub model: Option<String>,
    /// How hard it thinks.
    pub effort: Option<String>,
    /// What it may do.
    pub permission: Permission,
}

impl Backends {
    /// Who a step means. `fallback` takes over from the step's own agent; `told` is what the person said who started the
    /// engine, and counts where the step names nobody.
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
            setup: AgentSetup { home: self.home.join(&driver), ..profile.setup },
            driver,
            name,
        }
    }

    /// The signatures of notices: the configured ones, else the built-in ones.
    pub fn signatures(&self) -> &Signatures {
        self.signatures.as_deref().unwrap_or_else(|| Signatures::builtin())
    }

    /// The prices of models: the configured ones, else the built-in ones.
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

    /// The model that a step asks for: a name, one for each agent, or how strong it should be.
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

/// What the aliases mean where the settings do not say.
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

/// What a word allows.
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
