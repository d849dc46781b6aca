//! What may be done without asking, what must be asked for, and what is never done: rules by risk, by service, by action.
//!
//! **Invariant:** the organisation's rules go before the user's, and those before the defaults; within one of them the most
//! specific rule decides, and of two that are alike the stricter. What is denied stays denied: consent answers a question, it
//! lifts no rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::Risk;

/// How the failure of a step begins that a rule keeps from doing its work.
pub const REFUSAL: &str = "the policy does not let it";

/// What a rule says. The order is from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may be done.
    Allow,
    /// Somebody must consent.
    Ask,
    /// It is not done.
    Deny,
}

/// Whose rule it is. The order is from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// The organisation's: nobody else can change what follows from it.
    Organisation,
    /// The user's.
    User,
}

/// What a rule is about. The order is from the most specific to the least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// One action, by its whole name.
    Action(String),
    /// Every action of a service.
    Service(String),
    /// Every action of a risk.
    Risk(Risk),
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Whose it is.
    pub by: Authority,
    /// What it is about.
    pub on: Subject,
    /// What it says.
    pub verdict: Verdict,
}

/// All rules that hold beside the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Policy {
    /// In any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// Something that is about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// `service:action`, or a word that is both.
    pub name: String,
    /// How much harm it could do.
    pub risk: Risk,
}

impl Action {
    /// An action of a risk.
    pub fn new(name: impl Into<String>, risk: Risk) -> Self {
        Self { name: name.into(), risk }
    }

    /// Whose action it is.
    pub fn service(&self) -> &str {
        self.name.split(':').next().unwrap_or_default()
    }
}

/// What was decided, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// What is to happen.
    pub verdict: Verdict,
    /// The rule, in words.
    pub rule: String,
    /// Whether it is a default and nobody's own rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
}

impl Policy {
    /// What the rules say about an action.
    pub fn judge(&self, action: &Action) -> Ruling {
        let fitting = self.rules.iter().filter(|rule| rule.on.fits(action));
        let order = |rule: &&Rule| (rule.by, rule.on.breadth(), std::cmp::Reverse(rule.verdict));
        match fitting.min_by_key(order) {
            Some(rule) => Ruling { verdict: rule.verdict, rule: rule.to_string(), is_default: false },
            None => usual(action.risk),
        }
    }

    /// What the rules say about several actions together: the strictest.
    pub fn judge_all(&self, actions: &[Action]) -> Ruling {
        let rulings = actions.iter().map(|action| self.judge(action));
        rulings.max_by_key(|ruling| (ruling.verdict, !ruling.is_default)).unwrap_or_else(|| usual(Risk::Low))
    }
}

/// What holds where nobody says anything.
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
    /// As it is written.
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

    /// Rules a line: `org deny action x:y`.
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
