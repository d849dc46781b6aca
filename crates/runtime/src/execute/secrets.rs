//! Resolves `env.X` and `secrets.X` just before the work, and removes secrets from everything that is stored.

use std::sync::Arc;

use longhaul_agents::contract::AgentSetup;
use longhaul_agents::drivers;
use longhaul_agents::redact::{Redaction, names_a_secret};
use longhaul_core::Json;
use longhaul_core::decide::Start;
use longhaul_core::eval::{self, EvalProblem, OutsideSource, Root, Slot};
use longhaul_core::event::RunStarted;
use longhaul_core::origin::Face;
use serde_json::Map;

use crate::engine::EngineOptions;
use longhaul_config::Channel;
use longhaul_config::tools;

/// Removing shorter values would damage ordinary text.
const SECRET_CHARS_MIN: usize = 6;

/// The prefix of variables that hold secrets.
const PREFIX: &str = "LONGHAUL_SECRET_";

/// The secrets of this machine: those that workflows can name, the keys of agents, and the secrets of channels and tool
/// servers. Commands inherit all of them, so all are removed, not only those that a step names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    known: Redaction,
}

impl Secrets {
    /// The secrets of an engine with these options.
    pub(crate) fn of(options: &EngineOptions) -> Self {
        let named = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(PREFIX));
        let named = named.filter_map(|(_, value)| value.into_string().ok());
        let keys = drivers::key_variables().filter_map(|name| std::env::var(name).ok());
        let agents = options.backends.profiles.values().flat_map(|profile| of_agent(&profile.setup));
        let channels = options.channels.values().filter_map(Channel::secret);
        let tools = options.tools.values().flat_map(|tool| tools::secrets(&tool.server));
        let store = std::env::var("LONGHAUL_STORE").ok().and_then(|address| password(&address));
        let all = named.chain(keys).chain(agents).chain(channels).chain(tools).chain(store);
        Self { known: Redaction::new(all.filter(|value| is_long(value))) }
    }

    /// The secrets to remove from streams.
    pub(crate) fn known(&self) -> &Redaction {
        &self.known
    }

    /// The secrets of the engine and some more.
    pub(crate) fn with(&self, more: Vec<String>) -> Redaction {
        self.known.with(more.into_iter().filter(|value| is_long(value)).collect())
    }

    /// A text without secrets.
    pub(crate) fn redact(&self, text: String) -> String {
        self.known.text(text)
    }

    /// A value without secrets, in keys and in texts.
    pub(crate) fn redact_value(&self, value: Json) -> Json {
        if self.known.is_empty() {
            return value;
        }
        match value {
            Json::String(text) => Json::String(self.redact(text)),
            Json::Array(items) => Json::Array(items.into_iter().map(|item| self.redact_value(item)).collect()),
            Json::Object(map) => {
                Json::Object(map.into_iter().map(|(key, item)| (self.redact(key), self.redact_value(item))).collect())
            }
            other => other,
        }
    }
}

fn is_long(secret: &str) -> bool {
    secret.chars().count() >= SECRET_CHARS_MIN
}

/// The keys in the settings of an agent: from variables, and set directly.
fn of_agent(setup: &AgentSetup) -> Vec<String> {
    let kept = setup.keep_env.iter().map(|rule| rule.split_once('=').map_or(rule.as_str(), |(_, from)| from));
    let names = setup.key_env.as_deref().into_iter().chain(kept.filter(|name| names_a_secret(name)));
    let values = names.filter_map(|name| std::env::var(name).ok());
    let set = setup.env.iter().filter(|(name, _)| names_a_secret(name)).map(|(_, value)| value.clone());
    values.chain(set).collect()
}

/// The password in the address of a database.
fn password(address: &str) -> Option<String> {
    let (before, _) = address.split_once("://")?.1.rsplit_once('@')?;
    Some(before.split_once(':')?.1.to_owned())
}

/// Variables that all runs may read.
const HARMLESS: [&str; 8] = ["HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "TZ", "TMPDIR"];

/// The variables that a run may read through `env.X`.
#[derive(Debug, Clone)]
pub(crate) enum Readable {
    /// All variables: the user started the run at the command line, and can read them anyway.
    All,
    /// The variables in the settings, and the harmless ones. The caller who started the run may not be the user of this
    /// process.
    Listed(Arc<[String]>),
}

impl Readable {
    /// The variables that a run may read, depending on how it was started.
    pub(crate) fn of(started: Option<&RunStarted>, listed: &Arc<[String]>) -> Self {
        let by_user = started.is_some_and(|started| started.owner.as_ref().is_none_or(|owner| owner.face == Face::Cli));
        let by_trigger =
            started.is_some_and(|started| started.trigger.as_ref().is_some_and(|trigger| !trigger.is_by_hand()));
        if by_user && !by_trigger { Self::All } else { Self::Listed(Arc::clone(listed)) }
    }

    fn allows(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Listed(listed) => HARMLESS.contains(&name) || listed.iter().any(|known| known == name),
        }
    }

    /// The value of a source on this machine.
    fn value(&self, source: &OutsideSource) -> Result<String, EvalProblem> {
        let name = &source.name;
        let value = match source.root {
            Root::Secrets => std::env::var(format!("{PREFIX}{name}")).ok(),
            Root::Env if self.allows(name) => std::env::var(name).ok(),
            Root::Env => return Err(not_listed(name)),
        };
        value.or_else(|| source.default.clone()).ok_or_else(|| not_set(source))
    }
}

fn not_listed(name: &str) -> EvalProblem {
    EvalProblem(format!(
        "`env.{name}` may not be read by a run that was not started at the command line; add it to `[values] env = [\"{name}\"]` in \
         ~/.longhaul/config.toml"
    ))
}

fn not_set(source: &OutsideSource) -> EvalProblem {
    EvalProblem(match source.root {
        Root::Secrets => format!(
            "`{source}` is not set; set the variable `{PREFIX}{}` of the process that drives the run",
            source.name
        ),
        Root::Env => format!("`{source}` is not set"),
    })
}

/// Fills in the values of this machine, just before the work starts.
pub(crate) fn resolve(start: &mut Start, readable: &Readable) -> Result<(), EvalProblem> {
    let outside = std::mem::take(&mut start.outside);
    let known = |source: &OutsideSource| readable.value(source);
    fill_map(&mut start.params, &outside.params, known)?;
    fill_map(&mut start.env, &outside.env, known)?;
    if let Some(inputs) = &mut start.cache_inputs {
        let mut list = Json::Array(std::mem::take(inputs));
        eval::fill(&mut list, &outside.cache_inputs, known)?;
        if let Json::Array(filled) = list {
            *inputs = filled;
        }
    }
    Ok(())
}

fn fill_map(
    map: &mut Map<String, Json>,
    slots: &[Slot],
    known: impl Fn(&OutsideSource) -> Result<String, EvalProblem>,
) -> Result<(), EvalProblem> {
    let mut whole = Json::Object(std::mem::take(map));
    let filled = eval::fill(&mut whole, slots, known);
    if let Json::Object(whole) = whole {
        *map = whole;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_database_is_found() {
        assert_eq!(password("postgres://me:pass:w@rd@host/db").as_deref(), Some("pass:w@rd"));
        assert_eq!(password("postgres://me@host/db"), None);
        assert_eq!(password("a.db"), None);
    }

    #[test]
    fn what_an_agent_is_set_up_with_is_secret_if_its_name_says_so() {
        let env = [("X_TOKEN".to_owned(), "token-1".to_owned()), ("MODE".to_owned(), "production".to_owned())].into();
        assert_eq!(of_agent(&AgentSetup { env, ..AgentSetup::default() }), ["token-1"]);
    }
}
