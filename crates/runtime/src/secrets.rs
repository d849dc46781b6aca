//! `env.X` and `secrets.X`: resolved where work is done, and taken out of everything that is kept.

use std::cell::RefCell;

use longhaul_core::Json;
use longhaul_core::eval::{self, Problem};

/// What stands in place of a secret's value.
const REDACTED: &str = "•••";
/// Shorter values would tear holes into ordinary text.
const SECRET_CHARS_MIN: usize = 6;

/// The values of a machine, looked up when they are needed.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    used: Vec<String>,
}

impl Secrets {
    /// A value with its marks replaced.
    pub(crate) fn resolve(&mut self, value: &Json) -> Result<Json, Problem> {
        Ok(match value {
            Json::String(text) if text.contains('\u{1}') => Json::String(self.text(text)?),
            Json::Array(items) => Json::Array(items.iter().map(|item| self.resolve(item)).collect::<Result<_, _>>()?),
            Json::Object(map) => {
                let entries = map.iter().map(|(key, item)| Ok((key.clone(), self.resolve(item)?)));
                Json::Object(entries.collect::<Result<_, Problem>>()?)
            }
            other => other.clone(),
        })
    }

    fn text(&mut self, text: &str) -> Result<String, Problem> {
        let seen = RefCell::new(Vec::new());
        let resolved = eval::unmark(text, |root, name| match root {
            "secrets" => {
                let secret = std::env::var(format!("LONGHAUL_SECRET_{name}")).ok()?;
                seen.borrow_mut().push(secret.clone());
                Some(secret)
            }
            _ => std::env::var(name).ok(),
        });
        self.used.extend(seen.into_inner().into_iter().filter(|secret| secret.chars().count() >= SECRET_CHARS_MIN));
        resolved
    }

    /// A text without the secrets that were used.
    pub(crate) fn redact(&self, text: String) -> String {
        self.used.iter().fold(text, |text, secret| text.replace(secret.as_str(), REDACTED))
    }
}
