//! Triggers: what starts a workflow without anybody doing so by hand.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::schedule;
use crate::Json;

/// A trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// What people call it; no two are called the same.
    pub name: String,
    /// Whether it fires.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The workflow that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// When it fires.
    #[serde(flatten)]
    pub kind: Kind,
    /// Where the variables of a run come from: a path into what is delivered, as `$.a.b`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub mapping: IndexMap<String, String>,
}

fn yes() -> bool {
    true
}

/// When a trigger fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "config", rename_all = "snake_case")]
pub enum Kind {
    /// When somebody says so.
    Manual {},
    /// At times.
    Schedule(Schedule),
    /// When somebody calls over the network.
    Webhook(Webhook),
}

/// Times at which a trigger fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Minute, hour, day of month, month, day of week.
    pub cron: String,
    /// The time zone of the line.
    #[serde(default = "utc")]
    pub timezone: String,
    /// Whether both days must fit where both are given, instead of one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both_days: bool,
    /// What is started.
    #[serde(default)]
    pub target: Target,
    /// What an agent is told, where no workflow is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Variables of the runs.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub variables: IndexMap<String, Json>,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// What a schedule starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A workflow.
    #[default]
    Workflow,
    /// One prompt.
    Orchestrator,
}

/// What is called over the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Webhook {
    /// Behind `/webhooks/`.
    pub path: String,
    /// How it is called.
    #[serde(default = "post")]
    pub method: String,
    /// By which callers prove who they are. Nothing that shows a trigger shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

fn post() -> String {
    "POST".to_owned()
}

impl Kind {
    /// As it is written.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Manual {} => "manual",
            Self::Schedule(_) => "schedule",
            Self::Webhook(_) => "webhook",
        }
    }
}

impl Trigger {
    /// Why it cannot be armed, if it cannot.
    pub(super) fn misfit(&self) -> Option<Refusal> {
        let why = match (&self.kind, &self.workflow) {
            _ if self.name.trim().is_empty() => "a trigger needs a name".to_owned(),
            (Kind::Schedule(schedule), workflow) => return schedule.misfit(workflow.is_some()),
            (_, None) => "which workflow does it start?".to_owned(),
            (Kind::Webhook(webhook), _) => webhook.misfit()?,
            (Kind::Manual {}, _) => return self.mapping_misfit(),
        };
        Some(Refusal(why)).or_else(|| self.mapping_misfit())
    }

    fn mapping_misfit(&self) -> Option<Refusal> {
        let (name, path) = self.mapping.iter().find(|(_, path)| !path.starts_with("$."))?;
        Some(Refusal(format!("`{name}` is mapped from `{path}`; write a path such as `$.issue.title`")))
    }

    /// The variables of a run: those of the schedule, then what is mapped, then what the caller gives.
    pub fn variables(&self, payload: &Json, given: &IndexMap<String, Json>) -> IndexMap<String, Json> {
        let mut variables = match &self.kind {
            Kind::Schedule(schedule) => schedule.variables.clone(),
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

    /// Whether variables are mapped from below a name of what is delivered.
    pub fn reads(&self, name: &str) -> bool {
        let first = |path: &str| path.strip_prefix("$.").and_then(|path| path.split('.').next()) == Some(name);
        self.mapping.values().any(|path| first(path))
    }

    /// The trigger as lists show it: whether it has a secret, not which.
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
    fn misfit(&self, has_workflow: bool) -> Option<Refusal> {
        let prompt = self.prompt.as_deref().unwrap_or_default().trim();
        match self.target {
            Target::Workflow if !has_workflow => Some(Refusal::new("which workflow does it start?")),
            Target::Orchestrator if prompt.is_empty() => {
                Some(Refusal::new("a schedule for the orchestrator needs a prompt"))
            }
            Target::Orchestrator if has_workflow => {
                Some(Refusal::new("a schedule for the orchestrator starts a prompt, and no workflow"))
            }
            _ => schedule::Times::of(self).err(),
        }
    }
}

impl Webhook {
    fn misfit(&self) -> Option<String> {
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
