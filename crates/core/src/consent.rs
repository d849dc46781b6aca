//! Consent: which actions people have allowed, for how long, and the decisions so far.
//!
//! The store keeps a history of [`Entry`]s. [`Ledger`] is the state after them. [`Ledger::decide`] is the only place
//! that checks an action against policy and grants.
//!
//! **Invariant:** a grant answers a question of the policy; it lifts no denial. No action of a run changes workflows,
//! triggers or proposals.

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
/// The default duration of a temporary grant.
pub const TEMPORARY_MS: i64 = 5 * MINUTE_MS;
/// The default duration of a temporary grant for a workflow.
pub const CLASS_MS: i64 = 15 * MINUTE_MS;
/// The duration of an "always" grant.
pub const ALWAYS_MS: i64 = 24 * 60 * MINUTE_MS;
/// The longest duration of a run's grant, unless a person started the run at a terminal.
pub const RUN_MS: i64 = 3 * 60 * MINUTE_MS;

/// The subject of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ConsentKey {
    /// One action, by its whole name.
    Action(String),
    /// All actions of runs of a workflow: `workflow_class:NAME`.
    Class(String),
    /// All actions of one run: `workflow_run:NAME:RUN`.
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

/// How often, and for how long, a grant can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantSpan {
    /// One time.
    Once,
    /// For a few minutes.
    Temporary,
    /// Until the session ends.
    Session,
    /// For a day.
    Always,
}

impl GrantSpan {
    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Temporary => "temporary",
            Self::Session => "session",
            Self::Always => "always",
        }
    }

    /// The time at which a grant expires. `ttl_ms` overrides the default.
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

/// A permission that a person gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The subject of the grant.
    pub key: ConsentKey,
    /// How often, and for how long, it can be used.
    pub span: GrantSpan,
    /// If set: only in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// If set: only for this exact call, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The time at which it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The person who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// An action that a caller wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The session of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For an action that needs consent for each call: the hash of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The run that wants to do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether the action is repeated later than it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

impl ConsentRequest {
    /// A request without a run and without a session.
    pub fn new(name: impl Into<String>, risk: Risk) -> Self {
        Self { action: Action::new(name, risk), session: None, fingerprint: None, run: None, replayed: false }
    }
}

/// The consent that a run gets from its start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// The rules at the time of the start.
    #[serde(default)]
    pub policy: Policy,
    /// Whether starting the run was the consent to its actions.
    #[serde(default)]
    pub granted: bool,
    /// The time at which this consent expires; without it, at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// The state of a run's grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunGrant {
    /// The workflow of the run.
    pub workflow: String,
    /// Whether it is valid: given, not revoked, not expired, and the run is running.
    pub live: bool,
    /// Whether a step that needs its own consent is asked about or running. Meanwhile no grant of the workflow or run
    /// covers anything.
    pub suspended: bool,
}

/// A change of consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "consent", rename_all = "snake_case")]
pub enum ConsentEntry {
    /// The policy and the grants decided an action. If a person must decide, the action stays pending under the
    /// number of this entry.
    Decided {
        /// The request.
        #[serde(flatten)]
        request: ConsentRequest,
        /// The decision.
        verdict: Verdict,
        /// The rule or grant that decided.
        rule: String,
        /// The grant that was used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<u64>,
    },
    /// A person allowed an action.
    Granted {
        /// The grant.
        #[serde(flatten)]
        grant: Grant,
        /// The pending action that it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
    },
    /// A person denied a pending action.
    Dismissed {
        /// The number of the pending action.
        operation: u64,
        /// The person who denied it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person revoked a grant, or all grants for a subject.
    Revoked {
        /// The number of the grant, for a single one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<u64>,
        /// The subject, for all its grants.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<ConsentKey>,
        /// The person who revoked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}
