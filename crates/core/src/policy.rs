//! The policy: actions that are allowed, that need consent, and that are denied, with rules by risk, by service, by
//! action.
//!
//! **Invariant:** the organisation's rules override the user's, and those override the defaults. Among rules of one
//! authority the most specific decides; of two equal ones the stricter. A denied action stays denied: consent answers
//! a question, it lifts no rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::Risk;

/// The start of the failure message of a step that a rule denies.
pub const REFUSAL: &str = "the policy does not let it";

/// The verdict of a rule, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The action is allowed.
    Allow,
    /// A person must consent.
    Ask,
    /// The action is denied.
    Deny,
}

/// The authority behind a rule, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// The organisation. No user can change its rules.
    Organisation,
    /// The user.
    User,
}

/// The subject of a rule, from the most specific to the least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// One action, by its whole name.
    Action(String),
    /// Every action of a service.
    Service(String),
    /// Every action with this risk.
    Risk(Risk),
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The authority behind it.
    pub by: Authority,
    /// Its subject.
    pub on: Subject,
    /// Its verdict.
    pub verdict: Verdict,
}

/// All rules except the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Policy {
    /// The rules, in any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// An action that is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// `service:action`, or a word that is both.
    pub name: String,
    /// The harm that it could do.
    pub risk: Risk,
}

impl Action {
    /// An action with a risk.
    pub fn new(name: impl Into<String>, risk: Risk) -> Self {
        Self { name: name.into(), risk }
    }

    /// The service of the action.
    pub fn service(&self) -> &str {
        self.name.split(':').next().unwrap_or_default()
    }
}

/// A decision, and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule, in words.
    pub rule: String,
    /// Whether this is a default, not a configured rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
}

impl Policy {
    /// The decision of the rules on an action.
    pub fn judge(&self, action: &Action) -> Ruling {
        let fitting = self.rules.iter().filter(|rule| rule.on.fits(action));
        let order = |rule: &&Rule| (rule.by, rule.on.breadth(), std::cmp::Reverse(rule.verdict));
        match fitting.min_by_key(order) {
            Some(rule) => Ruling { verdict: rule.verdict, rule: rule.to_string(), is_default: false },
            None => usual(action.risk),
        }
    }

    /// The strictest decision on several actions.
    pub fn judge_all(&self, actions: &[Action]) -> Ruling {
        let rulings = actions.iter().map(|action| self.judge(action));
        rulings.max_by_key(|ruling| (ruling.verdict, !ruling.is_default)).unwrap_or_else(|| usual(Risk::Low))
    }
}

/// The default for a risk.
fn usual(risk: Risk) -> Ruling {
    let verdict = match risk {
        Risk::Low => Verdict::Allow,
        Risk::Medium | Risk::High => Verdict::Ask,
        Risk::Critical => Verdict::Deny,
    };
    Ruling { verdict, rule: format!("default: {} {risk} risk", verdict.word()), is_default: true }
}

impl Subject {
    fn fits(&self, action: &Action) -> bool {
        match self {
            Self::Action(name) => *name == action.name,
            Self::Service(service) => service == action.service(),
            Self::Risk(risk) => *risk == action.risk,
        }
    }

    fn breadth(&self) -> u8 {
        match self {
            Self::Action(_) => 0,
            Self::Service(_) => 1,
            Self::Risk(_) => 2,
        }
    }
}

impl Verdict {
    /// The word for it in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The verdict with this word.
    pub fn read(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|verdict| verdict.word() == word)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            Authority::Organisation => "organisation",
            Authority::User => "user",
        };
        let verdict = self.verdict.word();
        match &self.on {
            Subject::Action(name) => write!(f, "{by}: {verdict} {name}"),
            Subject::Service(service) => write!(f, "{by}: {verdict} everything of {service}"),
            Subject::Risk(risk) => write!(f, "{by}: {verdict} {risk} risk"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One rule per line: `org deny action x:y`.
    fn policy(text: &str) -> Policy {
        let rule = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let by = if words[0] == "org" { Authority::Organisation } else { Authority::User };
            let on = match words[2] {
                "action" => Subject::Action(words[3].to_owned()),
                "service" => Subject::Service(words[3].to_owned()),
                _ => Subject::Risk(Risk::read(words[3]).unwrap()),
            };
            Rule { by, on, verdict: Verdict::read(words[1]).unwrap() }
        };
        Policy { rules: text.lines().map(rule).collect() }
    }

    fn said(rules: &str, name: &str, risk: &str) -> String {
        let ruling = policy(rules).judge(&Action::new(name, Risk::read(risk).unwrap()));
        format!("{} ({})", ruling.verdict.word(), ruling.rule)
    }

    #[test]
    fn without_rules_the_risk_decides() {
        let of = |risk: &str| said("", "github:merge", risk);
        assert_eq!(of("low"), "allow (default: allow low risk)");
        assert_eq!(of("medium"), "ask (default: ask medium risk)");
        assert_eq!(of("high"), "ask (default: ask high risk)");
        assert_eq!(of("critical"), "deny (default: deny critical risk)");
    }

    #[test]
    fn the_most_specific_rule_decides() {
        let rules = "user deny risk low\nuser ask service github\nuser allow action github:list";
        assert_eq!(said(rules, "github:list", "low"), "allow (user: allow github:list)");
        assert_eq!(said(rules, "github:merge", "low"), "ask (user: ask everything of github)");
        assert_eq!(said(rules, "slack:post", "low"), "deny (user: deny low risk)");
        assert_eq!(said(rules, "githubx:list", "high"), "ask (default: ask high risk)", "no part of a name fits");
    }

    #[test]
    fn the_organisation_goes_before_the_user_however_specific() {
        let rules = "user allow action github:merge\norg deny risk high";
        assert_eq!(said(rules, "github:merge", "high"), "deny (organisation: deny high risk)");
        assert_eq!(said(rules, "github:merge", "medium"), "allow (user: allow github:merge)");
        assert_eq!(said("org allow risk critical", "x", "critical"), "allow (organisation: allow critical risk)");
    }

    #[test]
    fn of_two_rules_alike_the_stricter_decides() {
        assert_eq!(said("user allow action x\nuser deny action x", "x", "low"), "deny (user: deny x)");
        assert_eq!(said("user deny action x\nuser allow action x", "x", "low"), "deny (user: deny x)");
    }

    #[test]
    fn of_several_actions_the_strictest_verdict_counts() {
        let policy = policy("user deny action db:drop");
        let actions = |names: &[&str]| names.iter().map(|name| Action::new(*name, Risk::Low)).collect::<Vec<_>>();
        assert_eq!(policy.judge_all(&actions(&["git:push", "db:drop"])).verdict, Verdict::Deny);
        assert_eq!(policy.judge_all(&actions(&["git:push"])).verdict, Verdict::Allow);
        assert_eq!(policy.judge_all(&[]).verdict, Verdict::Allow);
    }
}
