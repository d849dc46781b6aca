//! `env.X` and `secrets.X`: resolved where work is done, and taken out of everything that is kept.

use std::sync::Arc;

use longhaul_core::Json;
use longhaul_core::eval::{self, Problem};

/// What stands in place of a secret's value.
const REDACTED: &str = "•••";
/// Shorter values would tear holes into ordinary text.
const SECRET_CHARS_MIN: usize = 6;

/// How the variables that hold secrets begin.
const PREFIX: &str = "LONGHAUL_SECRET_";

/// The secrets of this machine. Commands inherit them, so all are taken out, not only those that a step names.
#[derive(Debug, Clone)]
pub(crate) struct Secrets {
    values: Arc<[String]>,
}

impl Default for Secrets {
    fn default() -> Self {
        let named = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(PREFIX));
        let values = named.filter_map(|(_, value)| value.into_string().ok());
        let mut values: Vec<String> = values.filter(|value| value.chars().count() >= SECRET_CHARS_MIN).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values: values.into() }
    }
}

impl Secrets {
    /// What is taken out.
    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// A text without secrets.
    pub(crate) fn redact(&self, text: String) -> String {
        self.values.iter().fold(text, |text, secret| text.replace(secret.as_str(), REDACTED))
    }

    /// A value without secrets, in keys as in texts.
    pub(crate) fn redact_value(&self, value: Json) -> Json {
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
