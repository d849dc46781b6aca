//! What a gate asks for: whose approval, how many people's, and whether who started the run counts.
//!
//! ```yaml
//! approvals: role:release
//! approvals: {from: role:release, count: 2, not_starter: true}
//! approvals: {from: [kim, ana, bob], count: 2}
//! ```

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub enum Approvers {
    /// The person who started the run, where they started it.
    #[default]
    Initiator,
    /// Everybody who can reach the run.
    Anyone,
    /// Those whom the settings give this role.
    Role(String),
    /// These people.
    Users(Vec<String>),
}

/// How it is written: a word, or the names of people.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Word(String),
    Users(Vec<String>),
}

impl FromStr for Approvers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("role:").map(str::trim)) {
            ("initiator", _) => Ok(Self::Initiator),
            ("anyone", _) => Ok(Self::Anyone),
            (_, Some(role)) if !role.is_empty() => Ok(Self::Role(role.to_owned())),
            _ => Err(format!("`{text}` is not initiator, anyone or role:NAME")),
        }
    }
}

impl TryFrom<Written> for Approvers {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Word(text) => text.parse(),
            Written::Users(users) => Ok(Self::Users(users)),
        }
    }
}

impl From<Approvers> for Written {
    fn from(approvers: Approvers) -> Self {
        match approvers {
            Approvers::Users(users) => Self::Users(users),
            word => Self::Word(word.to_string()),
        }
    }
}

impl fmt::Display for Approvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initiator => f.write_str("initiator"),
            Self::Anyone => f.write_str("anyone"),
            Self::Role(role) => write!(f, "role:{role}"),
            Self::Users(users) => f.write_str(&users.join(", ")),
        }
    }
}

/// What a gate asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenRule", into = "WrittenRule")]
#[schemars(with = "WrittenRule")]
pub struct ApprovalRule {
    /// Whose approval.
    pub from: Approvers,
    /// How many different people have to approve.
    pub count: u32,
    /// Whether the person who started the run may not answer.
    pub not_starter: bool,
}

/// How it is written: who alone, or everything.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WrittenRule {
    Plain(Approvers),
    Whole {
        #[serde(default = "anyone")]
        from: Approvers,
        #[serde(default = "one")]
        count: u32,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_starter: bool,
    },
}

fn anyone() -> Approvers {
    Approvers::Anyone
}

fn one() -> u32 {
    1
}

impl ApprovalRule {
    /// One approval from these.
    pub fn of(from: Approvers) -> Self {
        Self { from, count: 1, not_starter: false }
    }

    /// Whether it has to be known which person approves.
    pub fn needs_people(&self) -> bool {
        self.count > 1 || self.not_starter
    }
}

impl From<WrittenRule> for ApprovalRule {
    fn from(written: WrittenRule) -> Self {
        match written {
            WrittenRule::Plain(from) => Self::of(from),
            WrittenRule::Whole { from, count, not_starter } => Self { from, count, not_starter },
        }
    }
}

impl From<ApprovalRule> for WrittenRule {
    fn from(rule: ApprovalRule) -> Self {
        match rule.needs_people() {
            true => Self::Whole { from: rule.from, count: rule.count, not_starter: rule.not_starter },
            false => Self::Plain(rule.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn policies_read_back() {
        for text in ["initiator", "anyone", "role:ops"] {
            assert_eq!(text.parse::<Approvers>().unwrap().to_string(), text);
        }
        assert!("role:".parse::<Approvers>().is_err() && "nobody".parse::<Approvers>().is_err());
    }

    #[test]
    fn rules_read_back_and_the_short_form_stays_short() {
        let again = |rule: Value| json!(serde_json::from_value::<ApprovalRule>(rule).unwrap());
        for rule in [
            json!("role:ops"),
            json!(["kim", "ana"]),
            json!({"from": "role:ops", "count": 2, "not_starter": true}),
            json!({"from": ["kim", "ana"], "count": 2}),
        ] {
            assert_eq!(again(rule.clone()), rule);
        }
        assert_eq!(again(json!({"not_starter": true})), json!({"from": "anyone", "count": 1, "not_starter": true}));
        assert_eq!(again(json!({"from": "anyone"})), json!("anyone"));
    }
}
