//! `env.X` and `secrets.X`: resolved where work is done, and taken out of everything that is kept.

use longhaul_agents::contract::Setup;
use longhaul_agents::drivers;
use longhaul_agents::redact::{Redaction, names_a_secret};
use longhaul_core::Json;
use longhaul_core::eval::{self, Problem};

use crate::channels::Channel;
use crate::engine::Options;
use crate::tools;

/// Shorter values would tear holes into ordinary text.
const SECRET_CHARS_MIN: usize = 6;

/// How the variables that hold secrets begin.
const PREFIX: &str = "LONGHAUL_SECRET_";

/// The secrets of this machine: those that workflows can name, keys of agents, and what channels and tool servers are configured
/// with. Commands inherit them, so all are taken out, not only those that a step names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    known: Redaction,
}

impl Secrets {
    /// The secrets of an engine with these options.
    pub(crate) fn of(options: &Options) -> Self {
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

    /// What is taken out of streams.
    pub(crate) fn known(&self) -> &Redaction {
        &self.known
    }

    /// The same, and some more.
    pub(crate) fn with(&self, more: Vec<String>) -> Redaction {
        self.known.with(more.into_iter().filter(|value| is_long(value)).collect())
    }

    /// A text without secrets.
    pub(crate) fn redact(&self, text: String) -> String {
        self.known.text(text)
    }

    /// A value without secrets, in keys as in texts.
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

/// What the settings of an agent say about keys: variables that hold one, and values that are set.
fn of_agent(setup: &Setup) -> Vec<String> {
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

fn text(text: &str) -> Result<String, Problem> {
    eval::unmark(text, |root, name| match root {
        "secrets" => std::env::var(format!("{PREFIX}{name}")).ok(),
        _ => std::env::var(name).ok(),
    })
}

/// A value with its marks replaced.
pub(crate) fn resolve(value: &Json) -> Result<Json, Problem> {
    Ok(match value {
        Json::String(marked) if marked.contains('\u{1}') => Json::String(text(marked)?),
        Json::Array(items) => Json::Array(items.iter().map(resolve).collect::<Result<_, _>>()?),
        Json::Object(map) => {
            let entries = map.iter().map(|(key, item)| Ok((key.clone(), resolve(item)?)));
            Json::Object(entries.collect::<Result<_, Problem>>()?)
        }
        other => other.clone(),
    })
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
        assert_eq!(of_agent(&Setup { env, ..Setup::default() }), ["token-1"]);
    }
}
