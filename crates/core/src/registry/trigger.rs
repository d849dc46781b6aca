//! Triggers: they start a workflow by time, by a web request, or by hand.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::schedule;
use crate::Json;
use crate::rejection::Rejection;

/// A trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// The name, unique among the triggers.
    pub name: String,
    /// Whether it fires.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The workflow that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The task of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// When it fires.
    #[serde(flatten)]
    pub kind: TriggerDefinition,
    /// The sources of the run's variables: paths such as `$.a.b` into the delivered data.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub mapping: IndexMap<String, String>,
}

fn yes() -> bool {
    true
}

/// The kind of a trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "config", rename_all = "snake_case")]
pub enum TriggerDefinition {
    /// A user fires it.
    Manual {},
    /// It fires at times.
    Schedule(Schedule),
    /// A web request fires it.
    Webhook(Webhook),
}

/// The times at which a trigger fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Minute, hour, day of month, month, day of week.
    pub cron: String,
    /// The time zone of the line.
    #[serde(default = "utc")]
    pub timezone: String,
    /// Whether both the day of the month and the day of the week must match, instead of one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both_days: bool,
    /// The thing to start.
    #[serde(default)]
    pub target: Target,
    /// The prompt for an agent, if no workflow is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Variables of the runs.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub variables: IndexMap<String, Json>,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// The thing that a schedule starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A workflow.
    #[default]
    Workflow,
    /// One prompt.
    Orchestrator,
}

/// A web request that fires a trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Webhook {
    /// The path after `/webhooks/`.
    pub path: String,
    /// The HTTP method.
    #[serde(default = "post")]
    pub method: String,
    /// The secret that callers must know. No view of a trigger contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

fn post() -> String {
    "POST".to_owned()
}

impl TriggerDefinition {
    /// The word for it in files and messages.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Manual {} => "manual",
            Self::Schedule(_) => "schedule",
            Self::Webhook(_) => "webhook",
        }
    }
}

impl Trigger {
    /// Why the trigger cannot be saved, if it cannot.
    pub(super) fn rejection(&self) -> Option<Rejection> {
        let shape = match (&self.kind, &self.workflow) {
            _ if self.name.trim().is_empty() => Some(Rejection::invalid("a trigger needs a name")),
            (TriggerDefinition::Schedule(schedule), workflow) => return schedule.rejection(workflow.is_some()),
            (_, None) => Some(Rejection::invalid("which workflow does it start?")),
            (TriggerDefinition::Webhook(webhook), _) => webhook.problem().map(Rejection::invalid),
            (TriggerDefinition::Manual {}, _) => None,
        };
        shape.or_else(|| self.mapping_rejection())
    }

    fn mapping_rejection(&self) -> Option<Rejection> {
        let (name, path) = self.mapping.iter().find(|(_, path)| !path.starts_with("$."))?;
        Some(
            Rejection::invalid(format!("`{name}` is mapped from `{path}`")).say("write a path such as `$.issue.title`"),
        )
    }

    /// The variables of a run: those of the schedule, then the mapped ones, then those of the caller.
    pub fn variables(&self, payload: &Json, given: &IndexMap<String, Json>) -> IndexMap<String, Json> {
        let mut variables = match &self.kind {
            TriggerDefinition::Schedule(schedule) => schedule.variables.clone(),
            _ => IndexMap::new(),
        };
        for (name, path) in &self.mapping {
            if let Some(value) = walked(payload, path) {
                variables.insert(name.clone(), value.clone());
            }
        }
        variables.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
        variables
    }

    /// Whether a mapping reads the field `name` of the delivered data.
    pub fn reads(&self, name: &str) -> bool {
        let first = |path: &str| path.strip_prefix("$.").and_then(|path| path.split('.').next()) == Some(name);
        self.mapping.values().any(|path| first(path))
    }

    /// The trigger as lists show it: whether it has a secret, but not the secret itself.
    pub fn shown(&self) -> Json {
        let mut shown = serde_json::to_value(self).unwrap_or_default();
        if let Some(config) = shown.get_mut("config").and_then(Json::as_object_mut)
            && config.remove("secret").is_some()
        {
            config.insert("has_secret".to_owned(), Json::Bool(true));
        }
        shown
    }
}

/// The value at `$.a.b`.
fn walked<'a>(payload: &'a Json, path: &str) -> Option<&'a Json> {
    path.strip_prefix("$.")?.split('.').try_fold(payload, |at, key| match at {
        Json::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

impl Schedule {
    fn rejection(&self, has_workflow: bool) -> Option<Rejection> {
        let prompt = self.prompt.as_deref().unwrap_or_default().trim();
        match self.target {
            Target::Workflow if !has_workflow => Some(Rejection::invalid("which workflow does it start?")),
            Target::Orchestrator if prompt.is_empty() => {
                Some(Rejection::invalid("a schedule for the orchestrator needs a prompt"))
            }
            Target::Orchestrator if has_workflow => {
                Some(Rejection::invalid("a schedule for the orchestrator starts a prompt, and no workflow"))
            }
            _ => schedule::Times::of(self).err(),
        }
    }
}

impl Webhook {
    fn problem(&self) -> Option<String> {
        let fits = |sign: char| sign.is_ascii_alphanumeric() || "-_/.".contains(sign);
        let path = self.path.trim_matches('/');
        if path.is_empty() || !path.chars().all(fits) || path.contains("..") {
            return Some(format!("`{}` cannot be the path of a webhook: letters, digits, dashes", self.path));
        }
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE"];
        let known_method = known.contains(&self.method.as_str());
        (!known_method).then(|| format!("`{}` is none of {}", self.method, known.join(", ")))
    }
}
