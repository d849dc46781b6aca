//! Consent: what people have let pass, for how long, and what was decided with it.
//!
//! What is kept is a history of [`Entry`]s; [`Ledger`] is what is true after them, and [`Ledger::decide`] the one place
//! where an action is held to policy and grants.
//!
//! **Invariant:** a grant answers what would be asked; it lifts no denial. Nothing that a run does changes workflows, triggers
//! or proposals.

mod check;
mod ledger;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::plan::Risk;
use crate::policy::{Action, Policy, Verdict};

pub use check::ConsentDecision;
pub use ledger::{Ledger, Pending};

const MINUTE_MS: i64 = 60_000;
/// How long a temporary grant holds where nobody says.
pub const TEMPORARY_MS: i64 = 5 * MINUTE_MS;
/// How long a temporary grant for a workflow holds where nobody says.
pub const CLASS_MS: i64 = 15 * MINUTE_MS;
/// How long "always" is.
pub const ALWAYS_MS: i64 = 24 * 60 * MINUTE_MS;
/// How long the grant of a run holds at the most, unless a person started it at a terminal.
pub const RUN_MS: i64 = 3 * 60 * MINUTE_MS;

/// What a grant is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ConsentKey {
    /// One action, by its whole name.
    Action(String),
    /// What runs of a workflow do: `workflow_class:NAME`.
    Class(String),
    /// What one run does: `workflow_run:NAME:RUN`.
    Run {
        /// The workflow.
        workflow: String,
        /// The run.
        run: String,
    },
}

impl From<String> for ConsentKey {
    fn from(text: String) -> Self {
        let run = text.strip_prefix("workflow_run:").and_then(|rest| rest.rsplit_once(':'));
        match (run, text.strip_prefix("workflow_class:")) {
            (Some((workflow, run)), _) => Self::Run { workflow: workflow.to_owned(), run: run.to_owned() },
            (None, Some(name)) => Self::Class(name.to_owned()),
            (None, None) => Self::Action(text),
        }
    }
}

impl From<ConsentKey> for String {
    fn from(key: ConsentKey) -> Self {
        key.to_string()
    }
}

impl FromStr for ConsentKey {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.to_owned().into())
    }
}

impl fmt::Display for ConsentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Action(name) => f.write_str(name),
            Self::Class(name) => write!(f, "workflow_class:{name}"),
            Self::Run { workflow, run } => write!(f, "workflow_run:{workflow}:{run}"),
        }
    }
}

/// How often and how long a grant can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantSpan {
    /// One time.
    Once,
    /// For a few minutes.
    Temporary,
    /// As long as the session lasts.
    Session,
    /// For a day.
    Always,
}

impl GrantSpan {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Temporary => "temporary",
            Self::Session => "session",
            Self::Always => "always",
        }
    }

    /// When a grant ends by itself; `ttl_ms` goes before what is usual.
    pub fn until(self, key: &ConsentKey, now: i64, ttl_ms: Option<i64>) -> Option<i64> {
        let usual = match (self, key) {
            (Self::Session, _) => None,
            (Self::Temporary, ConsentKey::Class(_)) => Some(CLASS_MS),
            (Self::Temporary, _) => Some(TEMPORARY_MS),
            (Self::Once | Self::Always, _) => Some(ALWAYS_MS),
        };
        ttl_ms.or(usual).map(|ms| now.saturating_add(ms))
    }
}

/// What somebody has let pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What for.
    pub key: ConsentKey,
    /// How often and how long.
    pub span: GrantSpan,
    /// For this session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For exactly this call alone, and once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Something that a caller wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// What.
    #[serde(flatten)]
    pub action: Action,
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Of an action that is consented to call by call: which call this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The run from which it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether it is done again, later than it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

impl ConsentRequest {
    /// A request that comes from no run and no session.
    pub fn new(name: impl Into<String>, risk: Risk) -> Self {
        Self { action: Action::new(name, risk), session: None, fingerprint: None, run: None, replayed: false }
    }
}

/// The consent that a run has by being started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// The rules, as they were when it was started.
    #[serde(default)]
    pub policy: Policy,
    /// Whether starting it was the consent to what it does.
    #[serde(default)]
    pub granted: bool,
    /// Until when that holds; as long as the run lasts, without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// How the grant of a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunGrant {
    /// What the run executes.
    pub workflow: String,
    /// Whether it holds: given, not revoked, not over, the run at work.
    pub live: bool,
    /// Whether a step that is consented to by itself is asked about or under way: nothing of the workflow's covers anything
    /// meanwhile.
    pub suspended: bool,
}

/// Something that happened to consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "consent", rename_all = "snake_case")]
pub enum ConsentEntry {
    /// An action was held to policy and grants. One that must be asked for stays pending under the number of this entry.
    Decided {
        /// What was wanted.
        #[serde(flatten)]
        request: ConsentRequest,
        /// What came of it.
        verdict: Verdict,
        /// By which rule or grant.
        rule: String,
        /// The grant that was used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<u64>,
    },
    /// Somebody let something pass.
    Granted {
        /// What.
        #[serde(flatten)]
        grant: Grant,
        /// The pending action that it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
    },
    /// Somebody said no to a pending action.
    Dismissed {
        /// Which.
        operation: u64,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A grant, or every grant for something, was taken back.
    Revoked {
        /// Which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<u64>,
        /// For what.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<ConsentKey>,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}
