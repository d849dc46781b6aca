//! Gates that need several people, or somebody else than who started the run.
//!
//! **Invariant:** each approval counts for one person, no matter how it arrives. A caller who cannot be told apart from others
//! does not count at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::ApprovalRule;
use crate::event::{Answer, QuestionKind, RunStarted};
use crate::origin::{Auth, Caller};
use crate::rejection::Rejection;

/// An approval that was given while more are needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The person.
    pub by: String,
    /// When they gave it.
    pub at: i64,
    /// What they said beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// How many people have to approve. A free answer is given once; and a run that nobody owns has no people around it.
pub fn needed(started: &RunStarted, rule: Option<&ApprovalRule>, kind: QuestionKind) -> usize {
    let is_gate = !matches!(kind, QuestionKind::Question | QuestionKind::Machine);
    let count = rule.filter(|_| is_gate && started.owner.is_some()).map_or(1, |rule| rule.count.max(1));
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// How far a gate is that needs several people: `1 of 2, approved by kim`.
pub fn progress(given: &[Approval], needed: usize) -> Option<String> {
    let names: Vec<&str> = given.iter().map(|approval| approval.by.as_str()).collect();
    let by = if names.is_empty() { String::new() } else { format!(", approved by {}", names.join(", ")) };
    (needed > 1).then(|| format!("{} of {needed}{by}", given.len()))
}

/// Why an approval of somebody does not count; `None` if it does. Who approved before may still deny.
pub(super) fn refusal(
    started: &RunStarted,
    rule: &ApprovalRule,
    given: &[Approval],
    caller: Option<&Caller>,
    answer: Option<&Answer>,
) -> Option<Rejection> {
    let owner = started.owner.as_ref().filter(|_| rule.needs_people())?;
    let Some(person) = caller.and_then(Caller::person) else { return Some(unnamed(caller)) };
    if rule.not_starter && owner.user.as_deref() == Some(person) {
        return Some(Rejection::forbidden(format!("{person} started this run")).say("somebody else has to answer"));
    }
    let has_approved = given.iter().any(|approval| approval.by == person);
    let is_denial = matches!(answer, Some(Answer::Deny { .. }));
    (has_approved && !is_denial).then(|| {
        let (given, count) = (given.len(), rule.count);
        Rejection::forbidden(format!("{person} has approved this already ({given} of {count})"))
            .say("somebody else has to approve next")
    })
}

fn unnamed(caller: Option<&Caller>) -> Rejection {
    let counts = |what: &str| Rejection::forbidden(format!("this gate counts people, and {what}"));
    match caller.map(|caller| caller.auth) {
        Some(Auth::SharedToken) => counts("the token names no person").say("use one that does"),
        Some(Auth::Grant) => counts("a consent that was given before is no person"),
        _ => counts("nobody said who answers"),
    }
}

/// What else than yes or no cannot be said where several people have to agree.
pub(crate) fn not_a_vote(needed: usize, answer: &Answer) -> Option<String> {
    let is_vote = matches!(answer, Answer::Approve | Answer::Deny { .. } | Answer::TimedOut);
    (needed > 1 && !is_vote).then(|| format!("{needed} people have to approve, so it takes: yes, no"))
}
