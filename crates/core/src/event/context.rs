//! What a run knows about itself and about what started it: `run.*` and `trigger.*` in templates.
//!
//! **Invariant:** nothing that was recorded is lost. A key that this version does not know, or that has another type than it
//! expects, is kept in `other` and written again.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::Json;
use crate::words::words;

/// About a run, for templates: `run.*`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "IndexMap<String, Json>")]
pub struct RunContext {
    /// The id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What lists call its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// When it was started, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The folder of its artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The folder of its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_dir: Option<String>,
    /// The agent that does prompts which name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The checkout on the machine that started it, where several share a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The project whose checkouts it works in, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The machine that started it, where its project is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// What the environment said about agents, for files of another system that read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_settings: Option<Map<String, Json>>,
    /// Everything else that was recorded.
    #[serde(flatten)]
    pub other: IndexMap<String, Json>,
}

impl RunContext {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<IndexMap<String, Json>> for RunContext {
    fn from(mut other: IndexMap<String, Json>) -> Self {
        let from = &mut other;
        Self {
            id: text(from, "id"),
            workflow: text(from, "workflow"),
            started_at: text(from, "started_at"),
            dir: text(from, "dir"),
            workflow_dir: text(from, "workflow_dir"),
            agent: text(from, "agent"),
            workspace: text(from, "workspace"),
            project: text(from, "project"),
            home: text(from, "home"),
            agent_settings: object(from, "agent_settings"),
            other,
        }
    }
}

words! {
    /// The kind of thing that started a run.
    TriggerKind {
        /// A person.
        Manual = "manual",
        /// A schedule.
        Schedule = "schedule",
        /// A client of the Model Context Protocol.
        Mcp = "mcp",
        /// A program that called over the network.
        Api = "api",
    }
}

/// What started a run, for templates: `trigger.*`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "IndexMap<String, Json>")]
pub struct RunTrigger {
    /// Its kind; `None` if another version wrote one that this version does not know.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<TriggerKind>,
    /// The id of a trigger that the store keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// What people call that trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of a schedule: the minute, as people write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Of a schedule: what makes this time one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The program that speaks for its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The set of tools that the program used, if not this system's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
    /// Of a request over the network: the hash of all that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The stored workflow that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    /// The hash of the version that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_hash: Option<String>,
    /// Everything else that was recorded.
    #[serde(flatten)]
    pub other: IndexMap<String, Json>,
}

impl RunTrigger {
    fn of(kind: TriggerKind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// A person started it.
    pub fn manual() -> Self {
        Self::of(TriggerKind::Manual)
    }

    /// Whether a person started the run directly, without a trigger that the store keeps.
    pub fn is_by_hand(&self) -> bool {
        self.kind == Some(TriggerKind::Manual) && self.trigger.is_none()
    }

    /// A person fired a trigger that the store keeps.
    pub fn fired(trigger: impl Into<String>, name: impl Into<String>) -> Self {
        Self { trigger: Some(trigger.into()), name: Some(name.into()), ..Self::manual() }
    }

    /// A schedule that the store keeps fired.
    pub fn schedule(trigger: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: Some(TriggerKind::Schedule), ..Self::fired(trigger, name) }
    }

    /// A client of the Model Context Protocol started it.
    pub fn mcp(client: impl Into<String>) -> Self {
        Self { client: Some(client.into()), ..Self::of(TriggerKind::Mcp) }
    }

    /// A request over the network started it.
    pub fn api(request: impl Into<String>) -> Self {
        Self { request: Some(request.into()), ..Self::of(TriggerKind::Api) }
    }
}

impl From<IndexMap<String, Json>> for RunTrigger {
    fn from(mut other: IndexMap<String, Json>) -> Self {
        let from = &mut other;
        let kind = from.get("type").and_then(Json::as_str).and_then(|word| word.parse().ok());
        if kind.is_some() {
            from.shift_remove("type");
        }
        Self {
            kind,
            trigger: text(from, "trigger"),
            name: text(from, "name"),
            bucket: text(from, "bucket"),
            key: text(from, "key"),
            client: text(from, "client"),
            tools: text(from, "tools"),
            request: text(from, "request"),
            workflow_id: text(from, "workflow_id"),
            workflow_hash: text(from, "workflow_hash"),
            other,
        }
    }
}

/// Takes a text out; a value of another type stays.
fn text(from: &mut IndexMap<String, Json>, key: &str) -> Option<String> {
    let text = from.get(key)?.as_str()?.to_owned();
    from.shift_remove(key);
    Some(text)
}

/// Takes an object out; a value of another type stays.
fn object(from: &mut IndexMap<String, Json>, key: &str) -> Option<Map<String, Json>> {
    let object = from.get(key)?.as_object()?.clone();
    from.shift_remove(key);
    Some(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_or_has_another_type_is_kept() {
        for written in [
            json!({}),
            json!({"id": "run-1", "agent": "codex", "agent_settings": {"AGENT_CLI": "x"}}),
            json!({"id": 7, "later": {"a": [1]}, "agent_settings": null}),
        ] {
            let context: RunContext = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(context).unwrap(), written);
        }
        for written in [
            json!({"type": "manual"}),
            json!({"type": "webhook", "body": {"n": 1}}),
            json!({"type": "mcp", "client": null}),
            json!({"type": "schedule", "trigger": "t3", "name": "nightly", "bucket": "b", "key": "k", "late": true}),
        ] {
            let trigger: RunTrigger = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(trigger).unwrap(), written);
        }
    }

    #[test]
    fn known_keys_have_their_type() {
        let context: RunContext = serde_json::from_value(json!({"id": "run-1", "x": 1})).unwrap();
        assert_eq!((context.id.as_deref(), context.other.len()), (Some("run-1"), 1));
        let trigger: RunTrigger = serde_json::from_value(json!({"type": "api", "request": "h"})).unwrap();
        assert_eq!(trigger, RunTrigger::api("h"));
        assert_eq!(serde_json::to_value(RunTrigger::mcp("ed")).unwrap(), json!({"type": "mcp", "client": "ed"}));
    }
}
