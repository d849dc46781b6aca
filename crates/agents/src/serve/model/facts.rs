//! What is known about an endpoint: what it accepts, and how much its model can read. A turn learns it from refusals,
//! `longhaul doctor --probe` by asking. It is kept in one file for each address and model.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trouble::OVERFLOW;
use super::wire::Wire;
use crate::contract::AgentTrouble;
use crate::private;
use crate::serve::ask::Endpoint;

/// The most tokens of a reply, unless the settings say otherwise: a model that does not stop must be stopped.
const OUTPUT_TOKENS_MAX: u64 = 16_000;
/// The statuses of a request that the server does not understand.
const NOT_UNDERSTOOD: [u16; 3] = [400, 422, 501];

/// Facts about an endpoint; `None` if they are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// Whether its model calls tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether it accepts a JSON Schema for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Whether its model calls tools although there is a JSON Schema for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<bool>,
    /// How it wants the limit of a reply to be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitName>,
    /// How many tokens fit into the context of its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

/// The name of the limit of a reply in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// The old name, which most servers know.
    MaxTokens,
    /// The new name, which OpenAI requires for some models.
    MaxCompletionTokens,
    /// It refuses the limit.
    None,
}

/// What a request contained that a server might not understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) format: bool,
    /// Whether there was a limit that the settings do not ask for.
    pub(super) own_limit: bool,
}

/// An endpoint whose facts are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownEndpoint {
    /// Its address.
    pub base_url: String,
    /// The API.
    wire: Wire,
    /// The model.
    pub model: String,
    /// What is known about it.
    pub facts: Facts,
}

impl Facts {
    /// The facts about an endpoint.
    pub(super) fn of(home: &Path, endpoint: &Endpoint) -> Self {
        let known = std::fs::read(file(home, endpoint)).ok();
        let known: Option<KnownEndpoint> = known.and_then(|text| serde_json::from_slice(&text).ok());
        known.filter(|known| known.is_about(endpoint)).map(|known| known.facts).unwrap_or_default()
    }

    /// Keeps the facts. Without them the next turn only learns them again.
    pub(super) fn keep(self, home: &Path, endpoint: &Endpoint) {
        let known = KnownEndpoint {
            base_url: endpoint.base_url.clone(),
            wire: endpoint.wire,
            model: endpoint.model.clone(),
            facts: self,
        };
        if let Ok(text) = serde_json::to_vec(&known) {
            let _ = private::create_dir_all(&home.join(FOLDER));
            let _ = private::replace(&file(home, endpoint), &text);
        }
    }

    /// What to assume after a refusal; `None` if the refusal is about something else.
    pub(super) fn after(self, trouble: &AgentTrouble, sent: Sent) -> Option<Self> {
        if !trouble.status.is_some_and(|status| NOT_UNDERSTOOD.contains(&status)) {
            return None;
        }
        let said = trouble.message.to_ascii_lowercase();
        let (is_old, is_new) = (said.contains("max_tokens"), said.contains("max_completion_tokens"));
        if sent.own_limit && (is_old || is_new) {
            let other = is_new && self.limit.is_none();
            let limit = if other { LimitName::MaxCompletionTokens } else { LimitName::None };
            return Some(Self { limit: Some(limit), ..self });
        }
        let is_overflow = trouble.code.as_deref() == Some(OVERFLOW);
        (sent.format && !is_overflow).then_some(Self { json_schema: Some(false), ..self })
    }

    /// The limit of a reply, by its name.
    pub(super) fn limit(self, endpoint: &Endpoint) -> Option<(LimitName, u64)> {
        let usual = if endpoint.is_usual { LimitName::MaxCompletionTokens } else { LimitName::MaxTokens };
        let name = self.limit.unwrap_or(usual);
        let fitting = self.context.map_or(OUTPUT_TOKENS_MAX, |context| (context / 2).clamp(1, OUTPUT_TOKENS_MAX));
        match (endpoint.output_tokens_max, name) {
            (Some(tokens), LimitName::None) => Some((usual, tokens)),
            (Some(tokens), name) => Some((name, tokens)),
            (None, LimitName::None) => None,
            // OpenAI limits its own models.
            (None, _) if endpoint.is_usual => None,
            (None, name) => Some((name, fitting)),
        }
    }
}

impl KnownEndpoint {
    fn is_about(&self, endpoint: &Endpoint) -> bool {
        self.base_url == endpoint.base_url && self.wire == endpoint.wire && self.model == endpoint.model
    }
}

const FOLDER: &str = "endpoints";

/// All endpoints with known facts in the home folder of an agent.
pub fn known_endpoints(home: &Path) -> Vec<KnownEndpoint> {
    let files = std::fs::read_dir(home.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
    let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let mut known: Vec<KnownEndpoint> = files.filter_map(|entry| read(entry.path())).collect();
    known.sort_by(|one, other| (&one.base_url, &one.model).cmp(&(&other.base_url, &other.model)));
    known
}

fn file(home: &Path, endpoint: &Endpoint) -> PathBuf {
    let name = format!("{:?} {} {}", endpoint.wire, endpoint.base_url, endpoint.model);
    // FNV-1a: any hash is good enough for a name, because the file says what it is about.
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    home.join(FOLDER).join(format!("{:016x}.json", name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            wire: Wire::Chat,
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            key_env: None,
            model: "m".to_owned(),
            rounds_max: 5,
            output_tokens_max: None,
            is_usual: false,
        }
    }

    fn refused(status: u16, message: &str) -> AgentTrouble {
        AgentTrouble { status: Some(status), ..AgentTrouble::named("x", message) }
    }

    const SENT: Sent = Sent { format: true, own_limit: true };

    #[test]
    fn a_refusal_says_what_the_server_does_not_know() {
        let after = |known: Facts, trouble: &AgentTrouble, sent| known.after(trouble, sent);
        let none = Facts::default();
        let plain = after(none, &refused(400, "response_format is not supported"), SENT).unwrap();
        assert_eq!(plain.json_schema, Some(false));
        let newer = after(none, &refused(400, "use 'max_completion_tokens', not 'max_tokens'"), SENT).unwrap();
        assert_eq!((newer.limit, newer.json_schema), (Some(LimitName::MaxCompletionTokens), None));
        let without = after(newer, &refused(400, "max_completion_tokens is too large"), SENT).unwrap();
        assert_eq!(without.limit, Some(LimitName::None));
        assert_eq!(after(none, &refused(500, "max_tokens"), SENT), None);
        assert_eq!(after(none, &refused(400, "no"), Sent { format: false, own_limit: true }), None);
        let overflow = AgentTrouble { status: Some(400), ..AgentTrouble::named(OVERFLOW, "too long") };
        assert_eq!(after(none, &overflow, SENT), None);
    }

    #[test]
    fn a_reply_has_a_limit_unless_the_service_sets_one() {
        let (near, usual) = (endpoint(), Endpoint { is_usual: true, ..endpoint() });
        let none = Facts::default();
        assert_eq!(none.limit(&near), Some((LimitName::MaxTokens, 16_000)));
        assert_eq!(none.limit(&usual), None);
        let set = |endpoint: Endpoint| Endpoint { output_tokens_max: Some(9), ..endpoint };
        assert_eq!(none.limit(&set(near.clone())), Some((LimitName::MaxTokens, 9)));
        assert_eq!(none.limit(&set(usual)), Some((LimitName::MaxCompletionTokens, 9)));
        assert_eq!(Facts { context: Some(2048), ..none }.limit(&near), Some((LimitName::MaxTokens, 1024)));
        assert_eq!(Facts { limit: Some(LimitName::None), ..none }.limit(&near), None);
    }

    #[test]
    fn facts_are_kept_for_one_model_at_one_address() {
        let home = tempfile::tempdir().unwrap();
        let facts = Facts { json_schema: Some(false), ..Facts::default() };
        facts.keep(home.path(), &endpoint());
        assert_eq!(Facts::of(home.path(), &endpoint()), facts);
        let other = Endpoint { model: "n".to_owned(), ..endpoint() };
        assert_eq!(Facts::of(home.path(), &other), Facts::default());
        assert_eq!(known_endpoints(home.path()).len(), 1);
        std::fs::write(file(home.path(), &endpoint()), "rubbish").unwrap();
        assert_eq!(Facts::of(home.path(), &endpoint()), Facts::default());
    }
}
